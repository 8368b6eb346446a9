// What CAs need from time to time, and that nothing is lost when a step of it is.
import { hash, X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { HsmError } from '../../../hsm/api.ts';
import { basic } from '../est/client.ts';
import { type EstAppliance, estParts, openEst, secret, startEstAppliance } from '../est/est-appliance.ts';
import { makeDeviceCsr, makeKeys } from './pki.ts';

const day = 86_400;
let appliance: EstAppliance;

beforeAll(async () => {
  appliance = await startEstAppliance();
});

const table = (name: string): readonly unknown[] => [...appliance.store.prefixed('est').table(name).entries([])];

async function runJobs(): Promise<void> {
  for (const job of appliance.jobs) await job.run(AbortSignal.timeout(60_000));
}

const made = (scep: object): Promise<string> => appliance.makeCa({ est: openEst, scep });

async function enrol(ca: string): Promise<string> {
  const csr = await makeDeviceCsr(await makeKeys('P-256'), 'device.example.test');
  const reply = await appliance.enrol(ca, 'simpleenroll', csr, { headers: { Authorization: basic(secret) } });
  expect(reply.status).toBe(200);
  const listed = (await appliance.request('GET', `/v1/state/keystore/tls/ca/${ca}/certificates?limit=1000`)).body;
  return listed.at(-1).serial;
}

describe('housekeeping', () => {
  test('expired certificates are forgotten after 90 days, revocations when a CRL after the end has had them', async () => {
    const ca = await appliance.makeCa({ est: { ...openEst, ttl: '1d' } });
    const serial = await enrol(ca);
    await appliance.act(ca, 'revoke', { serial });
    const before = table('revocations').length;
    appliance.clock.advance(8 * day);
    await runJobs();
    expect(table('revocations')).toHaveLength(before);
    appliance.clock.advance(2 * day);
    await runJobs();
    expect(table('revocations')).toHaveLength(before - 1);
    const list = async (): Promise<readonly unknown[]> =>
      (await appliance.request('GET', `/v1/state/keystore/tls/ca/${ca}/certificates`)).body;
    expect(await list()).toHaveLength(1);
    appliance.clock.advance(90 * day);
    await runJobs();
    expect(await list()).toHaveLength(0);
    await appliance.setBack(100 * day);
  });

  test('a registration authority is renewed though nobody asks for it, where a protocol that uses it is on', async () => {
    const { authorities } = estParts(appliance);
    const ends = async (ca: string): Promise<unknown> => (await appliance.state(ca)).scep['registration-not-after'];
    const [used, off, never] = [await made({ enabled: true }), await made({ enabled: true }), await made({ enabled: true })];
    for (const ca of [used, off]) await authorities.find(appliance.tenantId, ca)?.registrationAuthority();
    await appliance.request('PATCH', `/v1/config/keystore/tls/ca/${off}`, { scep: { enabled: false } });
    const before = await ends(used);
    await runJobs();
    expect(await ends(used)).toBe(before);
    appliance.clock.advance(560 * day);
    await runJobs();
    expect(await ends(used)).not.toBe(before);
    expect([await ends(off), await ends(never)]).toEqual([before, undefined]);
    await appliance.setBack(560 * day);
  });

  test('a certificate of an earlier version is found by its key after the job; none is when it is forgotten', async () => {
    const ca = await appliance.makeCa({ est: { ...openEst, ttl: '1d' } });
    const serial = await enrol(ca);
    const certificates = appliance.store.prefixed('est').table<{ certificate: Uint8Array; byKey?: true }>('certificates');
    const byKey = appliance.store.prefixed('ca').table('certificate-keys');
    const [key = []] = [...certificates.keys([])].filter((one) => one.at(-1) === serial);
    const digest = hash(
      'sha256',
      new X509Certificate(certificates.get(key)?.certificate ?? '').publicKey.export({ format: 'der', type: 'spki' }),
    );
    const found = async (): Promise<unknown> =>
      (await appliance.request('GET', `/v1/state/keystore/tls/ca/${ca}/certificates?public-key=${digest}&fields=serial`)).body;
    expect(await found()).toEqual([{ serial }]);
    await appliance.store.write((transaction) => {
      const { byKey: _, ...earlier } = certificates.get(key)!;
      transaction.put(certificates, key, earlier);
      transaction.delete(byKey, [...key.slice(0, 2), digest, serial]);
    });
    expect(await found()).toEqual([]);
    await runJobs();
    expect(await found()).toEqual([{ serial }]);
    appliance.clock.advance(100 * day);
    await runJobs();
    expect([...byKey.keys(key.slice(0, 2))]).toEqual([]);
    await appliance.setBack(100 * day);
  });

  test('a key generation whose certificate has ended leaves the token; what it issued cannot renew any more', async () => {
    const ca = await appliance.makeCa({ ttl: '10d', est: openEst });
    appliance.clock.advance(5 * day);
    await appliance.act(ca, 'renew');
    appliance.clock.advance(6 * day);
    await runJobs();
    const cas = appliance.store.prefixed('est').table<{ name: string; generations: readonly { generation: number }[] }>('cas');
    const record = cas.get([appliance.tenantId, ca]);
    expect(record?.generations.map(({ generation }) => generation)).toEqual([2]);
    appliance.clock.advance(1_000);
    await runJobs();
    expect(table('unclaimed-keys')).toEqual([]);
    expect((await appliance.act(ca, 'renew')).status).toBe(200);
    await appliance.setBack(11 * day + 1_000);
  });

  test('a CA removed while the token is away is gone at once; its key goes when the token is back', async () => {
    const ca = await appliance.makeCa({ est: openEst, 'deletion-allowed': true });
    await enrol(ca);
    const { hsm } = appliance;
    const destroy = hsm.destroy.bind(hsm);
    hsm.destroy = () => Promise.reject(new HsmError('unavailable', 'the token is away'));
    expect((await appliance.request('DELETE', `/v1/config/keystore/tls/ca/${ca}`)).status).toBe(204);
    expect((await appliance.call(ca, 'cacerts')).status).toBe(404);
    expect([table('removed-cas').length, table('unclaimed-keys').length]).toEqual([1, 1]);
    hsm.destroy = destroy;
    await runJobs();
    expect([table('removed-cas').length, table('unclaimed-keys').length]).toEqual([0, 0]);
  });

  test('a key whose CA was never committed, as after a crash, is destroyed after a quarter of an hour', async () => {
    const { hsm, store } = appliance;
    const binding = { tenant: appliance.tenantId, keyId: 'lost', version: 1, purpose: 'ca' };
    const { stored } = await hsm.generate('ecdsa-p256', binding, { custody: 'token', extractable: false });
    const unclaimed = store.prefixed('est').table('unclaimed-keys');
    const since = appliance.clock.now().toString({ fractionalSecondDigits: 6 });
    await store
      .prefixed('est')
      .write((transaction) =>
        transaction.put(unclaimed, ['lost', Buffer.from(stored.mac).toString('hex')], { stored, binding, since, doomed: false }),
      );
    await runJobs();
    expect(table('unclaimed-keys')).toHaveLength(1);
    appliance.clock.advance(901);
    await runJobs();
    await appliance.setBack(901);
    await expect(hsm.sign({ stored, binding }, { scheme: 'ecdsa', digest: Buffer.alloc(32) })).rejects.toThrow(HsmError);
  });

  test('a key that was given up while it was being made cannot be claimed: the CA is not made', async () => {
    const { hsm } = appliance;
    const generate = hsm.generate.bind(hsm);
    hsm.generate = async (...parameters) => {
      const made = await generate(...parameters);
      appliance.clock.advance(901);
      await runJobs();
      return made;
    };
    const answer = await appliance.request('POST', '/v1/config/keystore/tls/ca', { name: 'too-slow' });
    hsm.generate = generate;
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 409, code: 'key-object-missing' });
    expect(table('unclaimed-keys')).toEqual([]);
    await appliance.setBack(901);
  });

  test('counts of wrong secrets are forgotten when their minute is over', async () => {
    const ca = await appliance.makeCa();
    await appliance.enrol(ca, 'simpleenroll', Buffer.from('x'), { headers: { Authorization: basic('wrong') } });
    expect(table('secret-failures')).toHaveLength(1);
    appliance.clock.advance(61);
    await runJobs();
    await appliance.setBack(61);
    expect(table('secret-failures')).toHaveLength(0);
  });
});
