// The TypeScript client of a workload: it logs in with the token of its platform, and again with a fresh one.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client, jwtFromEnvironment, jwtFromFile, type Workload } from '../../../dist/clients/typescript/src/index.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { jwks, makeSigner, makeToken, platformClaims } from '../../plugins/jwt/tokens.ts';

const at = temporaryDirectory();
const signer = makeSigner('ES256', 'ec');
const file = at('token');
let appliance: TestAppliance;
let root: Client;
let ca: string;

beforeAll(async () => {
  mkdirSync(at('appliance'));
  appliance = await startTestAppliance({ directory: at('appliance') });
  ca = readFileSync(at('appliance', 'tls-cert.pem'), 'utf8');
  root = new Client({ address: appliance.url, ca, credentials: { token: appliance.rootToken } });
  const issuer = 'https://kubernetes.default.svc.cluster.local';
  await root.jwt.create({ name: 'cluster', kind: 'kubernetes', issuer, 'static-keys': jwks(signer) });
  const bindings = [{ claim: 'sub', value: 'system:serviceaccount:payments:app' }];
  await root.jwtRoles.create('cluster', { name: 'pay', audience: 'keystore', bindings, 'token-policies': ['root'], 'token-ttl': '3s' });
});
afterAll(() => appliance.close());

const token = () => makeToken(signer, platformClaims.kubernetes(Math.floor(appliance.clock.now().epochMilliseconds / 1_000)));
/** Time passes here and at the appliance. */
const pass = async (ms: number): Promise<void> => {
  await sleep(ms);
  appliance.clock.advance(ms / 1_000);
};
const clientOf = (jwt: Workload['jwt'], issuer?: string) =>
  new Client({ address: appliance.url, ca, credentials: { tenant: 'system', role: 'pay', issuer, jwt } });

test('it logs in by a file, keeps its token while the file is bad, and logs in by a fresh one', async () => {
  await root.jwtRoles.merge('cluster', 'pay', { 'token-max-ttl': '3s' });
  writeFileSync(file, `${token()}\n`);
  const client = clientOf(jwtFromFile(file), 'cluster');
  const first = await client.token.info({});
  expect(first).toMatchObject({ user: 'system:serviceaccount:payments:app', 'user-kind': 'workload' });
  writeFileSync(file, '');
  await pass(1_600);
  expect((await client.token.info({})).accessor).toBe(first.accessor);
  writeFileSync(file, token());
  await pass(1_100);
  const second = await client.token.info({});
  expect(second.accessor).not.toBe(first.accessor);
  await root.token.disable({ accessor: second.accessor });
  writeFileSync(file, ' \n');
  await expect(client.token.info({})).rejects.toThrow(`the file ${file} holds no token of the platform`);
  await expect(clientOf(jwtFromFile(at('none'))).token.info({})).rejects.toThrow('ENOENT');
  await expect(clientOf(() => 'wrong').token.info({})).rejects.toMatchObject({ status: 401, code: 'login-failed' });
});

test('it logs in by a variable of the environment', async () => {
  process.env['KEYSTORED_JWT'] = ` ${token()} `;
  expect(await clientOf(jwtFromEnvironment()).token.info({})).toMatchObject({ 'user-kind': 'workload' });
  delete process.env['KEYSTORED_JWT'];
  await expect(clientOf(jwtFromEnvironment()).token.info({})).rejects.toThrow('KEYSTORED_JWT of the environment holds no token');
});
