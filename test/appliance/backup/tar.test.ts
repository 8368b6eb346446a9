// The archive in a backup: any tar reads it, and a restore takes nothing from it but what a backup holds.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Archive, archiveBytes, formatArchive, readArchive } from '../../../appliance/backup/format/archive.ts';
import { type Claim, formatManifest, judgeOrigin, type Manifest } from '../../../appliance/backup/format/manifest.ts';
import { formatTarEnd, formatTarEntry, readTar } from '../../../appliance/backup/format/tar.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const keys = publicKey.export({ format: 'pem', type: 'spki' });

const contents: readonly (readonly [string, Buffer])[] = [
  ['softhsm/a-b.token.copy', Buffer.from('copy')],
  ['softhsm/a-b/token.object', Buffer.alloc(512, 7)],
  ['softhsm/a-b/token.lock', Buffer.alloc(0)],
  ['pin', Buffer.from('1234')],
  ['store/data.mdb', Buffer.alloc(70_001, 1)],
];

function archiveOf(files = contents): Archive {
  const manifest: Manifest = {
    ...{ kind: 'keystored-backup', format: 2, 'made-at': '2026-01-01T00:00:00.000000Z', version: '1.0.0', appliance: 'a' },
    ...{ embedded: true, tokens: [], records: 3 },
    files: files.map(([name, content]) => ({
      path: name,
      bytes: content.length,
      sha256: createHash('sha256').update(content).digest('hex'),
    })),
  };
  const signature = sign('sha256', formatManifest(manifest), privateKey);
  return { manifest, signature, keys, files: files.map(([name, content]) => ({ path: name, bytes: content.length, content })) };
}

async function octetsOf(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(pieces));
}

async function* cut(octets: Uint8Array, size = 333): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < octets.length; at += size) yield octets.subarray(at, at + size);
}

/** The files that a restore would write, by path. */
async function restore(octets: Uint8Array): Promise<{ taken: Map<string, Buffer>; claim: Claim | undefined }> {
  const taken = new Map<string, Buffer>();
  let claim: Claim | undefined;
  await readArchive(cut(octets), {
    begin: (told) => void ({ claim } = told),
    file: (name) => ({
      write: (part) => void taken.set(name, Buffer.concat([taken.get(name) ?? Buffer.alloc(0), part])),
      close: () => void taken.set(name, taken.get(name) ?? Buffer.alloc(0)),
    }),
  });
  return { taken, claim };
}

test('tar of the system lists and unpacks it, openssl verifies its signature, and a restore reads it back', async () => {
  const archive = archiveOf();
  const octets = await octetsOf(formatArchive(archive));
  expect(octets.length).toBe(archiveBytes(archive));
  writeFileSync(path('backup.tar'), octets);
  mkdirSync(path('out'));
  execFileSync('tar', ['-xf', path('backup.tar'), '-C', path('out')]);
  for (const [name, content] of contents) expect(readFileSync(path('out', name))).toEqual(content);
  const verified = [
    'dgst',
    '-sha256',
    '-verify',
    path('out/audit-keys.pem'),
    '-signature',
    path('out/manifest.sig'),
    path('out/manifest.json'),
  ];
  expect(execFileSync('openssl', verified, { encoding: 'utf8' })).toContain('Verified OK');
  const { taken, claim } = await restore(octets);
  expect(taken).toEqual(new Map(contents));
  expect(judgeOrigin(claim as Claim, undefined)).toMatchObject({ state: 'unproven' });
  expect(judgeOrigin(claim as Claim, keys)).toMatchObject({ state: 'proven' });
});

test('sizes of 8 GiB and more are written as other programs read them', async () => {
  const [header] = await Array.fromAsync(take(formatTarEntry('store/data.mdb', 9_000_000_000, []), 1));
  writeFileSync(path('large.tar'), header as Buffer);
  // It misses the content, and says so by its exit code.
  expect(spawnSync('tar', ['-tvf', path('large.tar')], { encoding: 'utf8' }).stdout).toContain('9000000000');
  async function* large(): AsyncGenerator<Uint8Array> {
    yield header as Buffer;
  }
  for await (const entry of readTar(large())) {
    expect(entry.bytes).toBe(9_000_000_000);
    break;
  }
});

async function* take<T>(values: AsyncIterable<T>, count: number): AsyncGenerator<T> {
  let left = count;
  for await (const value of values) {
    if (left-- > 0) yield value;
    if (left === 0) return;
  }
}

/** A tar of GNU tar, with whatever names and types a person can make. */
function foreignTar(name: string, ...args: string[]): Buffer {
  execFileSync('tar', ['--format=ustar', '-cf', path(name), '-C', path('out'), ...args]);
  return readFileSync(path(name));
}

test('foreign names, paths that lead elsewhere, links and devices are refused before anything is written', async () => {
  const begin = await octetsOf(
    (async function* () {
      const octets = formatManifest(archiveOf().manifest);
      yield* formatTarEntry('manifest.json', octets.length, [octets]);
    })(),
  );
  const tars = [
    foreignTar('climb.tar', '--transform=s|pin|../../etc/cron.d/x|', '-P', 'pin'),
    foreignTar('root.tar', '--transform=s|^|/|', '-P', 'pin'),
    foreignTar('other.tar', '--transform=s|pin|authorized_keys|', 'pin'),
    foreignTar('mine.tar', 'pin'),
  ];
  execFileSync('ln', ['-sf', '/etc/passwd', path('out/pin')]);
  tars.push(foreignTar('link.tar', 'pin'));
  for (const tar of tars) {
    const taken: string[] = [];
    const reading = readArchive(cut(Buffer.concat([begin, tar])), {
      begin: () => undefined,
      file: (name) => {
        taken.push(name);
        return { write: () => undefined, close: () => undefined };
      },
    });
    await expect(reading).rejects.toThrow(/does not belong there/);
    expect(taken).toEqual([]);
  }
});

test('what is not as the manifest says is refused: changed, missing, added, doubled and reordered files', async () => {
  const { manifest, signature } = archiveOf();
  const build = (files: typeof contents): Promise<Buffer> => octetsOf(formatArchive({ ...archiveOf(files), manifest, signature }));
  const changed = contents.map(([name, content]) => [name, name === 'pin' ? Buffer.from('4321') : content] as const);
  await expect(restore(await build(changed))).rejects.toThrow(/pin of the backup is not what its manifest says/);
  await expect(restore(await build(contents.slice(0, -1)))).rejects.toThrow(/files of the backup are missing/);
  await expect(restore(await build([...contents, ['so-pin', Buffer.from('1')]]))).rejects.toThrow(/does not belong/);
  await expect(restore(await build([...contents, ...contents.slice(-1)]))).rejects.toThrow(/does not belong/);
  await expect(restore(await build(contents.toReversed()))).rejects.toThrow(/does not belong/);
  await expect(restore(formatTarEnd())).rejects.toThrow(/does not begin with its manifest/);
  const whole = await build(contents);
  for (const end of [512, 2_000, whole.length - 1_024, whole.length - 513])
    await expect(restore(whole.subarray(0, end))).rejects.toThrow(/cut off/);
});

test('the origin: another signer, a missing signature and a signature of another manifest are told apart', () => {
  const { manifest, signature } = archiveOf();
  const claim: Claim = { manifest: formatManifest(manifest), signature, keys };
  const other = createPublicKey(
    createPrivateKey(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'pem', type: 'pkcs8' })),
  ).export({ format: 'pem', type: 'spki' });
  expect(judgeOrigin({ ...claim, signature: undefined }, undefined)).toEqual({ state: 'unsigned' });
  expect(() => judgeOrigin({ ...claim, signature: undefined }, keys)).toThrow(/is not signed/);
  expect(() => judgeOrigin(claim, other)).toThrow(/signed by none of the audit keys/);
  expect(() => judgeOrigin(claim, 'no key at all')).toThrow(/has no public key/);
  expect(() => judgeOrigin({ ...claim, manifest: formatManifest({ ...manifest, records: 4 }) }, undefined)).toThrow(/does not verify/);
  expect(() => judgeOrigin({ ...claim, signature: Buffer.from('nothing') }, undefined)).toThrow(/does not verify/);
});
