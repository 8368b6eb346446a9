// The image under test: the one that KEYSTORED_TEST_IMAGE names, or made from this tree.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

const builder = resolve(import.meta.dirname, '../../appliance/packaging/image/build-image.ts');

/** The path of the disk image, made in `directory` unless one is named. */
export function provideImage(directory: string): string {
  const named = process.env['KEYSTORED_TEST_IMAGE'];
  if (named !== undefined) return resolve(named);
  const { status } = spawnSync(process.execPath, [builder, '--output', directory], { stdio: ['ignore', 2, 2] });
  const made = status === 0 ? readdirSync(directory).find((name) => /^keystored_[\d.]+raw$/.test(name)) : undefined;
  if (made === undefined) throw new Error('the image was not built; the reason stands above');
  return join(directory, made);
}
