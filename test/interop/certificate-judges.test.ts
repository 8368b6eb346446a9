// Judges of other makers about what CAs publish: certificates and lists by RSASSA-PSS in Go, the JDK and Bouncy Castle, and delta CRLs in the last.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { must, requireToolchain } from '../clients/commands.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { type ScepAppliance, startScepAppliance } from '../plugins/scep/scep-appliance.ts';

const at = temporaryDirectory();
const programs = join(import.meta.dirname, 'certificate-judges');
const jars = join(import.meta.dirname, '../../node_modules/.cache/bouncy-castle-cmp');
let appliance: ScepAppliance;

beforeAll(async () => {
  for (const toolchain of ['go', 'java', 'mvn'] as const) await requireToolchain(toolchain);
  const maven = ['-q', '-B', '-f', join(import.meta.dirname, 'cmp/pom.xml'), 'dependency:copy-dependencies', `-DoutputDirectory=${jars}`];
  if (!existsSync(jars)) await must('mvn', maven);
  appliance = await startScepAppliance();
});

/** A CA, and the folder in which judges find its certificate and that of a host. */
async function prepare(fields: object) {
  const ca = await appliance.makeCa(fields);
  mkdirSync(at(ca));
  writeFileSync(at(ca, 'ca.pem'), (await appliance.state(ca))['ca-cert']);
  return {
    folder: at(ca),
    async issue(name: string): Promise<{ readonly serial: string; readonly pem: string }> {
      const { body } = await appliance.act(ca, 'issue', { 'dns-names': [name] });
      return { serial: body.serial, pem: body.certificate };
    },
    revoke: (serial: string) => appliance.act(ca, 'revoke', { serial }),
    async keepList(path: string, file: string): Promise<void> {
      const answer = await fetch(`${appliance.plain}/v1/ca/${appliance.tenantId}/${ca}/${path}`);
      expect(answer.status).toBe(200);
      writeFileSync(at(ca, file), Buffer.from(await answer.arrayBuffer()));
    },
    judged: (pem: string) => writeFileSync(at(ca, 'leaf.pem'), pem),
  };
}

async function java(judge: 'jdk' | 'bc', folder: string, ...lists: readonly string[]): Promise<string> {
  const { stdout } = await must('java', ['-cp', `${jars}/*`, join(programs, 'Judge.java'), judge, folder, ...lists]);
  return stdout.trim();
}

test('certificates and lists that a CA has signed by RSASSA-PSS', async () => {
  const signer = await prepare({ 'cert-key-type': 'rsa', 'cert-key-bits': 2048, 'signature-algorithm': 'pss' });
  const [good, bad] = [await signer.issue('good.test'), await signer.issue('bad.test')];
  await signer.revoke(bad.serial);
  await signer.keepList('crl', 'list.der');
  await must('go', ['build', '-o', at('judge'), join(programs, 'judge.go')]);
  for (const [{ pem }, isRevoked] of [
    [good, false],
    [bad, true],
  ] as const) {
    signer.judged(pem);
    expect((await must(at('judge'), [signer.folder])).stdout.trim()).toBe(`SHA256-RSAPSS SHA256-RSAPSS SHA256-RSAPSS ${isRevoked}`);
    const judgement = isRevoked ? /revoked|revocation after/ : /: valid$/;
    expect(await java('jdk', signer.folder, 'list.der')).toMatch(judgement);
    expect(await java('bc', signer.folder, 'list.der')).toMatch(judgement);
  }
});

test.each([{}, { 'cert-key-type': 'rsa', 'cert-key-bits': 2048, 'signature-algorithm': 'pss' }])(
  'Bouncy Castle takes an older list with the delta CRL: %o',
  async (fields) => {
    const signer = await prepare({ 'delta-crl': true, ...fields });
    const [before, after, good] = [await signer.issue('a.test'), await signer.issue('b.test'), await signer.issue('c.test')];
    await signer.revoke(before.serial);
    await signer.keepList('crl/1', 'older.der');
    appliance.clock.advance(60);
    await signer.revoke(after.serial);
    await signer.keepList('crl/1/delta', 'delta.der');
    signer.judged(after.pem);
    expect(await java('bc', signer.folder, 'older.der')).toMatch(/: valid$/);
    expect(await java('bc', signer.folder, 'older.der', 'delta.der')).toMatch(/revocation after/);
    // A delta alone is no list, since its critical extension says so.
    for (const judge of ['jdk', 'bc'] as const) expect(await java(judge, signer.folder, 'delta.der')).not.toMatch(/: valid$/);
    signer.judged(before.pem);
    expect(await java('bc', signer.folder, 'older.der', 'delta.der')).toMatch(/revocation after/);
    signer.judged(good.pem);
    expect(await java('bc', signer.folder, 'older.der', 'delta.der')).toMatch(/: valid$/);
  },
);
