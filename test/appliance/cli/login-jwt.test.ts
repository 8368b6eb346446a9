// A workload logs in from the command line with the token of its platform, from a file or the environment.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LastingClient } from '../../../appliance/cli/lasting/client.ts';
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

const sink = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });
const streams = () => ({ stdin: Readable.from([]), stdout: sink(), stderr: sink() });
const token = () => makeToken(signer, platformClaims.kubernetes(Math.floor(appliance.clock.now().epochMilliseconds / 1_000)));

test('issuer and role are made, tested, and explained; the login takes a file and a variable', async () => {
  writeFileSync(at('keys'), jwks(signer));
  const issuer = ['--issuer', 'https://kubernetes.default.svc.cluster.local', '--static-keys', `@${at('keys')}`];
  await ctl.json('create', 'jwt', 'cluster', '--kind', 'kubernetes', ...issuer);
  const bindings = JSON.stringify([{ claim: 'sub', value: 'system:serviceaccount:payments:app' }]);
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

test('a login that is renewed reads its file again, and keeps its token while that does not help', async () => {
  const profile = at('renewed.yaml');
  const environment = { KEYSTORED_TOKEN: '', KEYSTORED_PROFILE: profile, KEYSTORED_JWT: '' };
  const run = (...words: string[]) => ctl(words, { environment });
  const accessor = async () => (JSON.parse((await run('do', 'token', 'info')).stdout) as { accessor: string }).accessor;
  const beginAt = (from: string, until = '2100-01-01T00:00:00Z') =>
    writeFileSync(
      profile,
      readFileSync(profile, 'utf8')
        .replace(/from: .*/, `from: ${from}`)
        .replace(/until: .*/, `until: ${until}`),
    );
  writeFileSync(at('token'), token());
  const login = ['login', 'jwt', '--tenant', 'system', '--role', 'pay', '--renew'];
  expect((await run(...login)).stderr).toContain('--renew needs --jwt @FILE');
  expect((await run(...login, '--print', '--jwt', `@${at('token')}`)).stderr).toContain('exclude each other');
  expect(await run(...login, '--jwt', `@${at('token')}`)).toMatchObject({ code: 0 });
  expect(readFileSync(profile, 'utf8')).not.toContain(readFileSync(at('token'), 'utf8'));
  const first = await accessor();
  expect(await accessor()).toBe(first);

  beginAt('2020-01-01T00:00:00Z');
  writeFileSync(at('token'), 'expired');
  const kept = await run('do', 'token', 'info');
  expect([kept.code, JSON.parse(kept.stdout)]).toEqual([0, expect.objectContaining({ accessor: first })]);
  expect(kept.stderr).toContain('could not be renewed, and is used until it ends: 401 login-failed');
  beginAt('2020-01-01T00:00:00Z', '2020-01-01T00:00:00Z');
  expect(await run('do', 'token', 'info')).toMatchObject({ stdout: '', stderr: expect.stringContaining('login-failed') });

  writeFileSync(at('token'), token());
  const second = await accessor();
  expect([second === first, await accessor()]).toEqual([false, second]);
  expect(readFileSync(profile, 'utf8')).toContain(`jwt: ${at('token')}`);
  // A command that lives long learns by the refusal that its token has ended.
  const io = { environment: { ...environment, KEYSTORED_URL: appliance.url, KEYSTORED_CA: at('home', 'ca.pem') }, ...streams() };
  const lasting = new LastingClient({ connection: {}, io, userAgent: 'test', timeoutMs: 10_000, atOnce: 1 });
  const info = { method: 'POST', path: '/v1/state/keystore/token/info', body: {} };
  await lasting.ask(info);
  await appliance.request('POST', '/v1/state/keystore/token/disable', { accessor: second });
  const third = JSON.parse((await lasting.ask(info)).body.toString()) as { accessor: string };
  expect([third.accessor === second, await accessor()]).toEqual([false, third.accessor]);
  lasting.close();
  expect(await run('logout')).toMatchObject({ code: 0 });
  expect(readFileSync(profile, 'utf8')).not.toMatch(/again|token:/);
});
