// Certificates for the members of etcd in a cluster, on a real token.
import { X509Certificate } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { makeKeyRequest } from '../../../appliance/cluster/membership/key-request.ts';
import type { MemberCertificates } from '../../../core/plugin/services/member-certificates.ts';
import { HsmError } from '../../../hsm/api.ts';
import { findCa } from '../../../plugins/ca/authority/lookup.ts';
import { memberCertificates } from '../../../plugins/ca/own/member-certificates.ts';
import { openTestContext, type TestContext } from '../est/harness.ts';

const tenant = '11111111-1111-4111-8111-111111111111';
const [appliance, address] = ['0f3c9a52-7d0e-4c35-9d53-7a1c26a5b1ee', '192.0.2.12'];
let context: TestContext;
let members: MemberCertificates;

beforeAll(async () => {
  context = await openTestContext();
  members = memberCertificates(context);
});

test('a certificate is for both ends, for this appliance at this address, under a CA for each port', async () => {
  const { request } = makeKeyRequest();
  const issued = {
    peer: await members.issue(tenant, 'peer', { appliance, address, request }),
    client: await members.issue(tenant, 'client', { appliance, address, request }),
  };
  for (const { certificate, authority } of Object.values(issued)) {
    const [leaf, ca] = [new X509Certificate(certificate), new X509Certificate(authority)];
    expect(leaf).toMatchObject({ subject: `CN=${appliance}`, subjectAltName: `IP Address:${address}`, ca: false });
    expect(leaf.keyUsage?.toSorted()).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
    expect(leaf.verify(ca.publicKey)).toBe(true);
  }
  expect(issued.peer.authority).not.toBe(issued.client.authority);
});

test('what a request asks for is not in the certificate, and one that is none is refused', async () => {
  const issue = (request: Uint8Array): Promise<string> =>
    members.issue(tenant, 'peer', { appliance, address, request }).then(
      () => 'issued',
      (error: { readonly code: string }) => error.code,
    );
  const { request } = makeKeyRequest();
  const changed = Uint8Array.from(request);
  changed[request.length - 1] = (changed.at(-1) ?? 0) ^ 1;
  const hostile = [new Uint8Array(0), new Uint8Array(4_096), request.subarray(0, -1), Buffer.concat([request, request]), changed];
  expect(await Promise.all(hostile.map(issue))).toEqual(hostile.map(() => 'invalid-csr'));
});

test('the revocation list has the certificates of the appliances that are meant', async () => {
  const [gone, stays] = ['6d1f1c1e-3b0a-4b6e-9b55-2f6f0e9b7a10', appliance];
  const { certificate } = await members.issue(tenant, 'client', { appliance: gone, address, request: makeKeyRequest().request });
  const serial = Buffer.from(new X509Certificate(certificate).serialNumber, 'hex');
  context.store.refresh();
  expect(Buffer.from(await members.revocations(tenant, 'client')).includes(serial)).toBe(false);
  await members.revoke(tenant, (one) => one === gone);
  context.store.refresh();
  const list = Buffer.from(await members.revocations(tenant, 'client'));
  expect(list.includes(serial)).toBe(true);
  const kept = await members.issue(tenant, 'client', { appliance: stays, address, request: makeKeyRequest().request });
  expect(list.includes(Buffer.from(new X509Certificate(kept.certificate).serialNumber, 'hex'))).toBe(false);
});

test('while the token cannot sign, a revocation list that lacks an appliance is not handed out', async () => {
  const gone = '9b2f61b6-64b2-4f0f-8f0b-0a5a3c0a4b11';
  await members.issue(tenant, 'client', { appliance: gone, address, request: makeKeyRequest().request });
  context.store.refresh();
  const whole = await members.revocations(tenant, 'client');
  const { hsm } = context;
  const sign = hsm.sign.bind(hsm);
  hsm.sign = () => Promise.reject(new HsmError('unavailable', 'the token is away'));
  try {
    context.store.refresh();
    expect(await members.revocations(tenant, 'client')).toEqual(whole);
    await members.revoke(tenant, (one) => one === gone);
    context.store.refresh();
    await expect(members.revocations(tenant, 'client')).rejects.toThrow('the token is away');
  } finally {
    hsm.sign = sign;
  }
  expect(await members.revocations(tenant, 'client')).not.toEqual(whole);
});

test('no request reaches the CAs of the members', () => {
  context.store.refresh();
  for (const name of ['cluster-peer', 'cluster-client']) {
    expect(context.tables.cas.get([tenant, name])).toBeDefined();
    expect(findCa(context, tenant, name)).toBeUndefined();
  }
});
