// Updates: only what every key of the appliance has signed, is whole and is newer reaches the place from which it is installed.
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { appendFileSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeBundle, type BundleOptions } from '../../../appliance/packaging/os/make-bundle.ts';
import { readNotices } from '../../../appliance/packaging/os/programs/notices.ts';
import { conclude, unpack } from '../../../appliance/packaging/os/programs/update.ts';
import { stageOs } from '../../../appliance/packaging/os/stage-os.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const root = path('root');
const medium = join(root, 'run/keystored-update-medium');
const staging = join(root, 'var/lib/keystored-os/update');
const bundle = join(medium, 'keystored_0.2.0.update');

const makers = {
  ec: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  mlDsa: () => generateKeyPairSync('ml-dsa-65'),
  otherEc: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  weakEc: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
};
const keyFile = (name: keyof typeof makers): string => path(`${name}.pem`);
const publicKeys = new Map<string, string>();

beforeAll(() => {
  for (const name of Object.keys(makers) as (keyof typeof makers)[]) {
    const { privateKey, publicKey } = makers[name]();
    writeFileSync(keyFile(name), privateKey.export({ format: 'pem', type: 'pkcs8' }));
    publicKeys.set(name, publicKey.export({ format: 'pem', type: 'spki' }));
  }
  mkdirSync(join(root, 'usr/lib/keystored/appliance'), { recursive: true });
  writeFileSync(join(root, 'usr/lib/os-release'), 'ID=debian\nIMAGE_ID=keystored\nIMAGE_VERSION=0.1.9\n');
  mkdirSync(medium, { recursive: true });
  for (const [name, size] of [
    ['keystored_0.2.0.root', 300_000],
    ['keystored_0.2.0.efi', 70_000],
  ] as const)
    writeFileSync(path(name), Buffer.alloc(size, name));
});

const trust = (...names: string[]): Promise<void> =>
  stageOs(
    root,
    names.map((name) => publicKeys.get(name) ?? ''),
  );

/** A good bundle on the medium, unless told otherwise; then `unpack`. */
async function offer(changes: Partial<BundleOptions> = {}, spoil: () => void = () => undefined): Promise<string> {
  const good = { version: '0.2.0', minimumVersion: '0.1.0', keys: [keyFile('ec'), keyFile('mlDsa')] };
  await makeBundle({ ...good, parts: [path('keystored_0.2.0.root'), path('keystored_0.2.0.efi')], output: bundle, ...changes });
  spoil();
  const taken = await unpack(root);
  // Taken or not: nothing else than the signed parts ever lies where they are installed from.
  expect(existsSync(staging)).toBe(taken);
  return taken ? 'taken' : readNotices(root).join();
}

describe('an update', () => {
  beforeAll(() => trust('ec', 'mlDsa'));

  test('that every key has signed lies ready as it was built, and the screen says how it ended', async () => {
    expect(await offer()).toBe('taken');
    expect(readdirSync(staging).sort()).toEqual(['keystored_0.2.0.efi', 'keystored_0.2.0.root', 'manifest.json']);
    for (const name of ['keystored_0.2.0.efi', 'keystored_0.2.0.root'])
      expect(readFileSync(join(staging, name)).equals(readFileSync(path(name)))).toBe(true);
    conclude(root, 'success');
    expect(readNotices(root).join()).toContain('0.2.0 is installed beside this one');
    expect(existsSync(staging)).toBe(false);
    await offer();
    conclude(root, 'exit-code');
    expect(readNotices(root).join()).toContain('could not be installed');
    conclude(root, 'exec-condition');
    expect(readNotices(root).join()).toContain('No update is taken while this version is on trial');
  });

  test('is refused unsigned, signed by one key of two, by another key, or under another signature', async () => {
    expect(await offer({ keys: [keyFile('ec')] })).toContain('not signed with the ml-dsa-65 key');
    expect(await offer({ keys: [keyFile('otherEc'), keyFile('mlDsa')] })).toContain('not signed with the ec key');
    const swap = (): void => replace('signatures.json', JSON.stringify({ signatures: swapped(signaturesOf()) }));
    expect(await offer({}, swap)).toContain('signature is wrong');
    expect(await offer({}, () => replace('signatures.json', '{}'))).toContain('signatures.json cannot be read');
  });

  test('is refused when an octet of manifest or part is another one', async () => {
    const flip = (text: string) => (): void => {
      const octets = readFileSync(bundle);
      octets[octets.indexOf(text) + 3] = (octets[octets.indexOf(text) + 3] ?? 0) ^ 1;
      writeFileSync(bundle, octets);
    };
    expect(await offer({}, flip('"version"'))).toContain('signature is wrong');
    expect(await offer({}, flip('keystored_0.2.0.rootkeystored_0.2.0.root'))).toContain('part keystored_0.2.0.root is damaged');
  });

  test('is refused when it is cut off anywhere, or a part is missing, longer or after another of its name', async () => {
    for (const bytes of [0, 700, 2_000, 100_000, 330_000])
      expect(await offer({}, () => truncateSync(bundle, bytes)), `${bytes}`).not.toBe('taken');
    expect(await offer({}, () => tar('--delete', 'keystored_0.2.0.efi'))).toContain('keystored_0.2.0.efi is missing');
    expect(await offer({}, () => replace('keystored_0.2.0.efi', `${readFileSync(path('keystored_0.2.0.efi'), 'latin1')}more`))).toContain(
      'longer than it should be',
    );
    // Only the first member of a name counts; what follows is never looked at.
    expect(await offer({}, () => appendFileSync(bundle, 'rubbish'))).toBe('taken');
  });

  test('is refused when it is older or the same, or when this appliance is too old for it', async () => {
    for (const version of ['0.1.9', '0.1.8', '0.1', '0.0.99']) expect(await offer({ version })).toContain('not newer than 0.1.9');
    expect(await offer({ version: '0.1.10' })).toBe('taken');
    expect(await offer({ version: '1.0', minimumVersion: '0.1.10' })).toContain('update to 0.1.10 first');
  });

  test('is refused when the medium has none, or more than one', async () => {
    copyFileSync(bundle, join(medium, 'other.update'));
    expect(await offer()).toContain('several files');
    spawnSync('rm', [join(medium, 'other.update'), bundle]);
    expect(await unpack(root)).toBe(false);
    expect(readNotices(root).join()).toContain('no file that ends in .update, or no FAT or ISO 9660 file system');
  });
});

test('an appliance without keys takes no update, and a key that may not sign updates is no key', async () => {
  await trust();
  expect(await offer()).toContain('no key for updates');
  await expect(trust('weakEc')).rejects.toThrow('sign no updates');
  await expect(offer({ keys: [keyFile('weakEc')] })).rejects.toThrow('sign no updates');
});

function signaturesOf(): Record<string, string> {
  const { stdout } = spawnSync('tar', ['-xOf', bundle, 'signatures.json'], { encoding: 'utf8' });
  return (JSON.parse(stdout) as { signatures: Record<string, string> }).signatures;
}

/** Each key with the signature of the other. */
function swapped(signatures: Record<string, string>): Record<string, string> {
  const values = Object.values(signatures).toReversed();
  return Object.fromEntries(Object.keys(signatures).map((key, index) => [key, values[index] ?? '']));
}

function replace(name: string, content: string): void {
  const directory = path('replacement');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, name), content, 'latin1');
  tar('--delete', name);
  tar('--append', '--directory', directory, name);
}

function tar(...args: string[]): void {
  const { status, stderr } = spawnSync('tar', [`--file=${bundle}`, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}
