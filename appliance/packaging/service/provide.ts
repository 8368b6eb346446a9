// Makes the bundle of the service for this tree, into dist/service/HASH: `npm start` runs this where no bundle is of the present sources.
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bundleService, serviceProgram, sourcesName, type ServiceBundle } from './bundle.ts';

const root = resolve(import.meta.dirname, '../../..');
const place = 'dist/service';

/**
 * Answers the path of the program to start. A bundle has a folder of its own, named by its sources: a running appliance goes on with the
 * files it began with. Only the bundle made before stays beside the new one.
 */
export async function provideService(): Promise<string> {
  const bundles = join(root, place);
  const unfinished = join(bundles, `${process.pid}.tmp`);
  // All folders here are equally deep, and nothing else of the place is in a bundle.
  const bundle = await bundleService(join(place, 'bundle'));
  const target = join(bundles, hash('sha256', bundle.get(sourcesName) ?? '').slice(0, 16));
  if (!existsSync(target)) {
    writeService(bundle, unfinished);
    try {
      renameSync(unfinished, target);
    } catch (error) {
      // Another start has made the same meanwhile.
      if (!existsSync(target)) throw error;
      rmSync(unfinished, { recursive: true });
    }
  }
  removeOlder(bundles, target);
  return join(target, serviceProgram);
}

/** Removes older bundles; one that another start removes meanwhile is gone either way. */
function removeOlder(bundles: string, present: string): void {
  const others = readdirSync(bundles)
    .map((name) => join(bundles, name))
    .filter((path) => path !== present);
  const madeAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const [, ...older] = others.toSorted((one, other) => madeAt(other) - madeAt(one));
  for (const path of older) rmSync(path, { recursive: true, force: true });
}

/** Writes the files of a bundle into a folder, which is made. */
export function writeService(bundle: ServiceBundle, directory: string): void {
  mkdirSync(directory, { recursive: true });
  // Flushed: after a loss of power a folder with its final name is whole.
  for (const [name, content] of bundle) writeFileSync(join(directory, name), content, { flush: true });
}

if (import.meta.main) await provideService();
