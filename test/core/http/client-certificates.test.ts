// Certificates of TLS clients are judged before OpenSSL decodes their keys and verifies their signatures.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientAddressOf } from '../../../core/http/listener/client-address.ts';
import { listenHttps, type Listener } from '../../../core/http/listener/listeners.ts';
import { ask } from '../../harness/client.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';
import { type Identity, type KeyName, makeIdentity } from '../../plugins/ca/pki.ts';

const path = temporaryDirectory();
const said: unknown[] = [];
let listener: Listener;

beforeAll(async () => {
  const log = { debug() {}, info() {}, warn: (_text: string, more: unknown) => void said.push(more), error() {}, with: () => log };
  listener = await listenHttps({
    ...{ host: '127.0.0.1', port: 0, identity: selfSignedIdentity(path('.')), log },
    tls: { requestCert: true, rejectUnauthorized: false },
    handler(request, response) {
      let seen = 0;
      for (let one = (request.socket as TLSSocket).getPeerX509Certificate(); one !== undefined; one = one.issuerCertificate) seen++;
      const from = clientAddressOf(request);
      request.resume().once('end', () => response.end(JSON.stringify({ seen, from })));
    },
  });
});
afterAll(() => listener.close(0));

const versions = ['TLSv1.2', 'TLSv1.3'] as const;

/** A device's certificate and so many above it, the device's first. */
async function chainOf(length: number, key: KeyName): Promise<readonly Identity[]> {
  let issuer = await makeIdentity({ key, subject: 'CN=0', ca: true });
  const chain: Identity[] = [];
  for (let number = 1; number <= length; number++)
    chain.unshift((issuer = await makeIdentity({ key, subject: `CN=${number}`, issuer, ca: number < length })));
  return chain;
}

function sentBy(chain: readonly { readonly pem: string }[], key: string) {
  return { key, cert: chain.map(({ pem }) => `${pem}\n`).join('') };
}

/** The certificates that the server saw, or why there was no answer. */
async function seenOf(client: { key: string; cert: string } | undefined, maxVersion: (typeof versions)[number], body?: Buffer) {
  try {
    const { body: answer } = await ask(listener.url, '/', { client, maxVersion, ...(body === undefined ? {} : { method: 'POST', body }) });
    const { seen, from } = JSON.parse(answer as string) as { seen: number; from: string };
    expect(from).toBe('127.0.0.1');
    return seen;
  } catch (error) {
    return (error as Error).message;
  }
}

describe.each(versions)('%s', (version) => {
  test.each(['P-256', 'RSA-3072', 'Ed25519'] as const)('a device with seven certificates above its own is served: %s', async (key) => {
    const chain = await chainOf(8, key);
    expect(await seenOf(sentBy(chain, chain[0]?.keys.pem ?? ''), version)).toBe(8);
  });

  test('one more is refused, whatever their size, and said', async () => {
    const chain = await chainOf(9, 'P-256');
    said.length = 0;
    expect(await seenOf(sentBy(chain, chain[0]?.keys.pem ?? ''), version)).toMatch(/bad certificate/);
    const many = [...chain, ...Array.from({ length: 90 }, () => chain[1] as Identity)];
    expect(await seenOf(sentBy(many, chain[0]?.keys.pem ?? ''), version)).toMatch(/bad certificate|ECONNRESET|EPIPE/);
  });

  test('a curve that is written out is refused as that of the client and above it', async () => {
    const [device] = await chainOf(1, 'P-256');
    const [key, certificate] = [join(path('.'), 'explicit-key.pem'), join(path('.'), 'explicit.pem')];
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-pkeyopt', 'ec_param_enc:explicit'];
    execFileSync('openssl', ['req', '-x509', '-nodes', ...curve, '-subj', '/CN=0', '-keyout', key, '-out', certificate], {
      stdio: 'ignore',
    });
    const pem = readFileSync(certificate, 'utf8');
    expect(await seenOf(sentBy([device as Identity, { pem }], device?.keys.pem ?? ''), version)).toMatch(/bad certificate/);
  });

  test('who sends none is served, with a body of any size', async () => {
    expect(await seenOf(undefined, version)).toBe(0);
    expect(await seenOf(undefined, version, randomBytes(300_000))).toBe(0);
  });
});

test('the largest chain of ML-DSA is served', async () => {
  const chain = await chainOf(5, 'ML-DSA-87');
  expect(await seenOf(sentBy(chain, chain[0]?.keys.pem ?? ''), 'TLSv1.3')).toBe(5);
});
