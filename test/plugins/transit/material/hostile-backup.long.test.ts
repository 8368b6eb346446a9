// Hostile backups with a correct checksum: restore refuses them or makes a sound key.
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Backup, formatBackup, parseBackup } from '../../../../plugins/transit/backup/format.ts';
import openpgp from '../../../../plugins/openpgp/index.ts';
import { openpgpFields } from '../../../../plugins/openpgp/records.ts';
import { type Attachment, Attachments } from '../../../../plugins/transit/records/attachments.ts';
import { ecSpki, infinity } from '../../../harness/token/odd-keys.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { type TransitHarness, base64, startTransitHarness } from '../harness.ts';
import { useEverything } from '../use.ts';

const directory = temporaryDirectory();
const originals: Backup[] = [];
let harness: TransitHarness;

beforeAll(async () => {
  harness = await startTransitHarness(directory('harness'), { plugins: [openpgp] });
  const attachments = new Attachments(harness.store.prefixed('transit'));
  const reference = { field: 'openpgpPrimary', table: 'subkeys' };
  const published = { field: 'openpgpPublished', table: 'openpgp-published' };
  attachments.add({ name: 'openpgp', fields: openpgpFields, reference, published } as unknown as Attachment);
  const fields = { 'allow-plaintext-backup': true, 'auto-rotate': { 'rotate-after': '90d', 'activate-after': '1d' } };
  const keys: readonly [string, object][] = [
    ['plain', fields],
    ['convergent', { ...fields, derived: true, 'convergent-encryption': true, 'min-decryption-version': 1 }],
    ['curve', { ...fields, cipher: 'ecdsa-p256', custody: 'token' }],
    ['edwards', { ...fields, cipher: 'ed25519', exportable: true }],
    ['primary', { ...fields, cipher: 'ecdsa-p256', 'openpgp-user-id': 'Backup <backup@example.test>' }],
    ['former', { ...fields, cipher: 'ed25519', 'openpgp-user-id': 'Backup <backup@example.test>' }],
  ];
  for (const [name, definition] of keys) {
    await harness.create(name, definition);
    await harness.do(name, 'rotate');
    if (name === 'former') expect((await harness.patch(name, { 'openpgp-user-id': null })).status).toBe(204);
    const { key } = await harness.do(name, 'backup');
    originals.push(parseBackup(Uint8Array.from(Buffer.from(key, 'base64')), attachments));
  }
  await harness.create('target', { 'deletion-allowed': true });
});
afterAll(() => harness.stop());

/** Restores a backup into a replaceable target; returns status and code. */
async function restore(backup: unknown): Promise<string> {
  const { status, body } = await harness.act('target', 'restore', { key: base64(formatBackup(backup as Backup)) });
  return `${status} ${body?.code ?? ''}`;
}

/** Makes the target replaceable again after a restore that worked. */
async function giveUp(): Promise<void> {
  await harness.patch('target', { 'deletion-allowed': true });
}

/** All that the target shows of itself. */
const seen = async (): Promise<unknown> => [await harness.config('target'), await harness.state('target')];

const values: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(...[1e4, 1e5, 1e6, 2 ** 31 - 1, 2 ** 32, 2 ** 40, 4.2e15, 4.3e15, 2 ** 53 - 1]),
  fc.constantFrom(null, true, false, 0, 1, 2, -1, 3, 2 ** 31, 1e300, '', 'rsa-2048', 'ed25519', 'aes128-gcm96', 'token', '1h', {}, []),
  fc.uint8Array({ maxLength: 70 }),
  fc.constant(undefined),
);

/** One place in a document replaced, removed, or a list member doubled or dropped. */
function mutate(value: unknown, path: readonly number[], replacement: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined || value instanceof Uint8Array || typeof value !== 'object' || value === null) return replacement;
  if (Array.isArray(value)) {
    const at = step % (value.length + 1);
    if (at === value.length) return replacement === undefined ? value.slice(1) : [...value, value[0]];
    return value.map((one: unknown, index) => (index === at ? mutate(one, rest, replacement) : one));
  }
  const names = Object.keys(value);
  const name = names[step % (names.length + 1)] ?? 'surplus';
  return { ...value, [name]: name === 'surplus' ? replacement : mutate((value as Record<string, unknown>)[name], rest, replacement) };
}

test('one place changed at random: 400 with a reason and nothing changed, or a key with which every action works', async () => {
  const outcomes = new Map<string, number>();
  const paths = fc.array(fc.nat(40), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(fc.nat(originals.length - 1), paths, values, async (which, path, replacement) => {
      const before = await seen();
      const outcome = await restore(mutate(originals[which], path, replacement));
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      expect(outcome).toMatch(/^(204 |400 [a-z-]+)$/);
      expect(outcome === '204 ' ? before : await seen()).toEqual(before);
      if (outcome === '204 ') await useEverything(harness, 'target');
      await harness.expectSound();
      await giveUp();
    }),
    { numRuns: Number(process.env['RESTORE_CASES'] ?? 150), seed: Number(process.env['FUZZ_SEED'] ?? 13) },
  );
  // The mutations must give both outcomes, or this test would show nothing.
  expect(outcomes.get('400 invalid-key-data')).toBeGreaterThan(20);
  expect(outcomes.get('204 ')).toBeGreaterThan(3);
});

type Change = (backup: Backup) => unknown;
const [plain, convergent, curve, , primary, former] = [0, 1, 2, 3, 4, 5];
const version = (backup: Backup, fields: object): unknown => ({
  ...backup,
  versions: backup.versions.map((one, at) => (at === 0 ? { ...one, ...fields } : one)),
});

const contradictions: readonly [string, number, Change, RegExp][] = [
  ['no versions', plain, (backup) => ({ ...backup, versions: [] }), /^400/],
  ['a version missing', plain, (backup) => ({ ...backup, versions: backup.versions.slice(1) }), /^400/],
  ['versions out of order', plain, (backup) => ({ ...backup, versions: [...backup.versions].reverse() }), /^400/],
  ['more versions than latest says', plain, (backup) => ({ ...backup, latest: 1 }), /^400/],
  ['a floor above latest', plain, (backup) => ({ ...backup, floor: 3 }), /^400/],
  ['a minimum version above latest', plain, (backup) => ({ ...backup, document: { ...backup.document, minDecryptionVersion: 3 } }), /^400/],
  ['a cipher the material is not of', plain, (backup) => ({ ...backup, document: { ...backup.document, cipher: 'aes128-gcm96' } }), /^400/],
  ['an unknown cipher', plain, (backup) => ({ ...backup, document: { ...backup.document, cipher: 'constructor' } }), /^400/],
  [
    'timers that contradict each other',
    plain,
    (backup) => ({ ...backup, document: { ...backup.document, autoRotate: { rotateAfter: '1h', activateAfter: '2h' } } }),
    /^400/,
  ],
  ['derived without a salt', convergent, (backup) => ({ ...backup, kdf: undefined }), /^400/],
  ['a salt without derived', plain, (backup) => ({ ...backup, kdf: { salt: new Uint8Array(16), iterations: 1 } }), /^400/],
  ['a convergent secret missing', convergent, (backup) => version(backup, { convergent: undefined }), /^400/],
  ['an HMAC secret of another length', plain, (backup) => version(backup, { hmac: new Uint8Array(31) }), /^400/],
  ['a public key of another key', curve, (backup) => version(backup, { publicKey: backup.versions[1]?.publicKey }), /^400/],
  ['a public key on a symmetric key', plain, (backup) => version(backup, { publicKey: new Uint8Array(91) }), /^400/],
  ['private keys that are none', curve, (backup) => version(backup, { material: new Uint8Array(138) }), /^400/],
  ['a version older than the one before', plain, (backup) => version(backup, { createdAt: Number.MAX_SAFE_INTEGER }), /^400/],
  ['a salt of 1 octet', convergent, (backup) => ({ ...backup, kdf: { salt: new Uint8Array(1), iterations: 10_000 } }), /^400/],
  ['a salt of 15 octets', convergent, (backup) => ({ ...backup, kdf: { salt: new Uint8Array(15), iterations: 10_000 } }), /^400/],
  ['a salt of 65 octets', convergent, (backup) => ({ ...backup, kdf: { salt: new Uint8Array(65), iterations: 10_000 } }), /^400/],
  ['ten million iterations', convergent, (backup) => ({ ...backup, kdf: { salt: new Uint8Array(16), iterations: 1e7 } }), /^400/],
  ['a version of a year nobody writes', plain, (backup) => version(backup, { createdAt: 2 ** 53 - 1 }), /^400/],
  ['a version active before it was made', plain, (backup) => version(backup, { activatesAt: 0 }), /^400/],
  ['an EC key at infinity', curve, (backup) => version(backup, { publicKey: new Uint8Array(ecSpki('P-256', infinity)) }), /^400/],
  [
    'an EC key at infinity without its private part',
    curve,
    (backup) => version(backup, { publicKey: new Uint8Array(ecSpki('P-256', infinity)), material: undefined, hmac: undefined }),
    /^400/,
  ],
  ['a version without its private part', curve, (backup) => version(backup, { material: undefined, hmac: undefined }), /^400/],
  ['an OpenPGP key without its certificate', primary, (backup) => version(backup, { openpgp: undefined }), /^400/],
  ['a key that was an OpenPGP key', former, (backup) => backup, /^204/],
  ['a field of a later format', plain, (backup) => ({ ...backup, later: 1 }), /^400/],
  ['the truth', plain, (backup) => backup, /^204/],
];
test.each(contradictions)('%s', async (_title, which, change, expected) => {
  expect(await restore(change(originals[which] as Backup))).toMatch(expected);
  await harness.expectSound();
  await giveUp();
});

test('a key at version 2^31-1 works, and gets no version that nobody could read: 409 version-exhausted', async () => {
  const original = originals[plain] as Backup;
  const last = 2 ** 31 - 1;
  const versions = original.versions.map((one, index) => ({ ...one, version: last - 1 + index }));
  expect(await restore({ ...original, latest: last, floor: last - 1, versions })).toBe('204 ');
  harness.clock.advance(2 * 86_400);
  const { ciphertext } = await harness.do('target', 'encrypt', { plaintext: base64('x') });
  expect(ciphertext).toMatch(/^store:v2147483647:/);
  expect((await harness.do('target', 'decrypt', { ciphertext })).plaintext).toBe(base64('x'));
  await harness.refused(409, 'version-exhausted', 'target', 'rotate', {});
  await harness.refused(409, 'version-exhausted', 'target', 'import', { data: base64(new Uint8Array(32).fill(7)) });
  harness.clock.advance(200 * 86_400);
  await harness.runJobs();
  expect((await harness.state('target'))['latest-version']).toBe(last);
  await useEverything(harness, 'target');
  await harness.expectSound();
  await giveUp();
});
