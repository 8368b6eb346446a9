// OCSP beyond the plain question: nonces, several certificates at once, certificates of others, and the limit on signatures for unauthenticated callers.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { explicit, nullValue, objectIdentifier, octetString, Reader, readOnly, sequence, tag } from '../../../core/der/der.ts';
import { ask as send } from '../../harness/client.ts';
import { type EstAppliance, startEstAppliance } from '../est/est-appliance.ts';
import { file, openssl } from '../est/openssl.ts';
import { makeCsr, makeIdentity, makeKeys } from './pki.ts';

const malformed = '30030a0101';
const tryLater = '30030a0103';
const unauthorized = '30030a0106';

let appliance: EstAppliance;
let at: (name: string) => string;
let ca: string;
let url: string;
/** paths of PEM files */
let issuer: string;
let leaves: string[];

beforeAll(async () => {
  appliance = await startEstAppliance();
  at = (name) => join(appliance.directory, name);
  ca = await appliance.makeCa({});
  const { 'ocsp-url': ocspUrl, 'ca-cert': caCert } = await appliance.state(ca);
  url = new URL(ocspUrl).pathname;
  issuer = file(at('issuer.pem'), caCert);
  leaves = [await issueLeaf('a'), await issueLeaf('b')];
});

async function issueLeaf(name: string): Promise<string> {
  const request = await makeCsr({ keys: await makeKeys('P-256'), subject: `CN=${name}` });
  const csr = `-----BEGIN CERTIFICATE REQUEST-----\n${request.toString('base64')}\n-----END CERTIFICATE REQUEST-----`;
  return file(at(`${name}.pem`), (await appliance.act(ca, 'sign-csr', { csr })).body.certificate);
}

/** DER of a request by openssl, for certificates and for whatever else its options name. */
function makeRequest(certificates: readonly string[], ...more: readonly string[]): Buffer {
  const asked = certificates.flatMap((certificate) => ['-cert', certificate]);
  const made = openssl('ocsp', '-issuer', issuer, ...asked, '-reqout', at('request.der'), ...more);
  expect(made.code, made.output).toBe(0);
  return readFileSync(at('request.der'));
}

async function ask(body: Uint8Array, from?: string): Promise<Buffer> {
  const headers = { 'Content-Type': 'application/ocsp-request' };
  return (await send(appliance.url, url, { method: 'POST', body: Buffer.from(body), headers, from })).octets;
}

/** What openssl says of a response to a request, its signature and nonce included; `-no_nonce`: no other than the request has. */
function judge(request: Buffer, response: Buffer, ...asked: readonly string[]): string {
  const [sent, received] = [file(at('sent.der'), request), file(at('received.der'), response)];
  return openssl('ocsp', '-reqin', sent, '-respin', received, '-issuer', issuer, ...asked, '-CAfile', issuer, '-no_nonce').output;
}

/** The request with a nonce of these octets. */
function withNonce(request: Buffer, nonce: Uint8Array): Uint8Array {
  const list = new Reader(readOnly(request, tag.sequence).enter(tag.sequence).remaining).next(tag.sequence).whole;
  const extension = sequence(objectIdentifier('1.3.6.1.5.5.7.48.1.2'), octetString(octetString(nonce)));
  return sequence(sequence(list, explicit(2, sequence(extension))));
}

describe('nonces (RFC 9654)', () => {
  test('a nonce comes back, and makes an answer of its own', async () => {
    const request = makeRequest(leaves.slice(0, 1));
    const response = await ask(request);
    const judged = judge(request, response, '-cert', leaves[0] ?? '');
    expect(judged).toMatch(/: good$/m);
    expect(judged).toMatch(/^Response verify OK$/m);
    expect(judged).not.toMatch(/Nonce Verify error|no nonce in response/);
    expect(judge(makeRequest(leaves.slice(0, 1)), response)).toMatch(/Nonce Verify error/i);
  });

  test('of 1 to 128 octets; none and more are malformed', async () => {
    const plain = makeRequest(leaves.slice(0, 1), '-no_nonce');
    for (const length of [1, 32, 128]) {
      const nonce = Buffer.alloc(length, 0x5a);
      expect((await ask(withNonce(plain, nonce))).includes(nonce), String(length)).toBe(true);
    }
    for (const length of [0, 129]) expect((await ask(withNonce(plain, Buffer.alloc(length)))).toString('hex')).toBe(malformed);
  });
});

/** Changes the algorithm of the only CertID. */
function withAlgorithm(request: Buffer, ...algorithm: readonly Uint8Array[]): Uint8Array {
  const asked = readOnly(request, tag.sequence).enter(tag.sequence).enter(tag.sequence).enter(tag.sequence).enter(tag.sequence);
  asked.next(tag.sequence);
  return sequence(sequence(sequence(sequence(sequence(sequence(...algorithm), asked.remaining)))));
}

/** The same question without the NULL behind the name of its hash. */
function withoutNull(request: Buffer): Buffer {
  const asked = readOnly(request, tag.sequence).enter(tag.sequence).enter(tag.sequence).enter(tag.sequence).enter(tag.sequence);
  return Buffer.from(withAlgorithm(request, asked.enter(tag.sequence).next(tag.oid).whole));
}

describe('the shared answer', () => {
  const sha1 = objectIdentifier('1.3.14.3.2.26');

  test('repeats the octets of the CertID of each who asks, whether the hash has a NULL behind its name or nothing', async () => {
    const plain = makeRequest(leaves.slice(1), '-no_nonce');
    for (const algorithm of [[sha1, nullValue], [sha1], [sha1, nullValue]]) {
      const request = withAlgorithm(plain, ...algorithm);
      const certId = new Reader(
        new Reader(readOnly(request, tag.sequence).enter(tag.sequence).enter(tag.sequence).remaining).enter(tag.sequence).remaining,
      );
      expect(Buffer.from(await ask(request)).includes(certId.next(tag.sequence).whole)).toBe(true);
    }
    for (const odd of [
      [sha1, octetString(Uint8Array.of(1))],
      [sha1, nullValue, nullValue],
      [sha1, Uint8Array.of(5, 1, 0)],
    ])
      expect((await ask(withAlgorithm(plain, ...odd))).toString('hex')).toBe(malformed);
  });
});

describe('several certificates in one request (RFC 6960 section 4.1.1)', () => {
  test('each gets its status, under one signature', async () => {
    const revoked = await issueLeaf('revoked');
    const serial = openssl('x509', '-in', revoked, '-noout', '-serial').output.trim().split('=')[1];
    expect((await appliance.act(ca, 'revoke', { serial, reason: 'key-compromise' })).status).toBe(200);
    const all = [...leaves, revoked];
    const never = ['-serial', '0x0123456789abcdef'];
    const request = makeRequest(all, ...never, '-no_nonce');
    const judged = judge(request, await ask(request), ...all.flatMap((certificate) => ['-cert', certificate]), ...never);
    expect(judged).toMatch(/^Response verify OK$/m);
    expect([...judged.matchAll(/: (good|revoked|unknown)$/gm)].map(([, status]) => status)).toEqual(['good', 'good', 'revoked', 'unknown']);
    expect(judged).toMatch(/Reason: keyCompromise/);
  });

  test('one of another issuer among them, or alone: unauthorized', async () => {
    const other = file(at('other.pem'), (await makeIdentity({ subject: 'CN=Other', ca: true })).pem);
    const mixed = makeRequest(leaves.slice(0, 1), '-issuer', other, '-cert', leaves[1] ?? '');
    expect((await ask(mixed)).toString('hex')).toBe(unauthorized);
    openssl('ocsp', '-issuer', other, '-serial', '1', '-reqout', at('request.der'));
    expect((await ask(readFileSync(at('request.der')))).toString('hex')).toBe(unauthorized);
  });
});

describe('signatures for unauthenticated callers', () => {
  test('is limited: then a nonce is left out, other questions may come later, and plain ones are answered as ever', async () => {
    const plain = makeRequest(leaves.slice(0, 1), '-no_nonce');
    const shared = await ask(plain);
    const nonce = Buffer.alloc(16, 0x5b);
    const asked = withNonce(plain, nonce);
    // The clock of the appliance stands still: what is used up stays so.
    const isSigned = async (): Promise<boolean> => (await ask(asked)).includes(nonce);
    while (await isSigned());
    expect((await ask(asked, '127.0.0.2')).includes(nonce)).toBe(true);
    expect((await ask(asked)).equals(shared)).toBe(true);
    expect((await ask(plain)).equals(shared)).toBe(true);
    expect((await ask(makeRequest(leaves, '-no_nonce'))).toString('hex')).toBe(tryLater);
    appliance.clock.advance(1);
    expect(await isSigned()).toBe(true);
  });

  test('plain ones are limited by address, as long as no answer is kept', async () => {
    for (let count = 0; count < 25; count++) leaves.push(await issueLeaf(`many-${count}`));
    const hashes = ['-sha1', '-sha256', '-sha384', '-sha512'];
    const questions = leaves.flatMap((leaf) =>
      hashes.flatMap((hash) => {
        openssl('ocsp', hash, '-issuer', issuer, '-cert', leaf, '-reqout', at('request.der'), '-no_nonce');
        const request = readFileSync(at('request.der'));
        return [request];
      }),
    );
    // Each is a question of its own; two hundred are signed at once.
    const more = questions.map((question) => withoutNull(question));
    const all = [...questions, ...more];
    const answers: string[] = [];
    for (const question of all) answers.push((await ask(question, '127.0.0.3')).toString('hex'));
    const refused = answers.indexOf(tryLater);
    expect(refused).toBeGreaterThanOrEqual(200);
    expect(answers.slice(refused).every((answer) => answer === tryLater)).toBe(true);
    expect((await ask(all[refused] as Buffer, '127.0.0.4')).toString('hex')).not.toBe(tryLater);
    expect((await ask(all[refused] as Buffer, '127.0.0.3')).toString('hex')).not.toBe(tryLater);
  });

  test('none of them, and no revocation list that somebody asks for, takes time of the tenant', async () => {
    const { hsm, tenantId } = appliance;
    const leaf = await issueLeaf('charged');
    const serial = openssl('x509', '-in', leaf, '-noout', '-serial').output.trim().replace('serial=', '');
    expect((await appliance.act(ca, 'revoke', { serial })).status).toBe(200);
    const [ofTenant, ofAnybody] = [hsm.timeOf(tenantId), hsm.timeOf('anybody')];
    expect((await ask(makeRequest([leaf], '-nonce'), '127.0.0.5')).toString('hex')).not.toBe(tryLater);
    expect((await ask(makeRequest([leaf], '-no_nonce'), '127.0.0.5')).toString('hex')).not.toBe(tryLater);
    const afterOcsp = hsm.timeOf('anybody');
    expect(afterOcsp).toBeGreaterThan(ofAnybody);
    expect((await send(appliance.url, url.replace('/ocsp', '/crl'))).status).toBe(200);
    expect(hsm.timeOf('anybody')).toBeGreaterThan(afterOcsp);
    expect(hsm.timeOf(tenantId)).toBe(ofTenant);
  });

  test('a question that many ask at once is signed once', async () => {
    const request = makeRequest([await issueLeaf('asked-often')], '-no_nonce');
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(request)));
    // ECDSA signatures of the same answer differ.
    expect(new Set(answers.map((answer) => answer.toString('hex'))).size).toBe(1);
  });
});

test('an answer that was signed while the clock was ahead is not given when it is right', async () => {
  const dates = async (): Promise<number> => {
    const request = makeRequest(leaves.slice(0, 1), '-no_nonce');
    const text = openssl('ocsp', '-respin', file(at('dated.der'), await ask(request)), '-noverify', '-resp_text').output;
    return Date.parse(/This Update: (.*)/.exec(text)?.[1] ?? '');
  };
  appliance.clock.advance(86_400 * 20);
  expect(await dates()).toBeGreaterThan(appliance.clock.now().epochMilliseconds - 60_000);
  await appliance.setBack(86_400 * 20);
  expect(await dates()).toBeLessThanOrEqual(appliance.clock.now().epochMilliseconds);
});
