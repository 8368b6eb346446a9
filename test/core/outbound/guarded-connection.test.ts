// Certificates of a provider or a store are judged before OpenSSL decodes them, and everything else is as without that.
import { createServer as createPlain } from 'node:http';
import { createServer, type ServerOptions } from 'node:https';
import { type AddressInfo, createServer as createSilent, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../core/base/time.ts';
import { openDestinations } from '../../../core/outbound/destinations.ts';
import { openOutbound } from '../../../core/outbound/outbound.ts';
import type { OutboundError } from '../../../core/outbound/outbound-error.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { explicitCurveCertificate, selfSignedIdentity } from '../../harness/tls.ts';

const path = temporaryDirectory();
const running: Server[] = [];
let identity: { readonly key: string; readonly cert: string };
let explicit: string;

beforeAll(() => {
  identity = selfSignedIdentity(path('.'));
  explicit = explicitCurveCertificate(path('.'));
});
afterAll(() => {
  for (const server of running) server.close();
});

const portOf = async (server: Server): Promise<number> => {
  running.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};
const large = 'x'.repeat(700_000);
const serve = (options: ServerOptions): Promise<number> =>
  portOf(createServer({ ...identity, ...options }, (_request, response) => response.end(large)));

/** The length of the answer, or the failure. */
async function ask(port: number, trusted = identity.cert): Promise<unknown> {
  const outbound = openOutbound({
    ...{ trust: { useRootCaCerts: false, caCerts: trusted }, allowHttpLoopback: false, clock: systemClock, callSeconds: 2 },
    destinations: openDestinations({ allow: [], deny: [] }, { ports: [], publicUrl: 'https://keys.test' }),
  });
  try {
    return (await (await outbound.fetch(`https://localhost:${port}/`)).text()).length;
  } catch (error) {
    const { kind, systemCode } = error as OutboundError;
    return `${kind} ${systemCode}`;
  }
}

describe.each<[name: string, options: ServerOptions]>([
  ['TLS 1.2', { maxVersion: 'TLSv1.2' }],
  ['TLS 1.3', {}],
  ['TLS 1.3 with another group', { ecdhCurve: 'P-384' }],
  ['TLS 1.3 with a request for a certificate', { requestCert: true, rejectUnauthorized: false }],
  ['TLS 1.2 with a request for a certificate', { maxVersion: 'TLSv1.2', requestCert: true, rejectUnauthorized: false }],
])('%s', (_name, options) => {
  test('a usual server is read to the end', async () => {
    expect(await ask(await serve(options))).toBe(large.length);
  });

  test('one whose chain has a curve that is written out, or many certificates, is refused', async () => {
    expect(await ask(await serve({ ...options, cert: `${identity.cert}\n${explicit}` }))).toBe('tls ERR_TLS_CERT_REFUSED');
    expect(await ask(await serve({ ...options, cert: `${identity.cert}\n`.repeat(9) }))).toBe('tls ERR_TLS_CERT_REFUSED');
  });

  test('one that is not trusted is named as before', async () => {
    expect(await ask(await serve(options), explicit)).toMatch(/^tls (?:DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE)$/);
  });
});

test('no server, one without TLS and one that says nothing are told apart', async () => {
  const gone = createSilent();
  const port = await portOf(gone);
  gone.close();
  expect(await ask(port)).toBe('unreachable ECONNREFUSED');
  expect(await ask(await portOf(createPlain((_request, response) => response.end())))).toMatch(/^tls (?:EPROTO|ERR_SSL_\w+)$/);
  expect(await ask(await portOf(createSilent()))).toMatch(/^timeout /);
});
