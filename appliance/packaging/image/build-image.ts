// npm run build image: the Debian package, the operating system around it and Debian's own packages become a disk image in dist/.
import { createHash, generateKeyPairSync } from 'node:crypto';
import { chmodSync, closeSync, cpSync, existsSync, fstatSync, ftruncateSync, mkdirSync, mkdtempSync, openSync } from 'node:fs';
import { readdirSync, readFileSync, readSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { debsOfManifest } from '../bill/debian.ts';
import { daemonParts, debianParts } from '../bill/parts.ts';
import { writeBills } from '../bill/write.ts';
import { commitEpochSeconds } from '../debian-archive.ts';
import { describeEtcd, etcdParts } from '../etcd/modules.ts';
import { run } from '../run.ts';
import { imageCache, inTools, provideTools, runTool } from './tools.ts';

const here = import.meta.dirname;
const repository = resolve(here, '../../..');

// Files that the build makes in the image have the usual modes of images, and are readable by every service.
process.umask(0o022);

/** Virtual machines need a third of the drivers; physical machines, and those with a USB token, need all. */
const kernels: Readonly<Record<string, string>> = { vm: 'linux-image-cloud-amd64', metal: 'linux-image-amd64' };

/** As in mkosi.conf. */
const release = 'trixie';

/** Keys for Secure Boot and for the signed measurements of the kernel image, which a TPM policy checks. */
const keyNames = ['secure-boot', 'pcr'];

const testKeys = join(imageCache, 'test-keys');
const { values: options } = parseArgs({
  options: {
    version: { type: 'string', default: packageVersion() },
    flavour: { type: 'string', default: 'vm' },
    keys: { type: 'string', default: process.env['KEYSTORED_IMAGE_KEYS'] ?? testKeys },
    output: { type: 'string' },
    /** files laid over the root: a vendor's PKCS#11 module, for example */
    extra: { type: 'string', multiple: true, default: [] },
  },
});

const epochSeconds = commitEpochSeconds();
const kernel = kernels[options.flavour];
if (kernel === undefined) throw new Error(`--flavour is one of ${Object.keys(kernels).join(', ')}`);
const output = resolve(options.output ?? join(repository, 'dist', `image-${options.flavour}`));

provideTools();
provideKeys(options.keys);
/** Neither below the sources, which are read-only in the build, nor in memory. */
const work = mkdtempSync('/var/tmp/keystored-image-');
try {
  cpSync(here, join(work, 'definition'), { recursive: true });
  settleModes(join(work, 'definition'));
  run(process.execPath, [join(here, '../build-deb.ts'), options.version, join(work, 'packages')]);
  run(process.execPath, [join(here, '../etcd/build-deb.ts'), join(work, 'packages')]);
  buildImage(kernel);
  finish();
} finally {
  rmSync(work, { recursive: true });
}

/**
 * `keys`: a folder with NAME.key and NAME.crt (PEM) for each of `keyNames`, and update-*.pub, the keys that must sign updates. Test keys
 * are made without one.
 */
function provideKeys(directory: string): void {
  if (directory === testKeys) {
    console.error('signed with TEST KEYS made on this machine; for images that count: --keys FOLDER or KEYSTORED_IMAGE_KEYS');
    makeTestKeys();
  }
  const missing = keyNames.flatMap((name) => [`${name}.key`, `${name}.crt`]).filter((name) => !existsSync(join(directory, name)));
  if (missing.length > 0) throw new Error(`${directory} lacks ${missing.join(', ')}: see docs/administer/image.md, "Signing keys"`);
}

function makeTestKeys(): void {
  mkdirSync(testKeys, { recursive: true, mode: 0o700 });
  const subject = ['-subj', '/CN=keystored test key', '-days', '3650'];
  for (const path of keyNames.map((name) => join(testKeys, name)).filter((path) => !existsSync(`${path}.crt`))) {
    runTool('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-noenc', ...subject, '-keyout', `${path}.key`, '-out', `${path}.crt`]);
  }
  const pairs = {
    'update-ec': () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
    'update-ml-dsa': () => generateKeyPairSync('ml-dsa-65'),
  };
  for (const [name, generate] of Object.entries(pairs).filter(([name]) => !existsSync(join(testKeys, `${name}.pub`)))) {
    const { publicKey, privateKey } = generate();
    writeFileSync(join(testKeys, `${name}.key`), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    writeFileSync(join(testKeys, `${name}.pub`), publicKey.export({ type: 'spki', format: 'pem' }));
  }
}

function updateKeys(directory: string): string[] {
  const names = readdirSync(directory).filter((name) => /^update.*\.pub$/.test(name));
  return names.sort().map((name) => readFileSync(join(directory, name), 'utf8'));
}

/** Independent of the umask of the clone: files of the image are readable by all and writable by root. */
function settleModes(directory: string): void {
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    chmodSync(path, entry.isDirectory() || (statSync(path).mode & 0o100) !== 0 ? 0o755 : 0o644);
  }
}

/** All inputs of the content: commit time, version, keys; Debian packages are the current ones. */
function buildImage(kernelPackage: string): void {
  const cache = join(imageCache, `mkosi-${options.flavour}`);
  for (const directory of [cache, join(imageCache, 'packages'), join(work, 'workspace'), output]) {
    mkdirSync(directory, { recursive: true });
  }
  // The names of the parts contain their hashes: those of an earlier build would stay beside the new ones.
  for (const name of readdirSync(output).filter((name) => name.startsWith(`keystored_${options.version}.`))) rmSync(join(output, name));
  const keys = resolve(options.keys);
  const settings = {
    directory: join(work, 'definition'),
    'output-directory': output,
    'workspace-directory': join(work, 'workspace'),
    'cache-directory': cache,
    'package-cache-directory': join(imageCache, 'packages'),
    // Volatile: keystored's own package is new in every build, and cached Debian packages stay valid.
    'volatile-package-directory': join(work, 'packages'),
    'build-sources': repository,
    environment: `UPDATE_KEYS=${Buffer.from(JSON.stringify(updateKeys(keys))).toString('base64')}`,
    'image-version': options.version,
    'source-date-epoch': String(epochSeconds),
    // The seed of UUIDs of file systems and partitions; random ones would change the hash of the root.
    seed: createHash('sha256').update(`keystored ${options.version} ${epochSeconds}`).digest('hex').slice(0, 32),
    package: kernelPackage,
    'secure-boot-key': join(keys, 'secure-boot.key'),
    'secure-boot-certificate': join(keys, 'secure-boot.crt'),
    'sign-expected-pcr-key': join(keys, 'pcr.key'),
    'sign-expected-pcr-certificate': join(keys, 'pcr.crt'),
  };
  const args = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
  console.error('building the image (minutes) …');
  const trees = options.extra.map((tree) => resolve(tree));
  const extra = trees.map((tree) => `--extra-tree=${tree}`);
  run(...inTools('mkosi', [...args, ...extra, '--incremental=yes', '--force', 'build'], [work, keys, output, ...trees]));
}

/** Keeps only the results in the output directory: disk, the three parts of an update, bills of materials, checksums. */
function finish(): void {
  for (const name of ['initrd', 'initrd.cpio.zst', `keystored_${options.version}`, `keystored_${options.version}.esp.raw`]) {
    rmSync(join(output, name));
  }
  const names = readdirSync(output).filter((name) => name.startsWith(`keystored_${options.version}.`));
  for (const name of names.filter((name) => /\.root-.*\.raw$/.test(name))) dropZeros(join(output, name));
  const [manifest = ''] = names.filter((name) => name.endsWith('.manifest'));
  const debs = debsOfManifest(readFileSync(join(output, manifest), 'utf8'));
  rmSync(join(output, manifest));
  const disk = join(output, `keystored_${options.version}.raw`);
  const parts = [...daemonParts(), ...etcdParts(describeEtcd()), ...debianParts(debs, release)];
  writeBills(disk, {
    kind: 'firmware',
    version: options.version,
    parts,
    epochSeconds,
    beside: join(output, `keystored_${options.version}`),
  });
  run('sh', ['-c', 'cd "$1" && sha256sum -- keystored_* >SHA256SUMS', 'sh', output]);
  console.log(disk);
}

/** An update does not contain the free space of a slot. */
function dropZeros(file: string): void {
  const chunk = Buffer.alloc(1 << 20);
  const zeros = Buffer.alloc(chunk.length);
  const descriptor = openSync(file, 'r+');
  let { size } = fstatSync(descriptor);
  for (; size > chunk.length; size -= chunk.length) {
    readSync(descriptor, chunk, 0, chunk.length, size - chunk.length);
    if (!chunk.equals(zeros)) break;
  }
  ftruncateSync(descriptor, size);
  closeSync(descriptor);
}

function packageVersion(): string {
  return (JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as { version: string }).version;
}
