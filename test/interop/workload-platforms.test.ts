// The snippets of docs/use/jwt.md as people copy them, run by bash, curl, jq, keystorectl and spiffe-helper, with tokens of the shape of each
// platform from an issuer with metadata and key set.
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { must, requireToolchain } from '../clients/commands.ts';
import { obtainGo, onlyThisGo } from '../clients/go/toolchain.ts';
import { versions } from '../clients/versions.ts';
import type { TestAppliance } from '../harness/appliance.ts';
import { blocksOf } from '../harness/markdown.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { selfSignedIdentity } from '../harness/tls.ts';
import { ctlFor, type Ctl } from '../appliance/cli/run.ts';
import { startWholeAppliance } from '../appliance/cli/whole-appliance.ts';
import { startIssuer, type IssuerServer } from '../plugins/jwt/harness.ts';
import { makeSigner, makeToken, platformClaims, type Json } from '../plugins/jwt/tokens.ts';
import { startWorkloadApi } from './platforms/workload-api.ts';

const at = temporaryDirectory();
const audience = 'https://keystore.example.com';
let appliance: TestAppliance;
let ctl: Ctl;
let issuer: IssuerServer;
let trust: string;

beforeAll(async () => {
  for (const name of ['appliance', 'home', 'issuer', 'github', 'volume', 'svid', 'bin']) mkdirSync(at(name));
  appliance = await startWholeAppliance(at('appliance'));
  const ca = readFileSync(at('appliance', 'tls-cert.pem'), 'utf8');
  ctl = ctlFor(appliance, ca, at('home'));
  issuer = await startIssuer(at('issuer'));
  trust = at('trust.pem');
  writeFileSync(trust, ca);
  const command = [process.execPath, join(import.meta.dirname, '../../appliance/cli/keystorectl.ts')];
  writeFileSync(at('bin', 'keystorectl'), `#!/bin/sh\nexec ${command.join(' ')} "$@"\n`, { mode: 0o755 });
});
afterAll(async () => {
  await issuer.close();
  await appliance.close();
});

/** Another key for each, so that no key set is taken for that of another. */
beforeEach(() => {
  issuer.signer = makeSigner('RS256', `key-${Math.random()}`);
  issuer.keys = undefined;
});

const now = () => Math.floor(appliance.clock.now().epochMilliseconds / 1_000);

/** Blocks of one language in a section of the page. */
function blocks(section: string, language: string): readonly string[] {
  return blocksOf('appliance/docs/use/jwt.md', `## ${section}`).flatMap((one) => (one.language === language ? [one.text] : []));
}

/** Makes issuer and role, with `iss` as tokens of the simulated platform have it. */
async function trustPlatform(
  kind: string,
  bindings: readonly Json[],
  issuerFields: readonly string[] = ['--issuer', issuer.origin],
): Promise<void> {
  writeFileSync(at(`${kind}.pem`), issuer.ca);
  const keys = ['--use-root-ca-certs', 'false', '--ca-certs', `@${at(`${kind}.pem`)}`];
  await ctl.json('create', 'jwt', kind, '--kind', kind, ...issuerFields, ...keys);
  const role = ['--audience', audience, '--token-policies', 'user', '--token-ttl', '1h', '--bindings', JSON.stringify(bindings)];
  await ctl.json('create', 'jwt-roles', kind, kind, ...role);
}

/** Runs lines of a snippet, whose tenant and role are those of a reader, as the platform does. */
function bash(script: string, kind: string, environment: Readonly<Record<string, string>>) {
  const adapted = script.replace('tenant: "acme"', 'tenant: "system"').replace('role: "deploy"', `role: "${kind}"`);
  const env = { PATH: process.env['PATH'], CURL_CA_BUNDLE: trust, KEYSTORE: appliance.url, ...environment };
  return promisify(execFile)('bash', ['-e', '-o', 'pipefail', '-c', adapted], { env });
}

/** Runs commands with keystorectl, as an administrator unless the environment says another; a command that waits for ever is stopped. */
function shell(script: string, environment: Readonly<Record<string, string>> = {}) {
  const own = { PATH: `${at('bin')}:${process.env['PATH']}`, HOME: at('home'), KEYSTORED_URL: appliance.url };
  const env = { ...own, KEYSTORED_CA: at('home', 'ca.pem'), KEYSTORED_TOKEN: appliance.rootToken, ...environment };
  return promisify(execFile)('bash', ['-e', '-c', script], { env, timeout: 60_000 });
}

async function userOf(token: string): Promise<unknown> {
  return (await appliance.request('POST', '/v1/state/keystore/token/info', {}, { token })).body;
}

test('the step for GitHub Actions asks for a token with the audience, logs in, and hides what it got', async () => {
  await trustPlatform('github', [
    { claim: 'repository_id', value: '456789' },
    { claim: 'repository_owner_id', value: '123456' },
    { claim: 'ref', value: 'refs/heads/main' },
    { claim: 'ref_type', value: 'branch' },
    { claim: 'event_name', value: 'push' },
  ]);
  const identity = selfSignedIdentity(at('github'));
  const service = createServer({ key: identity.key, cert: identity.cert }, (request, response) => {
    const asked = new URL(request.url ?? '', 'https://service').searchParams;
    const claims = { ...platformClaims.github(now()), iss: issuer.origin, aud: asked.get('audience') };
    const isRunner = request.headers.authorization === 'Bearer runner-secret';
    response.writeHead(isRunner ? 200 : 401).end(isRunner ? JSON.stringify({ count: 1, value: makeToken(issuer.signer, claims) }) : '');
  });
  await new Promise<void>((done) => service.listen(0, '127.0.0.1', done));
  writeFileSync(trust, identity.cert, { flag: 'a' });
  const [workflow = ''] = blocks('GitHub Actions', 'yaml');
  const { permissions, steps } = (parse(workflow) as { jobs: { deploy: { permissions: Json; steps: { env: Json; run: string }[] } } }).jobs
    .deploy;
  expect(permissions).toMatchObject({ 'id-token': 'write' });
  const step = steps.find(({ run }) => run.includes('ACTIONS_ID_TOKEN_REQUEST_URL'));
  const file = at('github', 'env');
  const url = `https://localhost:${(service.address() as AddressInfo).port}/token?api-version=2.0`;
  const runner = { ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'runner-secret', ACTIONS_ID_TOKEN_REQUEST_URL: url, GITHUB_ENV: file };
  const environment = { ...runner, AUDIENCE: String(step?.env['AUDIENCE']) };
  const { stdout } = await bash(step?.run ?? '', 'github', environment);
  const [, token = ''] = /^KEYSTORE_TOKEN=(.+)\n$/.exec(readFileSync(file, 'utf8')) ?? [];
  expect(stdout).toBe(`::add-mask::${token}\n`);
  expect(await userOf(token)).toMatchObject({ user: 'repo:acme@123456/app@456789:ref:refs/heads/main', 'user-kind': 'workload' });
  // A step whose login is refused ends there.
  await expect(bash(step?.run ?? '', 'github', { ...environment, AUDIENCE: 'another' })).rejects.toMatchObject({ code: 22 });
  service.close();
});

test('the job for GitLab logs in with the token of its variable, once', async () => {
  await trustPlatform('gitlab', [
    { claim: 'project_id', value: '20' },
    { claim: 'ref_protected', value: 'true' },
    { claim: 'ref_type', value: 'branch' },
    { claim: 'ref', value: 'main' },
  ]);
  const [snippet = ''] = blocks('GitLab CI', 'yaml');
  const job = (parse(snippet) as { deploy: { id_tokens: Record<string, { aud: string }>; script: string[] } }).deploy;
  const [[variable, { aud }] = ['', { aud: '' }]] = Object.entries(job.id_tokens);
  const jwt = makeToken(issuer.signer, { ...platformClaims.gitlab(now()), iss: issuer.origin, aud });
  const script = `${job.script.join('\n')}\nprintf %s "$KEYSTORE_TOKEN"`;
  const { stdout } = await bash(script, 'gitlab', { [variable]: jwt });
  expect(await userOf(stdout)).toMatchObject({ user: 'project_path:my-group/my-project:ref_type:branch:ref:main' });
  await expect(bash(script, 'gitlab', { [variable]: jwt })).rejects.toMatchObject({ code: 22 });
});

/** Writes a file as the kubelet does: a folder of its own, and a link that is replaced. */
function project(folder: string, name: string, text: string): void {
  const version = `..${Math.random()}`;
  mkdirSync(at(folder, version));
  writeFileSync(at(folder, version, name), text, { mode: 0o640 });
  symlinkSync(version, at(folder, '..data_tmp'));
  renameSync(at(folder, '..data_tmp'), at(folder, '..data'));
  if (folder === 'volume' && !linked) symlinkSync(`..data/${name}`, at(folder, name));
  linked = true;
}
let linked = false;

test('a pod of Kubernetes logs in with its projected token, and again with the one that the kubelet puts there', async () => {
  await trustPlatform(
    'kubernetes',
    [
      { claim: 'sub', value: 'system:serviceaccount:payments:app' },
      { claim: '/kubernetes.io/serviceaccount/uid', value: '14ee3fa4-a7e2-420f-9f9a-dbc4507c3798' },
    ],
    ['--issuer', issuer.origin, '--discovery-url', issuer.origin],
  );
  const [manifest = ''] = blocks('Kubernetes', 'yaml');
  type Volume = {
    name: string;
    projected: { sources: { serviceAccountToken: { path: string; audience: string; expirationSeconds: number } }[] };
  };
  const { metadata, spec } = parse(manifest) as {
    metadata: { namespace: string };
    spec: { serviceAccountName: string; volumes: Volume[]; containers: { volumeMounts: { name: string; mountPath: string }[] }[] };
  };
  const [{ name, projected } = { name: '', projected: undefined }] = spec.volumes;
  const [source] = projected?.sources ?? [];
  const [mount] = spec.containers[0]?.volumeMounts ?? [];
  expect(mount?.name).toBe(name);
  const mint = () =>
    makeToken(issuer.signer, {
      ...platformClaims.kubernetes(now()),
      iss: issuer.origin,
      aud: [source?.serviceAccountToken.audience],
      sub: `system:serviceaccount:${metadata.namespace}:${spec.serviceAccountName}`,
      exp: now() + (source?.serviceAccountToken.expirationSeconds ?? 0),
    });
  project('volume', source?.serviceAccountToken.path ?? '', mint());
  const profile = at('pod.yaml');
  const environment = { KEYSTORED_TOKEN: '', KEYSTORED_PROFILE: profile };
  const [login = ''] = blocks('Kubernetes', 'sh');
  const here = login.replace('--tenant acme --role app', '--tenant system --role kubernetes');
  await shell(here.replace(`${mount?.mountPath}/`, `${at('volume')}/`), environment);
  const accessor = async () => (JSON.parse((await ctl(['do', 'token', 'info'], { environment })).stdout) as { accessor: string }).accessor;
  const first = await accessor();
  const passTwoThirds = (seconds: number): void => {
    writeFileSync(profile, readFileSync(profile, 'utf8').replace(/from: .*/, 'from: 2020-01-01T00:00:00Z'));
    appliance.clock.advance(seconds);
  };
  passTwoThirds(2_500);
  const second = await accessor();
  expect(second).not.toBe(first);
  // The token in the file has expired: the one of the login is used, until the kubelet has written another.
  passTwoThirds(1_200);
  expect(await accessor()).toBe(second);
  project('volume', 'token', mint());
  expect(await accessor()).not.toBe(second);
});

test('a workload of SPIFFE logs in with the JWT-SVID that spiffe-helper writes, by the commands and the file of the page', async () => {
  const program = await obtainSpiffeHelper();
  // It refuses tokens that have expired by the clock of the machine.
  appliance.clock.advance(Math.ceil(Date.now() / 1_000) - now());
  const [configuration = ''] = blocks('SPIFFE', 'hcl');
  const [create = '', login = ''] = blocks('SPIFFE', 'sh');
  // The bundle of a trust domain: use, sequence and refresh hint are those of SPIFFE.
  const jwk = { ...issuer.signer.jwk, use: 'jwt-svid', alg: undefined };
  issuer.keys = JSON.stringify({ keys: [jwk], spiffe_sequence: 7, spiffe_refresh_hint: 300 });
  writeFileSync(at('spiffe.pem'), issuer.ca);
  const keys = `${issuer.origin}/jwks --use-root-ca-certs false --ca-certs @${at('spiffe.pem')}`;
  await shell(create.replace('https://spire.example.org/keys', keys));
  const id = 'spiffe://example.org/ns/payments/sa/app';
  const close = await startWorkloadApi(at('agent.sock'), {
    id,
    mint: (aud) => makeToken(issuer.signer, { ...platformClaims.spiffe(now()), sub: id, aud }, { typ: 'JOSE' }),
    bundle: () => issuer.keys ?? '',
  });
  const here = (text: string) => text.replaceAll('/run/spire/sockets/', `${at()}/`).replaceAll('/run/keystore', at('svid'));
  writeFileSync(at('spiffe.conf'), here(configuration));
  // Without an agent at the socket the program asks on for ever.
  await shell(`timeout 30 ${program} -config ${at('spiffe.conf')} -daemon-mode=false`).finally(close);
  const environment = { KEYSTORED_TOKEN: '', KEYSTORED_PROFILE: at('spiffe.yaml') };
  await shell(here(login).replace('--tenant acme', '--tenant system'), environment);
  const { stdout } = await ctl(['do', 'token', 'info'], { environment });
  expect(JSON.parse(stdout)).toMatchObject({ user: id, 'user-kind': 'workload' });
}, 600_000);

/** spiffe-helper as its makers release it, built once for each run of this file. */
async function obtainSpiffeHelper(): Promise<string> {
  await requireToolchain('go');
  const build = ['build', '-mod=readonly', '-o', at('bin', 'spiffe-helper'), 'github.com/spiffe/spiffe-helper/cmd/spiffe-helper'];
  await must(await obtainGo(versions.go), build, { cwd: join(import.meta.dirname, 'platforms'), environment: onlyThisGo });
  return at('bin', 'spiffe-helper');
}
