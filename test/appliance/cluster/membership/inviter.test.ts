// What an appliance that joins says of a member that does not answer.
import { once } from 'node:events';
import { hash, X509Certificate } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { askForAdmission } from '../../../../appliance/cluster/membership/inviter.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { explicitCurveCertificate, selfSignedIdentity } from '../../../harness/tls.ts';

const temporary = temporaryDirectory();
const joiner = { appliance: 'x', name: 'b', address: '192.0.2.12', peerRequest: new Uint8Array(), clientRequest: new Uint8Array() };
afterEach(() => vi.restoreAllMocks());

/** Asks a member that answers as `answers` does, with certificates `above` its own. */
async function askOne(answers: RequestListener, above = ''): Promise<unknown> {
  const identity = selfSignedIdentity(temporary());
  const server = createHttpsServer({ ...identity, cert: `${identity.cert}${above}` }, answers).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const authority = hash('sha256', new X509Certificate(identity.cert).raw, 'hex');
  certificate = identity.cert;
  try {
    return await askForAdmission({ url, authority, secret: 'x'.repeat(43) }, joiner);
  } finally {
    server.close();
  }
}
let certificate: string;

const cutOff = JSON.stringify({ errors: [{ 'error-message': 'The cluster has no majority.' }] });

test.each([503, 502, 404, 429])(
  'one that answers %i where its CA is does not answer yet, and is no other machine: it is waited for',
  async (status) => {
    let asked = 0;
    const refused = askOne(({ url }, response) => {
      if (url === '/v1/ca/system/appliance/ca.pem' && asked++ > 0) response.end(certificate);
      else response.writeHead(asked > 1 ? 403 : status).end(asked > 1 ? JSON.stringify({ detail: 'It was used.' }) : cutOff);
    });
    await expect(refused).rejects.toMatchObject({ kind: 'refused', reason: 'It was used.' });
    expect(asked).toBe(2);
  },
);

test('one that does not answer in time is named with its status and its reason, and another certificate is another machine at once', async () => {
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 20_000));
  await expect(askOne((_, response) => void response.writeHead(503).end(cutOff))).rejects.toMatchObject({
    kind: 'unreachable',
    reason: expect.stringContaining('it does not answer yet (status 503: The cluster has no majority)'),
  });
  await expect(askOne((_, response) => void response.end(selfSignedIdentity(temporary()).cert))).rejects.toMatchObject({
    reason: expect.stringContaining('another machine may answer there'),
  });
});

test('the certificates of one are judged before they are decoded', async () => {
  const refused = askOne((_, response) => void response.end(), explicitCurveCertificate(temporary()));
  await expect(refused).rejects.toMatchObject({ kind: 'unreachable', reason: expect.stringContaining('refused before it was read') });
});

test('of one that takes the connection and says nothing, the reason names how long was waited', async () => {
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout(50));
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await expect(askForAdmission({ url, authority: 'ab'.repeat(32), secret: 'x'.repeat(43) }, joiner)).rejects.toMatchObject({
    kind: 'unreachable',
    reason: 'it did not answer within 60 seconds',
  });
  server.close();
});
