// What a broken rule does: the token does not sign, the requester learns its own faults, and a clean certificate costs little.
import { describe, expect, test, vi } from 'vitest';
import type { Hsm } from '../../../../hsm/api.ts';
import { signStructure } from '../../../../plugins/ca/authority/signer.ts';
import { LintError, requireClean } from '../../../../plugins/ca/lints/lint.ts';
import { startEstAppliance } from '../../est/est-appliance.ts';
import { makeCsr, makeKeys } from '../pki.ts';
import { field, leafOf, makePublicKey, makeSigner, rootOf, unsigned, withFields } from './mutations.ts';
import { encode, tag } from '../../../../core/der/der.ts';

const signer = makeSigner('ecdsa-p256');
const issuer = unsigned(rootOf(signer), signer);
const leaf = leafOf(makePublicKey('ecdsa-p256'), signer);

describe('a broken rule', () => {
  test('keeps the token from signing, and the error names the rule and its section', async () => {
    const sign = vi.fn<Hsm['sign']>();
    const key = { type: 'ecdsa-p256', publicKey: signer.publicKey } as never;
    const broken = withFields(leaf, { [field.serial]: encode(tag.integer, Uint8Array.of(0x81)) });
    const signed = signStructure({ sign } as never, { key, binding: {} as never }, { kind: 'certificate', issuer }, () => broken);
    await expect(signed).rejects.toThrow('nothing was signed: the certificate breaks serial-number (RFC 5280 4.1.2.2)');
    await expect(signed).rejects.toMatchObject({ name: 'LintError', isRequestersFault: false });
    expect(sign).not.toHaveBeenCalled();
  });

  test('about a name or a key is the fault of the requester, together with another it is ours', () => {
    const [name, serial] = [
      { id: 'name-upper-bound', source: '', rule: '' },
      { id: 'serial-number', source: '', rule: '' },
    ];
    expect(new LintError('certificate', [name]).isRequestersFault).toBe(true);
    expect(new LintError('certificate', [name, serial]).isRequestersFault).toBe(false);
  });

  test('is answered 400 to sign-csr and as the subject of a new CA; nothing is on record', async () => {
    const appliance = await startEstAppliance();
    const ca = await appliance.makeCa();
    const keys = await makeKeys('P-256');
    const csr = async (names: Parameters<typeof makeCsr>[0]['names'], subject = 'CN=device'): Promise<object> => {
      const der = await makeCsr({ keys, subject, ...(names === undefined ? {} : { names }) });
      return { csr: `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n` };
    };
    const refused = { status: 400, body: { code: 'invalid-csr' } };
    expect(await appliance.act(ca, 'sign-csr', await csr([{ type: 'dns', value: 'no host name' }]))).toMatchObject(refused);
    expect(await appliance.act(ca, 'sign-csr', await csr(undefined, `CN=${'x'.repeat(65)}`))).toMatchObject({
      status: 400,
      body: { code: 'invalid-csr', detail: expect.stringContaining('64 for a common name (RFC 5280 A.1)') as string },
    });
    expect(await appliance.act(ca, 'sign-csr', await csr([{ type: 'dns', value: '*.example.test' }]))).toMatchObject({ status: 200 });
    const listed = await appliance.request('GET', `/v1/state/keystore/tls/ca/${ca}/certificates`);
    expect(listed.body).toHaveLength(1);
    const subject = `CN=${'x'.repeat(65)}`;
    const named = await appliance.request('POST', '/v1/config/keystore/tls/ca', { name: 'long-name', subject });
    expect(named).toMatchObject({ status: 400, body: { code: 'invalid-value' } });
  });
});

test('the rules cost a fraction of a signature', () => {
  const rounds = 2_000;
  const run = (): number => {
    const before = process.cpuUsage();
    for (let n = 0; n < rounds; n++) requireClean({ kind: 'certificate', issuer }, leaf, signer);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / rounds;
  };
  run();
  const microseconds = Math.min(run(), run(), run());
  if (process.env['SHOW_COST'] !== undefined) process.stdout.write(`rules of a certificate: ${microseconds.toFixed(1)} us\n`);
  expect(microseconds).toBeLessThan(1_000);
});
