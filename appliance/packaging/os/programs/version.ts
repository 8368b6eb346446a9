// The running version: that of the image, or of the package without an image.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Below `root`; `unknown` without either. */
export function readVersion(root: string): string {
  const image = read(join(root, 'usr/lib/os-release'))?.match(/^IMAGE_VERSION="?([\w.+~-]+)/m)?.[1];
  if (image !== undefined) return image;
  const manifest = read(join(root, 'usr/lib/keystored/package.json'));
  return manifest === undefined ? 'unknown' : (JSON.parse(manifest) as { version: string }).version;
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
