// The bill of materials of an image: its Debian packages, the production packages of npm and what Node.js is made of, as CycloneDX 1.5.
import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { join } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import { productionPackages } from '../npm-packages.ts';

/** One Debian package of an image. */
export type DebianPackage = { readonly name: string; readonly version: string; readonly architecture: string };

type Component = {
  readonly 'bom-ref': string;
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
};

/** The packages of a root tree, as its dpkg knows them. */
export function debsOfRoot(root: string): DebianPackage[] {
  const format = '${db:Status-Status}\\t${Package}\\t${Version}\\t${Architecture}\\n';
  return run('dpkg-query', [`--admindir=${join(root, 'var/lib/dpkg')}`, '--show', `--showformat=${format}`])
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'))
    .filter(([status]) => status === 'installed')
    .map(([, name = '', version = '', architecture = '']) => ({ name, version, architecture }));
}

/** The packages of an image, from the manifest of mkosi (ManifestFormat=json). */
export function debsOfManifest(manifest: string): DebianPackage[] {
  const { packages } = JSON.parse(manifest) as { packages: readonly (DebianPackage & { readonly type: string })[] };
  return packages.filter(({ type }) => type === 'deb').map(({ name, version, architecture }) => ({ name, version, architecture }));
}

/** The whole bill as JSON text. The same packages, version and time (seconds since 1970) make the same text. */
export function makeSbom(debs: readonly DebianPackage[], version: string, epochSeconds: number): string {
  const product = component('firmware', manifest.name, version, `pkg:generic/${manifest.name}@${version}`);
  const components = [
    ...npmComponents(),
    ...debs.filter(({ name }) => name !== manifest.name).map(debianComponent),
    ...runtimeComponents(),
  ];
  const content = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      timestamp: new Date(epochSeconds * 1_000).toISOString(),
      lifecycles: [{ phase: 'build' }],
      component: { ...product, licenses: [{ license: { id: manifest.license } }] },
    },
    components,
    dependencies: [{ ref: product['bom-ref'], dependsOn: components.map(({ 'bom-ref': ref }) => ref) }],
  };
  return `${JSON.stringify({ ...content, serialNumber: serialOf(JSON.stringify(content)) }, undefined, 2)}\n`;
}

/** The npm packages in the Debian package. */
function npmComponents(): Component[] {
  const described = [...productionPackages()].map(([path, { version, license, integrity }]): Component => {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
    return {
      ...component('library', name, version, purl),
      ...(license === undefined ? {} : { licenses: [{ expression: license }] }),
      ...(integrity?.startsWith('sha512-') === true
        ? { hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.slice(7), 'base64').toString('hex') }] }
        : {}),
    };
  });
  return [...new Map(described.map((one) => [one.purl, one])).values()];
}

/** Entries of process.versions that are Node.js itself, or numbers of interfaces. */
const notLibraries = new Set(['node', 'modules', 'napi', 'unicode', 'tz', 'cldr']);

/** What is compiled into the pinned Node.js, which is the one that runs this. */
function runtimeComponents(): Component[] {
  return Object.entries(process.versions)
    .filter(([name, version]) => !notLibraries.has(name) && version !== undefined && version !== '')
    .map(([name, version = '']) => component('library', name, version, `pkg:generic/${name}@${encodeURIComponent(version)}`));
}

function debianComponent({ name, version, architecture }: DebianPackage): Component {
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=trixie`;
  return component('library', name, version, purl);
}

function component(type: string, name: string, version: string, purl: string): Component {
  return { 'bom-ref': purl, type, name, version, purl };
}

/** A UUID (version 8, RFC 9562) derived from the content. */
function serialOf(content: string): string {
  const digits = hash('sha256', content, 'hex');
  return `urn:uuid:${digits.slice(0, 8)}-${digits.slice(8, 12)}-8${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
}

function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error(`${command}: ${error?.message ?? stderr}`);
  return stdout;
}
