// Parts of an artefact, in a form from which every bill of materials can be written.
import manifest from '../../../package.json' with { type: 'json' };
import { defined } from '../../../core/base/defined.ts';
import { ownPlatform, type Platform, pinnedNode } from '../node-binary.ts';
import { consolePackages, type LockedPackages, productionPackages } from '../npm-packages.ts';
import type { DebianPackage } from './debian.ts';

export type Digest = { readonly algorithm: 'SHA-256' | 'SHA-512'; readonly hex: string };

/** A piece of third-party software in an artefact. */
export type Part = {
  readonly kind: 'library' | 'platform';
  readonly name: string;
  readonly version: string;
  /** package URL; no two parts have the same */
  readonly purl: string;
  /** SPDX expression */
  readonly license?: string;
  /** distributor, if all parts of that sort have the same one */
  readonly supplier?: string;
  /** name in the lists of known vulnerabilities (CPE 2.3) */
  readonly cpe?: string;
  /** of the file that it came in */
  readonly digests?: readonly Digest[];
};

/** Subject of a bill. */
export type Product = {
  /** `container` and `firmware` have an operating system, too */
  readonly kind: 'application' | 'container' | 'firmware';
  readonly name: string;
  readonly version: string;
  readonly file: { readonly name: string; readonly sha256: string };
};

/** `epochSeconds`: the time that both formats want to have, that of the commit. */
export type Bill = { readonly product: Product; readonly parts: readonly Part[]; readonly epochSeconds: number };

/** The parts in the order of their package URLs, each once. */
export function sortParts(parts: readonly Part[]): readonly Part[] {
  const byPurl = new Map(parts.map((part) => [part.purl, part]));
  // By code units: an order of words would depend on the locale.
  return [...byPurl.values()].sort((one, other) => (one.purl < other.purl ? -1 : 1));
}

/** Parts of every form of the daemon: its npm packages, those in the console, and Node.js. */
export function daemonParts(): Part[] {
  return [...npmParts(productionPackages()), ...npmParts(consolePackages()), ...nodeParts(ownPlatform())];
}

/** Identifiers that SPDX has replaced, as some packages still have them. */
const presentIdentifiers: Readonly<Record<string, string>> = { 'LGPL-3.0+': 'LGPL-3.0-or-later' };

export function npmParts(packages: LockedPackages): Part[] {
  return [...packages].map(([path, { version, license, integrity }]): Part => {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const digests = integrity?.startsWith('sha512-') === true ? [sha512Of(integrity.slice('sha512-'.length))] : undefined;
    const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
    const present = license === undefined ? undefined : (presentIdentifiers[license] ?? license);
    return { kind: 'library', name, version, purl, ...defined({ license: present, digests }) };
  });
}

/** Entries of process.versions that are Node.js itself, or numbers of interfaces. */
const notLibraries = new Set(['node', 'modules', 'napi', 'unicode', 'tz', 'cldr']);

/** The pinned Node.js of a platform, and the libraries compiled into it: the Node.js that runs this is the same version. */
export function nodeParts(platform: Platform): Part[] {
  const { package: name, version, archiveSha512 } = pinnedNode(platform);
  if (process.versions.node !== version) throw new Error(`Node.js ${version} is needed, and this is ${process.versions.node}`);
  const purl = `pkg:npm/${name}@${version}`;
  const cpe = `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`;
  const node: Part = { kind: 'platform', name, version, purl, license: 'MIT', cpe, digests: [sha512Of(archiveSha512)] };
  const libraries = Object.entries(process.versions).flatMap(([name, version = '']): Part[] => {
    if (notLibraries.has(name) || version === '') return [];
    return [{ kind: 'library', name, version, purl: `pkg:generic/${name}@${encodeURIComponent(version)}` }];
  });
  return [node, ...libraries];
}

/** Our own packages, of which the parts are listed one by one. */
const ownPackages = new Set([manifest.name, 'keystored-etcd']);

/** Without our own packages. `release` is the code name of the Debian release. */
export function debianParts(debs: readonly DebianPackage[], release: string): Part[] {
  const others = debs.filter(({ name }) => !ownPackages.has(name));
  return others.map(({ name, version, architecture, sha256 }): Part => {
    const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=${release}`;
    const digests: Digest[] | undefined = sha256 === undefined ? undefined : [{ algorithm: 'SHA-256', hex: sha256 }];
    return { kind: 'library', name, version, purl, supplier: 'Debian', ...defined({ digests }) };
  });
}

function sha512Of(base64: string): Digest {
  return { algorithm: 'SHA-512', hex: Buffer.from(base64, 'base64').toString('hex') };
}
