// npm run build package: puts sources, production packages, the pinned Node.js, unit and commands into dist/keystored_VERSION_ARCH.deb, and
// its bills of materials beside it.
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { daemonParts } from './bill/parts.ts';
import { writeBills } from './bill/write.ts';
import { archiveDeb, commitEpochSeconds, controlOf, debianArchitecture, installedSize } from './debian-archive.ts';
import { makeDownloads } from './keystorectl/downloads.ts';
import { daemonPage } from './manual/daemon-page.ts';
import { dayOf, installCompletion, installPages } from './manual/install.ts';
import { keystorectlPages } from './manual/pages.ts';
import { installedNode } from './node-binary.ts';
import { productionPackages } from './npm-packages.ts';
import { bundleService } from './service/bundle.ts';
import { writeService } from './service/provide.ts';

const root = resolve(import.meta.dirname, '../..');
const packaging = import.meta.dirname;
const home = 'usr/lib/keystored';

/** Files of each floor that the installed daemon does not use. */
const leftAtHome = new Set([
  'appliance/setup.mjs',
  'appliance/keystorectl',
  'appliance/packaging',
  'appliance/image',
  'appliance/docs',
  'appliance/clients',
  'plugins/console/app',
  'plugins/console/build.ts',
  'plugins/console/words',
]);

/**
 * Files of npm packages that are never loaded: other platforms, sources of native code and its build files, maps and typings, and the files
 * that npm keeps for itself. Build files of native code name folders and settings of the builder.
 */
const neverLoaded = [
  /\.(?:map|markdown|d\.[cm]?ts|cc|cpp|h|c|gyp|mk|o|d|obj)$/,
  /\.musl\.node$/,
  /\/build\/(?:Makefile|binding\.Makefile|config\.gypi)$/,
  /\/(?:obj\.target|bintrees\/test|zod\/src|node_modules\/\.[^/]+)(?:\/|$)/,
];

/** Targets of the package's own files. Executables are listed; all others are 0644. */
const placed: readonly (readonly [source: string, target: string, mode: number])[] = [
  ['commands/keystored', 'usr/bin/keystored', 0o755],
  ['commands/keystorectl', 'usr/bin/keystorectl', 0o755],
  ['keystored.yaml', 'etc/keystored/keystored.yaml', 0o644],
  ['systemd/keystored.service', 'usr/lib/systemd/system/keystored.service', 0o644],
  ...['management', 'est'].map(
    (name) => [`systemd/keystored-${name}.socket`, `usr/lib/systemd/system/keystored-${name}.socket`, 0o644] as const,
  ),
  ['systemd/sysusers.conf', 'usr/lib/sysusers.d/keystored.conf', 0o644],
  ['systemd/tmpfiles.conf', 'usr/lib/tmpfiles.d/keystored.conf', 0o644],
  ['systemd/sysctl.conf', 'usr/lib/sysctl.d/60-keystored.conf', 0o644],
];

type Manifest = { readonly version: string; readonly description: string };

const manifest = readJson<Manifest>('package.json');
/** Tests build the same tree as an earlier and a later version, in another directory. */
const [version = manifest.version, output = join(root, 'dist')] = process.argv.slice(2);
const epochSeconds = commitEpochSeconds();
const target = join(output, `keystored_${version}_${debianArchitecture()}.deb`);
const stage = mkdtempSync(join(tmpdir(), 'keystored-deb-'));
try {
  installSources();
  installPackages();
  writeService(await bundleService('service'), join(stage, home, 'service'));
  for (const [source, target, mode] of placed) place(join(packaging, source), target, mode);
  installDocumentation();
  installPages([...(await keystorectlPages(dayOf(epochSeconds))), daemonPage(dayOf(epochSeconds))], stage);
  await installCompletion(stage);
  await makeDownloads(join(stage, home, 'downloads'), epochSeconds);
  writeControl();
  console.log(archiveDeb(stage, target, { epochSeconds, isExecutable }));
  writeBills(target, { kind: 'application', version, parts: daemonParts(), epochSeconds });
} finally {
  rmSync(stage, { recursive: true });
}

function installSources(): void {
  for (const floor of ['hsm', 'core', 'plugins', 'appliance']) {
    cpSync(join(root, floor), join(stage, home, floor), {
      recursive: true,
      filter: (path) => !leftAtHome.has(path.slice(root.length + 1)) && !path.endsWith('.md'),
    });
  }
  for (const name of ['package.json', 'softhsm.conf']) place(join(root, name), `${home}/${name}`, 0o644);
}

function installPackages(): void {
  // The pinned one, or nothing is packed.
  installedNode();
  const packages = productionPackages();
  for (const path of packages.keys()) {
    cpSync(join(root, path), join(stage, home, path), {
      recursive: true,
      dereference: true,
      filter: (source) => isLoaded(source) && !isOtherPackage(source, path, packages),
    });
  }
}

/** By the path below the root: the names of the folders above it decide on nothing. */
function isLoaded(source: string): boolean {
  const below = source.slice(root.length);
  return !neverLoaded.some((pattern) => pattern.test(below));
}

/** A nested package is included or excluded by its own entry. */
function isOtherPackage(source: string, path: string, packages: ReadonlyMap<string, unknown>): boolean {
  const relative = source.slice(root.length + 1);
  return relative !== path && (packages.has(relative) || /\/node_modules\/(?:@[^/]+\/)?[^/@]+$/.test(relative.slice(path.length)));
}

function installDocumentation(): void {
  const documents = join(root, 'appliance/docs');
  const files = readdirSync(documents, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(?:md|yaml|json)$/.test(name));
  for (const name of files) place(join(documents, name), `usr/share/doc/keystored/${name}`, 0o644);
  writeFileSync(
    join(stage, 'usr/share/doc/keystored/copyright'),
    'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\nFiles: *\nCopyright: the keystored authors\nLicense: Apache-2.0\n' +
      ' On Debian systems the full text is in /usr/share/common-licenses/Apache-2.0.\n' +
      `Comment: packages below /${home}/node_modules carry their own licences beside them;\n those of the packages in /${home}/service are in its file LICENSES.\n`,
  );
}

function writeControl(): void {
  const control = join(stage, 'DEBIAN');
  mkdirSync(control);
  for (const script of ['postinst', 'prerm', 'postrm']) place(join(packaging, 'debian', script), `DEBIAN/${script}`, 0o755);
  writeFileSync(join(control, 'conffiles'), '/etc/keystored/keystored.yaml\n');
  const [summary, ...more] = manifest.description.split(': ');
  const fields = {
    Package: 'keystored',
    Version: version,
    Architecture: debianArchitecture(),
    Maintainer: 'keystored maintainers <keystored@localhost>',
    'Installed-Size': installedSize(stage),
    Depends: 'softhsm2, systemd, libsystemd0, libc6 (>= 2.36), libstdc++6, libgcc-s1, libatomic1',
    Recommends: 'ca-certificates, libffi8, opensc-pkcs11',
    Suggests: 'keystored-etcd, libengine-pkcs11-openssl, p11-kit-modules',
    // Both have /usr/bin/keystorectl, and this one can do more.
    Provides: `keystorectl (= ${version})`,
    Conflicts: 'keystorectl',
    Replaces: 'keystorectl',
    Section: 'net',
    Priority: 'optional',
    Description: `${summary}\n ${more.join(': ')}.\n`,
  };
  writeFileSync(join(control, 'control'), controlOf(fields));
}

function place(source: string, target: string, mode: number): void {
  mkdirSync(dirname(join(stage, target)), { recursive: true });
  cpSync(source, join(stage, target));
  chmodSync(join(stage, target), mode);
}

function isExecutable(path: string): boolean {
  return path.includes('/usr/bin/') || path.endsWith('/node/bin/node') || /DEBIAN\/p/.test(path);
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(join(root, path), 'utf8')) as T;
}
