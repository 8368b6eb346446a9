// Our own mistake: a raw signature over a document, the octet 00 and a time was an OpenPGP signature of version 3, which gpg calls good.
import { execFileSync, spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { startVictim, type Victim } from '../victim.ts';

const temporary = temporaryDirectory();
const keyState = '/v1/state/keystore/transit-keys';
const document = Buffer.from('release 6.6.6\n');
let victim: Victim;
let signer: string;
let publisher: string;

beforeAll(async () => {
  victim = await startVictim();
  for (const [name, cipher] of [
    ['release', 'rsa-2048'],
    ['release-p256', 'ecdsa-p256'],
  ])
    await victim.request('POST', '/v1/config/keystore/transit-keys', { name, cipher, 'openpgp-user-id': 'Releases <r@example.com>' });
  await victim.request('POST', '/v1/config/keystore/transit-keys', { name: 'plain', cipher: 'rsa-2048' });
  await victim.makePolicy('sign-alone', [{ path: `${keyState}/*/sign`, operations: { execute: 'allow' } }]);
  signer = await victim.makeToken(['sign-alone']);
  await victim.makePolicy('publish', [{ path: `${keyState}/release/openpgp-sign`, operations: { execute: 'allow' } }]);
  publisher = await victim.makeToken(['sign-alone', 'publish']);
});

/** What version 3 hashes behind the document (RFC 4880 section 5.2.2): type and time. */
const tail = (type: number, seconds = Math.floor(Date.now() / 1_000)): Buffer => {
  const octets = Buffer.alloc(5);
  octets[0] = type;
  octets.writeUInt32BE(seconds, 1);
  return octets;
};

const signed = (name: string, text: Uint8Array, token = signer) =>
  victim.request('POST', `${keyState}/${name}/sign`, { text: Buffer.from(text).toString('base64'), 'hash-algorithm': 'sha256' }, { token });

/** The signature packet of a raw RSA signature. */
function packetOf(text: Uint8Array, ending: Uint8Array, keyId: Uint8Array, signature: Buffer): Buffer {
  const digest = hash('sha256', text, 'buffer');
  const body = Buffer.concat([Buffer.of(3, 5), ending, keyId, Buffer.of(1, 8), digest.subarray(0, 2), Buffer.of(8, 0, ...signature)]);
  return Buffer.concat([Buffer.of(0x89, body.length >> 8, body.length & 0xff), body]);
}

test('who may openpgp-sign makes one that gpg takes, so the recipe is right', async () => {
  const home = temporary('gpg');
  mkdirSync(home, { mode: 0o700 });
  const { body } = await victim.request('POST', `${keyState}/release/export-openpgp-public`, {});
  const gpg = (...args: string[]) => spawnSync('gpg', ['--homedir', home, '--batch', '--no-autostart', ...args], { encoding: 'utf8' });
  const at = (name: string, content: string | Uint8Array): string => {
    const path = temporary(name);
    writeFileSync(path, content);
    return path;
  };
  gpg('--import', at('public.asc', body.keys[0].keyblock));
  const [, fingerprint = ''] =
    /^fpr:+([0-9A-F]+):/m.exec(execFileSync('gpg', ['--homedir', home, '--batch', '-k', '--with-colons'], { encoding: 'utf8' })) ?? [];
  // An MPI has as many bits as its first octet: one in two signatures of 2,048 bits begins with a set bit.
  for (let back = 0; back < 60; back++) {
    const ending = tail(0, Math.floor(Date.now() / 1_000) + 1 - (back % 2));
    const text = Buffer.concat([document, Buffer.alloc(back, 'x'), ending]);
    const answer = await signed('release', text, publisher);
    expect(answer.status).toBe(200);
    const signature = Buffer.from(String(answer.body.signature).split(':')[2] as string, 'base64');
    if ((signature[0] as number) < 0x80) continue;
    const packet = packetOf(text, ending, Buffer.from(fingerprint.slice(-16), 'hex'), signature);
    const { status, stderr } = gpg('--verify', at('signature', packet), at('document', text.subarray(0, -5)));
    expect([status, stderr]).toEqual([0, expect.stringContaining('Good signature from "Releases')]);
    return;
  }
  throw new Error('no signature of 2,048 bits');
});

test.each(['release', 'release-p256'])('who may only sign makes none with %s, alone or in a batch', async (name) => {
  for (const text of [Buffer.concat([document, tail(0)]), Buffer.concat([document, tail(1)]), tail(0), tail(2)]) {
    const { status, body } = await signed(name, text);
    expect([status, body.code, body.detail]).toEqual([403, 'policy-denied', expect.stringContaining('openpgp-sign')]);
    const items = [{ text: text.toString('base64') }, { text: document.toString('base64') }];
    const batch = await victim.request('POST', `${keyState}/${name}/sign-batch`, { 'batch-input': items }, { token: signer });
    expect(batch.body['batch-results'].map(({ code }: { code?: string }) => code)).toEqual(['policy-denied', undefined]);
  }
});

test('ordinary texts are signed, and all texts by a key without a role', async () => {
  for (const text of [document, tail(2).subarray(1), Buffer.concat([document, tail(2)])])
    expect((await signed('release', text)).status).toBe(200);
  expect((await signed('plain', Buffer.concat([document, tail(0)]))).status).toBe(200);
});

test('policy/check names the right that such a text needs', async () => {
  const { body } = await victim.request(
    'POST',
    '/v1/state/policy/check',
    { path: `${keyState}/release/sign`, operation: 'execute' },
    { token: signer },
  );
  expect(body['also-needs']).toContainEqual({ field: 'text', operation: 'execute', path: `${keyState}/release/openpgp-sign` });
});
