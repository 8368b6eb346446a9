// The image under test: the one that KEYSTORED_TEST_IMAGE names, or made from this tree.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { provideTools } from '../../appliance/packaging/image/tools.ts';

const builder = resolve(import.meta.dirname, '../../appliance/packaging/image/build-image.ts');

/** The path of the disk image, made in `directory` unless one is named. */
export function provideImage(directory: string): string {
  const named = process.env['KEYSTORED_TEST_IMAGE'];
  if (named === undefined) return buildImage(directory);
  provideTools();
  // A copy: the tools see only some folders, and a build while a machine runs would replace its disk.
  mkdirSync(directory);
  const copy = join(directory, basename(named));
  const { status } = spawnSync('cp', ['--sparse=always', resolve(named), copy], { stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error(`KEYSTORED_TEST_IMAGE cannot be copied: ${named}`);
  return copy;
}

/** Further options of the builder, each as often as it has values. */
type Options = { readonly extra?: readonly string[]; readonly flavour?: readonly ['metal']; readonly keys?: readonly [string] };

/** Makes an image in `directory`, of a version of its own if one is given. */
export function buildImage(directory: string, version?: string, more: Options = {}): string {
  const options = { output: [directory], version: version === undefined ? [] : [version], ...more };
  const args = Object.entries(options).flatMap(([name, values]) => values.flatMap((value) => [`--${name}`, value]));
  const { status } = spawnSync(process.execPath, [builder, ...args], { stdio: ['ignore', 2, 2] });
  const wanted = version === undefined ? /^keystored_[\d.]+raw$/ : `keystored_${version}.raw`;
  const made = status === 0 ? readdirSync(directory).find((name) => name.match(wanted)) : undefined;
  if (made === undefined) throw new Error('the image was not built; the reason is printed above');
  return join(directory, made);
}

/** What a bundle of the version is made of: root, hash tree, kernel image. */
export function partsOf(directory: string, version: string): string[] {
  const names = readdirSync(directory).filter((name) => name.startsWith(`keystored_${version}.`));
  return names.filter((name) => /\.root-.*\.raw$|\.efi$/.test(name)).map((name) => join(directory, name));
}
