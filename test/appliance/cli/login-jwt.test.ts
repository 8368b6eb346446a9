// A workload logs in from the command line with the token of its platform, from a file or the environment.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { jwks, makeSigner, makeToken, platformClaims } from '../../plugins/jwt/tokens.ts';
import { ctlFor, type Ctl } from './run.ts';
import { startWholeAppliance } from './whole-appliance.ts';
import type { TestAppliance } from '../../harness/appliance.ts';

const at = temporaryDirectory();
const signer = makeSigner('ES256', 'ec');
let appliance: TestAppliance;
let ctl: Ctl;

beforeAll(async () => {
  for (const name of ['appliance', 'home']) mkdirSync(at(name));
  appliance = await startWholeAppliance(at('appliance'));
  ctl = ctlFor(appliance, readFileSync(at('appliance', 'tls-cert.pem'), 'utf8'), at('home'));
});
afterAll(() => appliance.close());

const token = () => makeToken(signer, platformClaims.kubernetes(Math.floor(appliance.clock.now().epochMilliseconds / 1_000)));

test('issuer and role are made, tested, and explained; the login takes a file and a variable', async () => {
  writeFileSync(at('keys'), jwks(signer));
  const issuer = ['--issuer', 'https://kubernetes.default.svc.cluster.local', '--static-keys', `@${at('keys')}`];
  await ctl.json('create', 'jwt', 'cluster', '--kind', 'kubernetes', ...issuer);
  const bindings = JSON.stringify([{ claim: 'sub', equals: 'system:serviceaccount:payments:app' }]);
  await ctl.json('create', 'jwt-roles', 'cluster', 'pay', '--audience', 'keystore', '--token-policies', 'user', '--bindings', bindings);
  expect(await ctl.json('do', 'jwt', 'cluster', 'test')).toMatchObject({ usable: true, keys: [{ kid: 'ec' }] });
  writeFileSync(at('token'), `${token()}\n`);
  expect(await ctl.json('do', 'jwt', 'cluster', 'explain', '--jwt', `@${at('token')}`)).toMatchObject({ outcome: 'accepted' });
  const login = ['login', 'jwt', '--tenant', 'system', '--role', 'pay', '--print'];
  const printed = [await ctl([...login, '--jwt', `@${at('token')}`]), await ctl(login, { environment: { KEYSTORED_JWT: token() } })];
  for (const { code, stdout, stderr } of printed) {
    expect([code, stderr]).toEqual([0, '']);
    const info = await appliance.request('POST', '/v1/state/keystore/token/info', {}, { token: stdout.trim() });
    expect(info.body).toMatchObject({ user: 'system:serviceaccount:payments:app', 'user-kind': 'workload', policies: ['user'] });
  }
  const missing = await ctl(login);
  expect([missing.code === 0, missing.stderr]).toEqual([false, expect.stringContaining('KEYSTORED_JWT in the environment')]);
});
