// The Debian packages of a root tree or an image, for its bills of materials.
import { join } from 'node:path';
import { defined } from '../../../core/base/defined.ts';
import { run } from '../run.ts';

/** One Debian package of an image. */
export type DebianPackage = {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  /** of the package file, hex, where it is known */
  readonly sha256?: string;
};

/**
 * The packages of a root tree, as its dpkg knows them. `index`: output of `apt-cache show` about them, which has the sums of the package
 * files.
 */
export function debsOfRoot(root: string, index = ''): DebianPackage[] {
  const sums = sumsOf(index);
  const format = '${db:Status-Status}\\t${Package}\\t${Version}\\t${Architecture}\\n';
  return run('dpkg-query', [`--admindir=${join(root, 'var/lib/dpkg')}`, '--show', `--showformat=${format}`])
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'))
    .filter(([status]) => status === 'installed')
    .map(([, name = '', version = '', architecture = '']) => {
      const sha256 = sums.get(keyOf({ name, version, architecture }));
      return { name, version, architecture, ...defined({ sha256 }) };
    });
}

/** The packages of an image, from the manifest of mkosi (ManifestFormat=json). */
export function debsOfManifest(manifest: string): DebianPackage[] {
  const { packages } = JSON.parse(manifest) as { packages: readonly (DebianPackage & { readonly type: string })[] };
  return packages.filter(({ type }) => type === 'deb').map(({ name, version, architecture }) => ({ name, version, architecture }));
}

/** The sums in paragraphs of an index of packages, by name, version and architecture. */
function sumsOf(index: string): ReadonlyMap<string, string> {
  return new Map(
    index.split(/\n{2,}/).flatMap((paragraph) => {
      const field = (name: string): string => new RegExp(`^${name}: (.*)$`, 'm').exec(paragraph)?.[1] ?? '';
      const sha256 = field('SHA256');
      const key = keyOf({ name: field('Package'), version: field('Version'), architecture: field('Architecture') });
      return sha256 === '' ? [] : [[key, sha256] as const];
    }),
  );
}

function keyOf({ name, version, architecture }: DebianPackage): string {
  return `${name} ${version} ${architecture}`;
}
