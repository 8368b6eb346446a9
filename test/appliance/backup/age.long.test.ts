// The age file of a backup: what opens it and what does not, and that it is the format of others.
import { randomBytes } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { Decrypter, Encrypter, generateHybridIdentity, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { beforeAll, describe, expect, test } from 'vitest';
import { beginAge, openAge, type Opening, type Sealing } from '../../../appliance/backup/format/age.ts';
import { findRecipientProblem, readIdentityFile } from '../../../appliance/backup/format/recipients.ts';
import { BackupError } from '../../../appliance/backup/format/error.ts';
import { Secret } from '../../../core/base/secret.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const passphrase = new Secret('correct horse battery staple');
let identity: string;
let recipient: string;
let hybrid: string;
let hybridRecipient: string;

beforeAll(async () => {
  [identity, hybrid] = [await generateX25519Identity(), await generateHybridIdentity()];
  [recipient, hybridRecipient] = [await identityToRecipient(identity), await identityToRecipient(hybrid)];
});

async function* inPieces(content: Uint8Array, size = 1_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size);
}

async function seal(sealing: Sealing, content: Uint8Array): Promise<Buffer> {
  const file = await beginAge(sealing);
  const sealed = Buffer.concat(await Array.fromAsync(file.seal(inPieces(content))));
  expect(sealed.length).toBe(file.bytesFor(content.length));
  return sealed;
}

async function open(opening: Opening, sealed: Uint8Array): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(openAge(opening, inPieces(sealed, 777))));
}

const held = (): Opening => ({ identities: [new Secret(identity)] });

test.each([0, 1, 65_535, 65_536, 65_537, 200_000])('%i octets come back, and another implementation opens them', async (bytes) => {
  const content = randomBytes(bytes);
  const sealed = await seal({ recipients: [recipient] }, content);
  expect(await open(held(), sealed)).toEqual(content);
  const other = new Decrypter();
  other.addIdentity(identity);
  expect(Buffer.from(await other.decrypt(new Uint8Array(sealed)))).toEqual(content);
});

test('hybrid post-quantum recipients and passphrases work both ways with the other implementation', async () => {
  const content = randomBytes(70_000);
  expect(await open({ identities: [new Secret(hybrid)] }, await seal({ recipients: [hybridRecipient] }, content))).toEqual(content);
  const sealed = await seal({ passphrase }, content);
  expect(await open({ passphrase }, sealed)).toEqual(content);
  const [reader, writer] = [new Decrypter(), new Encrypter()];
  reader.addPassphrase('correct horse battery staple');
  expect(Buffer.from(await reader.decrypt(new Uint8Array(sealed)))).toEqual(content);
  writer.setPassphrase('correct horse battery staple');
  writer.setScryptWorkFactor(12);
  expect(await open({ passphrase }, await writer.encrypt(new Uint8Array(content)))).toEqual(content);
});

test('each of several recipients opens the file alone', async () => {
  const second = await generateX25519Identity();
  const sealed = await seal({ recipients: [recipient, await identityToRecipient(second)] }, randomBytes(10));
  for (const one of [identity, second]) expect((await open({ identities: [new Secret(one)] }, sealed)).length).toBe(10);
});

/** Made by age 1.3: echo "from age" | age -r RECIPIENT. */
test('a file that age made opens', async () => {
  const file = Buffer.from(vector.file, 'base64');
  expect((await open({ identities: [new Secret(vector.identity)] }, file)).toString()).toBe('from age\n');
});

describe('refused with the reason:', () => {
  test('another identity, a passphrase for recipients, an identity for a passphrase, a wrong passphrase', async () => {
    const other = await generateX25519Identity();
    const [forRecipient, forPassphrase] = [
      await seal({ recipients: [recipient] }, randomBytes(9)),
      await seal({ passphrase }, randomBytes(9)),
    ];
    await expect(open({ identities: [new Secret(other)] }, forRecipient)).rejects.toThrow(/none of the identities/);
    await expect(open({ passphrase }, forRecipient)).rejects.toThrow(/made for recipients: give the file of an identity/);
    await expect(open(held(), forPassphrase)).rejects.toThrow(/made under a passphrase/);
    await expect(open({ passphrase: new Secret('another one entirely') }, forPassphrase)).rejects.toThrow(/the passphrase is wrong/);
  });

  test('a file that is cut off anywhere, and one with any octet changed', async () => {
    const sealed = await seal({ recipients: [recipient] }, randomBytes(140_000));
    const ends = [0, 10, 100, 200, 230, 65_000, 65_784, 131_336, 131_337, sealed.length - 17, sealed.length - 16, sealed.length - 1];
    for (const end of ends) await expect(open(held(), sealed.subarray(0, end)), String(end)).rejects.toThrow(BackupError);
    for (let at = 0; at < sealed.length; at += 4_999) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await expect(open(held(), changed), String(at)).rejects.toThrow(BackupError);
    }
    await expect(open(held(), Buffer.concat([sealed, Buffer.from([0])]))).rejects.toThrow(/damaged or cut off/);
    const first = Buffer.from(sealed);
    first[400] = (first[400] ?? 0) ^ 1;
    await expect(open(held(), first)).rejects.toThrow(/^the backup is damaged or cut off$/);
  });

  test('a header of ten thousand recipients, one without an end, and a work factor that would take all memory', async () => {
    const stanza = `-> X25519 ${'A'.repeat(43)}\n${'B'.repeat(43)}\n`;
    const crowd = Buffer.from(`age-encryption.org/v1\n${stanza.repeat(10_000)}--- ${'C'.repeat(43)}\n`);
    await expect(open(held(), crowd)).rejects.toThrow(/damaged or too long/);
    await expect(open(held(), Buffer.alloc(1 << 20, 0x61))).rejects.toThrow(/damaged or too long/);
    const sealed = (await seal({ passphrase }, randomBytes(9))).toString('latin1');
    for (const [factor, why] of [
      ['30', /work factor of 30; at most 20/],
      ['021', /damaged/],
      ['-1', /damaged/],
      ['1e1', /damaged/],
    ] as const) {
      const costly = Buffer.from(sealed.replace(/^(-> scrypt \S+) 17$/m, `$1 ${factor}`), 'latin1');
      await expect(open({ passphrase }, costly)).rejects.toThrow(why);
    }
  });
});

test('a typing error in a recipient is named, and so are mixtures, repetitions and keys of plugins', async () => {
  expect(await findRecipientProblem([recipient])).toBeUndefined();
  expect(await findRecipientProblem([hybridRecipient])).toBeUndefined();
  const typo = recipient.replace(/.$/, (last) => (last === 'q' ? 'p' : 'q'));
  expect(await findRecipientProblem([recipient, typo])).toMatch(new RegExp(`^${typo.slice(0, 24)}….* checksum`));
  expect(await findRecipientProblem([recipient.slice(0, -1)])).toMatch(/checksum/);
  expect(await findRecipientProblem([recipient, hybridRecipient])).toMatch(/mixture/);
  expect(await findRecipientProblem([recipient, recipient])).toMatch(/twice/);
  expect(await findRecipientProblem([identity])).toMatch(/is not a recipient/);
  expect(await findRecipientProblem(['age1yubikey1qwt50d05nh5vutpdzmlg5wn80xq5negm4uj9ghv0snvdd3yysf5yw3rhl3t'])).toMatch(/plugin/);
  expect(await findRecipientProblem(['ssh-ed25519 AAAA'])).toMatch(/is not a recipient/);
});

test('a file of identities is read as age-keygen writes it, and not when others may read it, too', async () => {
  const write = (text: string, mode = 0o600): string => {
    writeFileSync(path('identity'), text);
    chmodSync(path('identity'), mode);
    return path('identity');
  };
  expect(await readIdentityFile(write(`# created: today\n# public key: ${recipient}\r\n${identity}\r\n\n${hybrid}\n`))).toHaveLength(2);
  await expect(readIdentityFile(write(identity, 0o640))).rejects.toThrow(/mode 640.*chmod 600/);
  await expect(readIdentityFile(write('# nothing\n'))).rejects.toThrow(/has no identity/);
  await expect(readIdentityFile(write('age-encryption.org/v1\n-> scrypt'))).rejects.toThrow(/itself encrypted/);
  const typo = identity.replace(/.$/, (last) => (last === 'Q' ? 'P' : 'Q'));
  await expect(readIdentityFile(write(typo))).rejects.toThrow(/identity 1 is malformed/);
  await expect(readIdentityFile(write(typo))).rejects.not.toThrow(typo);
});

const vector = {
  identity: 'AGE-SECRET-KEY-16557F3V6EQUCLQ4JZ6JK3M7ZS86K9RCQ5DURD7LKATZ6A0R6L7HQXH5FLA',
  file: 'YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBtVER3L25rYmRLWm81MGFKSEJNZkJDVjBBc2plMTFCaWdRdEhnV3JvZVVRCkc4NkR6eDJaLzRuVHFLVFRpMlhYUTMxNkZTNG5IUkFxQWh5YU8zSnYzNHcKLS0tIFF0QTdwRzNtS3MzK2hZaVowN3d3OUI2S1ovODM5WmxqR0ZuNll6VDVidUEKeZigSB0tbWVtYDrM1wZXV0/SYCprS6DNOkJQpJYuVltseZTaWtubw1o=',
};
