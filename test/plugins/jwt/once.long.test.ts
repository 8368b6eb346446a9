// A token that logs in once does so at a daemon with several workers, too, and is used up whatever ends the daemon.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Daemon, startDaemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { base } from './harness.ts';
import { jwks, makeSigner, makeToken } from './tokens.ts';

const at = temporaryDirectory();
const signer = makeSigner('ES256', 'first');
const iss = 'https://issuer.example';
let daemon: Daemon;

beforeAll(async () => {
  daemon = await startDaemon({ directory: at('data'), workers: 2 });
  await daemon.request('PUT', `${base}/stated`, { issuer: iss, 'static-keys': jwks(signer) });
  const role = { audience: 'keystore', bindings: [{ claim: 'sub', value: 'w' }], 'token-policies': ['root'], use: 'once' };
  await daemon.request('PUT', `${base}/stated/roles/once`, role);
});
afterAll(() => daemon.stop());

const token = (more: object): string => {
  const now = Math.floor(Date.now() / 1_000);
  return makeToken(signer, { iss, aud: 'keystore', sub: 'w', iat: now, exp: now + 600, ...more });
};
const login = (jwt: string) => daemon.exchange('POST', '/v1/jwt-login', { tenant: 'system', role: 'once', jwt }, null as never);

test.each([
  ['with jti', { jti: 'one' }],
  ['without jti', {}],
])('a token %s that is sent fifty times at once logs in once, and after the daemon was killed not again', async (_, claims) => {
  const jwt = token(claims);
  const answers = await Promise.all(Array.from({ length: 50 }, () => login(jwt)));
  const taken = answers.filter(({ status }) => status === 200);
  expect([taken.length, answers.filter(({ status }) => status === 401).length]).toEqual([1, 49]);
  await daemon.kill();
  daemon = await startDaemon({ directory: at('data'), workers: 2 });
  expect((await login(jwt)).status).toBe(401);
  // What it has got works on.
  expect((await daemon.exchange('POST', '/v1/state/keystore/token/info', {}, String(taken[0]?.body.token))).status).toBe(200);
  expect((await login(token({ jti: 'another' + JSON.stringify(claims) }))).status).toBe(200);
});
