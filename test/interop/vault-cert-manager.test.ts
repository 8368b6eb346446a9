// The code of cert-manager's controller for issuers of the type `vault`, against a running appliance. It takes minutes to build, so that it is built
// once, and only when that is asked for: VAULT_PROGRAMS=build npm test -- interop vault-cert-manager.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must, requireToolchain, toolDirectory } from '../clients/commands.ts';
import { obtainGo, onlyThisGo } from '../clients/go/toolchain.ts';
import { versions } from '../clients/versions.ts';
import { type Daemon, startDaemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const at = temporaryDirectory();
const source = join(import.meta.dirname, 'vault/cert-manager');
const approles = 'keystore/authentication/approles';
const digest = createHash('sha256');
for (const file of ['go.mod', 'main.go']) digest.update(readFileSync(join(source, file)));
const program = join(toolDirectory('vault-programs'), `cert-manager-${digest.digest('hex').slice(0, 16)}`);
let daemon: Daemon;

const missing = existsSync(program)
  ? ''
  : process.env['VAULT_PROGRAMS'] === 'build'
    ? await requireToolchain('go').then(
        () => '',
        (error: Error) => ` (${error.message})`,
      )
    : ' (not built: VAULT_PROGRAMS=build builds it)';

beforeAll(async () => {
  if (missing !== '') return;
  const build = ['build', '-mod=readonly', '-o', program, '.'];
  if (!existsSync(program)) await must(await obtainGo(versions.go), build, { cwd: source, environment: onlyThisGo });
  writeFileSync(at('keystored.yaml'), 'vault:\n  tenants: { system: {} }\n');
  daemon = await startDaemon({ directory: at('data'), args: ['--config', at('keystored.yaml')] });
  writeFileSync(at('ca.pem'), daemon.caPem);
}, 3_600_000);
afterAll(() => daemon?.stop());

test.skipIf(missing !== '')(`cert-manager's issuer signs by token and by approle, and says what it is refused${missing}`, async () => {
  const est = {
    ...{ 'allowed-domains': ['example.test'], 'allow-subdomains': true, 'allow-ip-sans': true },
    'allowed-uris': ['spiffe://example.test/*'],
  };
  await daemon.request('POST', '/v1/config/keystore/tls/ca', { name: 'web', est });
  const rules = [{ path: '/v1/state/keystore/tls/ca/web/sign-csr', operations: { execute: 'allow' } }];
  await daemon.request('POST', '/v1/config/policy/policies', { name: 'issuer', 'rest-api': { rules } });
  const created = await daemon.request('POST', '/v1/state/keystore/token/create', { policies: ['issuer'], ttl: '1h' });
  const { token } = created as { readonly token: string };
  await daemon.request('POST', `/v1/config/${approles}`, { name: 'issuer', 'token-policies': ['issuer'], 'token-ttl': '10m' });
  const { 'role-id': role } = (await daemon.request('GET', `/v1/state/${approles}/issuer`)) as { 'role-id': string };
  const generated = await daemon.request('POST', `/v1/state/${approles}/issuer/generate-secret-id`, {});
  const { 'secret-id': secret } = generated as { readonly 'secret-id': string };
  const server = { VAULT_ADDR: daemon.url, VAULT_CACERT: at('ca.pem') };
  const { stdout } = await must(program, [], { environment: { ...server, VAULT_TOKEN: token, ROLE_ID: role, SECRET_ID: secret } });
  const signed = (name: string) => ({
    ...{ names: [`${name}.example.test`, `www.${name}.example.test`], addresses: ['10.1.2.3'], uris: ['spiffe://example.test/shop'] },
    hours: 36,
  });
  expect(JSON.parse(stdout)).toEqual({
    ready: true,
    token: signed('token'),
    role: signed('role'),
    wrongSecret: expect.stringMatching(/Code: 400[^]*invalid role or secret ID/),
    wrongToken: expect.stringMatching(/Code: 403[^]*permission denied/),
    otherName: expect.stringMatching(/Code: 400[^]*a common name is not within allowed-domains/),
    otherRole: expect.stringMatching(/Code: 403[^]*permission denied/),
    otherNamespace: expect.stringMatching(/Code: 403[^]*The namespace must be empty, or the tenant of the token/),
  });
});
