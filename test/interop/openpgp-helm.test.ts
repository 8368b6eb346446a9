// Provenance of charts as Helm verifies it: a cleartext document. Helm takes minutes to build, so it is built once, and only when that is
// asked for: HELM=build npm test -- interop openpgp-helm.
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unarmor } from 'openpgp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must, requireToolchain, run, toolDirectory } from '../clients/commands.ts';
import { obtainGo, onlyThisGo } from '../clients/go/toolchain.ts';
import { versions } from '../clients/versions.ts';
import { base64, type OpenpgpHarness, startOpenpgpHarness } from '../plugins/openpgp/harness.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const version = 'v3.22.0';
const module = 'helm.sh/helm/v3';
const program = join(toolDirectory('openpgp-programs'), `helm-${version}`);
const at = temporaryDirectory();
let harness: OpenpgpHarness;

const missing = await (async (): Promise<string> => {
  if (existsSync(program)) return '';
  if (process.env['HELM'] !== 'build') return ' (not built: HELM=build builds it)';
  return requireToolchain('go').then(
    () => '',
    (error: Error) => ` (${error.message})`,
  );
})();

beforeAll(async () => {
  harness = await startOpenpgpHarness(at('appliance'), Temporal.Now.instant().toString());
  if (missing !== '' || existsSync(program)) return;
  const [go, directory] = [await obtainGo(versions.go), at('build-helm')];
  mkdirSync(directory);
  const goMod = `module built\n\ngo ${versions.go}\n\ntool ${module}/cmd/helm\n\nrequire ${module} ${version}\n`;
  writeFileSync(join(directory, 'go.mod'), goMod);
  await must(go, ['build', '-mod=mod', '-o', program, `${module}/cmd/helm`], { cwd: directory, environment: onlyThisGo });
}, 3_600_000);
afterAll(() => harness.close());

test.skipIf(missing !== '').each(['rsa-2048', 'rsa-4096', 'ed25519', 'ecdsa-p384'])(
  `helm verify ${version} takes the provenance by %s, and not that of another chart${missing}`,
  async (cipher) => {
    const directory = at(cipher);
    mkdirSync(join(directory, 'probe'), { recursive: true });
    const metadata = 'apiVersion: v2\nname: probe\nversion: 0.1.0\n';
    writeFileSync(join(directory, 'probe/Chart.yaml'), metadata);
    const helm = (...args: readonly string[]) => run(program, args, { cwd: directory, environment: { HOME: directory } });
    expect((await helm('package', 'probe')).code).toBe(0);
    const chart = join(directory, 'probe-0.1.0.tgz');
    const sum = hash('sha256', readFileSync(chart), 'hex');
    const text = `${metadata}\n...\nfiles:\n  probe-0.1.0.tgz: sha256:${sum}\n`;
    await harness.create(cipher, { cipher, 'openpgp-user-id': 'Charts <charts@example.org>' });
    const { signature } = await harness.do(cipher, 'openpgp-sign', { text: base64(text), form: 'cleartext' });
    // Helm reads a keyring in octets, as key.pgp of the public URLs has it.
    const keyring = join(directory, 'charts.pgp');
    writeFileSync(keyring, (await unarmor(await harness.block(cipher))).data);
    writeFileSync(`${chart}.prov`, signature);
    const good = await helm('verify', '--keyring', keyring, chart);
    expect([good.code, good.output]).toEqual([0, expect.stringMatching(/Signed by: Charts <charts@example\.org>/)]);
    writeFileSync(`${chart}.prov`, signature.replace(sum, hash('sha256', 'another', 'hex')));
    expect((await helm('verify', '--keyring', keyring, chart)).code).not.toBe(0);
  },
);
