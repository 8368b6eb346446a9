// Clients of KMIP: whose certificate is taken, in which space, and what ends them; others learn nothing of it.
import { hash, X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ClientCertificate } from '../../../core/tls/client-certificate.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { makeIdentity } from '../ca/pki.ts';
import { aes, clients, codeOf, type KmipHarness, named, spaces, startKmipHarness, stateOf } from './harness.ts';

const at = temporaryDirectory();
let harness: KmipHarness;

beforeAll(async () => {
  harness = await startKmipHarness(at());
});
afterAll(() => harness.close());

/** A CA of the appliance that certifies clients. */
const makeCa = (name: string) =>
  harness.must('POST', '/v1/config/keystore/tls/ca', {
    ...{ name, subject: `CN=${name}`, ttl: '365d' },
    est: { enabled: true, 'allowed-domains': ['example.test'], 'allow-subdomains': true },
  });
const refusal = async (body: object): Promise<unknown> => {
  const answer = await harness.appliance.request('POST', clients, { name: 'refused', space: 'own', ...body });
  return (answer.body as { code?: string }).code;
};

test('two clients without a common space see nothing of each other, and those of one space share it', async () => {
  const { objects } = harness;
  const [one, other, third] = [
    await harness.client('one', 'own'),
    await harness.client('other', 'others'),
    await harness.client('third', 'own'),
  ];
  const { id } = await objects.create(one, { attributes: [...aes(), named('mine')] });
  const theirs = (await objects.create(other, { attributes: aes() })).id;
  const attempts = [
    () => objects.get(other, { id }),
    () => objects.attributes(other, id),
    () => objects.destroy(other, id),
    () => objects.activate(other, id),
    () => objects.revoke(other, id, { reason: 2 }),
    () => objects.reKey(other, { id, attributes: [] }),
    () => objects.addAttribute(other, id, named('theirs')),
    () => objects.check(other, { id }),
    () => objects.get(other, { id: theirs, wrap: { keyId: id, encode: () => new Uint8Array(16) } }),
  ];
  expect(await Promise.all(attempts.map((attempt) => codeOf(attempt())))).toEqual(attempts.map(() => 'not-found'));
  expect((await objects.locate(other, { attributes: [named('mine')] })).ids).toEqual([]);
  expect((await objects.locate(third, { attributes: [named('mine')] })).ids).toEqual([id]);
  expect((await objects.get(third, { id })).material).toEqual((await objects.get(one, { id })).material);
  // A client that says it works in another space is that of its entry all the same.
  const elsewhere = { ...other, client: { ...other.client, space: 'own' } };
  expect(await codeOf(objects.get(elsewhere, { id }))).toBe('not-found');
  const pretending = { ...other, client: { ...other.client, name: 'one' } };
  expect(await codeOf(objects.get(pretending, { id }))).toBe('invalid-token');
});

test('a client that is disabled, deleted or moved is another one from the next request on', async () => {
  const { objects } = harness;
  const call = await harness.client('leaving', 'own');
  const { id } = await objects.create(call, { attributes: aes() });
  await harness.must('PATCH', `${clients}/leaving`, { enabled: false });
  expect(objects.clientOf(call.certificate)).toBeUndefined();
  expect(await codeOf(objects.get(call, { id }))).toBe('invalid-token');
  await harness.must('PATCH', `${clients}/leaving`, { enabled: true, space: 'others' });
  expect(await codeOf(objects.get(call, { id }))).toBe('not-found');
  expect(await codeOf(objects.get(harness.callOf(call.certificate), { id }))).toBe('not-found');
  await harness.must('DELETE', `${clients}/leaving`);
  expect(objects.clientOf(call.certificate)).toBeUndefined();
  expect(await codeOf(objects.get(call, { id }))).toBe('invalid-token');
});

test('a certificate of a CA is taken by its name, until it is revoked or expires', async () => {
  const { objects } = harness;
  await makeCa('devices');
  await makeCa('twins');
  await harness.must('POST', clients, {
    ...{ name: 'array', space: 'own', 'trust-ca': 'devices' },
    'certificate-name': 'a1.example.test',
    'token-policies': ['root'],
  });
  const { certificate, serial } = await harness.certify('devices', 'CN=a1.example.test');
  const twin = await harness.certify('twins', 'CN=a1.example.test');
  const neighbour = await harness.certify('devices', 'CN=a2.example.test');
  expect(objects.clientOf(certificate)).toMatchObject({ name: 'array', space: 'own', tenantName: 'system' });
  expect([objects.clientOf(twin.certificate), objects.clientOf(neighbour.certificate)]).toEqual([undefined, undefined]);
  const call = harness.callOf(certificate);
  const { id } = await objects.create(call, { attributes: aes() });
  await harness.must('POST', '/v1/state/keystore/tls/ca/devices/revoke', { serial });
  expect(objects.clientOf(certificate)).toBeUndefined();
  expect(await codeOf(objects.get(call, { id }))).toBe('invalid-token');
});

test('an entry says whose certificate it takes, in one way, and takes none of another entry', async () => {
  const { certificate } = await harness.client('first', 'own');
  const fingerprint = hash('sha256', certificate.leaf, 'hex');
  expect(await refusal({ fingerprints: [fingerprint] })).toBe('already-exists');
  expect(await refusal({})).toBe('invalid-value');
  expect(await refusal({ fingerprints: ['ab'] })).toBe('invalid-value');
  expect(await refusal({ fingerprints: ['0'.repeat(64)], 'trust-ca': 'devices', 'certificate-name': 'x' })).toBe('invalid-value');
  expect(await refusal({ 'trust-ca': 'devices' })).toBe('invalid-value');
  expect(await refusal({ 'trust-ca': 'devices', 'certificate-name': 'a1.example.test' })).toBe('already-exists');
  expect(await refusal({ 'trust-ca': 'nobody', 'certificate-name': 'x' })).toBe('invalid-value');
  expect(await refusal({ fingerprints: ['0'.repeat(64)], space: 'nowhere' })).toBe('invalid-value');
  expect(await refusal({ name: 'root', fingerprints: ['0'.repeat(64)] })).toBe('invalid-value');
  expect((await harness.appliance.request('DELETE', `${spaces}/own`)).body).toMatchObject({ code: 'in-use' });
});

/** Another tenant with a space. Sends requests as its root. */
async function makeTenant(name: string): Promise<(method: string, path: string, body: object) => Promise<string>> {
  await harness.must('POST', '/v1/config/tenants', { name });
  const { token } = await harness.must('POST', '/v1/state/keystore/token/create-root', { name });
  const send = async (method: string, path: string, body: object): Promise<string> => {
    const answer = await harness.appliance.request(method, path, body, { token: String(token) });
    return String((answer.body as { code?: string } | undefined)?.code ?? answer.status);
  };
  await send('POST', spaces, { name: 'theirs' });
  return send;
}

test('a certificate stays with the entry that has named it first, whatever another tenant enters later', async () => {
  const { objects } = harness;
  const asOther = await makeTenant('thief');
  const entry = { space: 'theirs', 'token-policies': ['root'] };
  const root = await makeIdentity({ subject: 'CN=Corporate', ca: true });
  const old = await makeIdentity({ subject: 'CN=c1.example.test', issuer: root });
  const next = await makeIdentity({ subject: 'CN=c2.example.test', issuer: root });
  const certificateOf = ({ certificate }: { certificate: Buffer }) => new ClientCertificate(new X509Certificate(certificate));
  const digestOf = ({ leaf }: ClientCertificate) => hash('sha256', leaf, 'hex');
  const trust = { 'ca-cert': root.pem };
  const byName = { 'trust-ca': 'corporate', revocation: 'none', 'token-policies': ['root'] };

  // Made before those that it is after; what it names comes later.
  expect(await asOther('POST', clients, { name: 'early', ...entry, fingerprints: ['1'.repeat(64)] })).toBe('201');
  await makeCa('arrays');
  const ofArrays = { name: 'a9', space: 'own', 'trust-ca': 'arrays', 'certificate-name': 'a9.example.test' };
  await harness.must('POST', clients, { ...ofArrays, 'token-policies': ['root'] });
  const own = await harness.certify('arrays', 'CN=a9.example.test');
  await harness.must('POST', '/v1/config/keystore/tls/ca', { name: 'corporate', ...trust });
  await harness.must('POST', clients, { name: 'c1', space: 'own', ...byName, 'certificate-name': 'c1.example.test' });
  await harness.must('POST', clients, {
    name: 'c2',
    space: 'own',
    fingerprints: [digestOf(certificateOf(next))],
    'token-policies': ['root'],
  });

  harness.clock.advance(1);
  const fingerprints = [digestOf(own.certificate), digestOf(certificateOf(old))];
  expect(await asOther('PATCH', `${clients}/early`, { fingerprints, enabled: false })).toBe('204');
  expect(await asOther('POST', '/v1/config/keystore/tls/ca', { name: 'corporate', ...trust })).toBe('201');
  const named = (name: string) => asOther('POST', clients, { name, ...entry, ...byName, 'certificate-name': `${name}.example.test` });
  expect(await named('c1')).toBe('already-exists');
  const found = [own.certificate, certificateOf(old), certificateOf(next)].map((one) => objects.clientOf(one));
  expect(found.map((one) => [one?.tenantName, one?.name])).toEqual([
    ['system', 'a9'],
    ['system', 'c1'],
    ['system', 'c2'],
  ]);

  // It goes to nobody else when its entry refuses it, or goes.
  const { kmip } = harness.parts;
  await expect
    .poll(
      () => (
        kmip.store.refresh(),
        [...fingerprints, digestOf(certificateOf(next))].map((one) => kmip.tables.firstTenants.get([one])?.tenantId)
      ),
    )
    .toEqual(Array(3).fill(found[0]?.tenantId));
  expect(await named('c2')).toBe('201');
  expect(objects.clientOf(certificateOf(next))?.tenantName).toBe('system');
  expect(await asOther('PATCH', `${clients}/early`, { enabled: true })).toBe('204');
  await harness.must('POST', '/v1/state/keystore/tls/ca/arrays/revoke', { serial: own.serial });
  await harness.must('DELETE', `${clients}/c1`);
  await harness.must('DELETE', `${clients}/c2`);
  expect([own.certificate, certificateOf(old), certificateOf(next)].map((one) => objects.clientOf(one))).toEqual(Array(3).fill(undefined));
  const late = { name: 'late', ...entry, fingerprints: [digestOf(certificateOf(next))] };
  expect(await asOther('POST', clients, late)).toBe('already-exists');

  // Until its tenant releases it.
  const release = '/v1/state/keystore/release-kmip-certificate';
  const fingerprint = digestOf(certificateOf(next));
  expect(await asOther('POST', release, { fingerprint })).toBe('not-found');
  await harness.must('POST', clients, { name: 'c3', space: 'own', fingerprints: [fingerprint], 'token-policies': ['root'] });
  expect((await harness.appliance.request('POST', release, { fingerprint })).body).toMatchObject({ code: 'in-use' });
  await harness.must('DELETE', `${clients}/c3`);
  await harness.must('POST', release, { fingerprint });
  expect(objects.clientOf(certificateOf(next))?.tenantName).toBe('thief');
});

test("a certificate that has never worked, and that entries of two tenants take, is nobody's until one of them goes", async () => {
  const { objects } = harness;
  const asOther = await makeTenant('rival');
  const root = await makeIdentity({ subject: 'CN=Disputed', ca: true });
  const { certificate } = await makeIdentity({ subject: 'CN=d1.example.test', issuer: root });
  const shown = new ClientCertificate(new X509Certificate(certificate));
  const fingerprints = [hash('sha256', certificate, 'hex')];
  // The other tenant has heard of it, and is the first.
  expect(await asOther('POST', clients, { name: 'd1', space: 'theirs', fingerprints, 'token-policies': ['root'] })).toBe('201');
  harness.clock.advance(1);
  await harness.must('POST', '/v1/config/keystore/tls/ca', { name: 'disputed', 'ca-cert': root.pem });
  const byName = { 'trust-ca': 'disputed', revocation: 'none', 'certificate-name': 'd1.example.test', 'token-policies': ['root'] };
  await harness.must('POST', clients, { name: 'd1', space: 'own', ...byName });
  expect(objects.clientOf(shown)).toBeUndefined();
  expect(await asOther('DELETE', `${clients}/d1`, {})).toBe('204');
  expect(objects.clientOf(shown)?.tenantName).toBe('system');
});

test('policies judge each operation, at the path of the space and of the object', async () => {
  const { objects } = harness;
  const all = '/v1/state/keystore/kmip-spaces/own/**';
  const rules = [
    { path: all, operations: { execute: 'allow' } },
    { path: '/v1/state/keystore/kmip-spaces/own/objects/*/destroy', operations: { execute: 'reject' } },
  ];
  await harness.must('POST', '/v1/config/policy/policies', { name: 'kmip-own', 'rest-api': { rules } });
  const call = await harness.client('judged', 'own', ['kmip-own']);
  const { id } = await objects.create(call, { attributes: aes() });
  expect(await codeOf(objects.get(call, { id }))).toBeUndefined();
  expect(await codeOf(objects.destroy(call, id))).toBe('policy-denied');
  const none = await harness.client('without', 'own', []);
  expect(await codeOf(objects.locate(none, { attributes: [] }))).toBe('policy-denied');
});

test('no request to /v1 is that of a client, and none has material', async () => {
  const call = await harness.client('outside', 'own');
  const authorization = `Kmip ${'A'.repeat(43)}.${Buffer.from(JSON.stringify([call.client.tenantId, 'outside'])).toString('base64url')}`;
  for (const header of [authorization, harness.parts.callers.authorizationOf(call.client), 'Kmip', 'Kmip .', 'Kmip a.b']) {
    const answer = await harness.appliance.request(
      'POST',
      `/v1/state/keystore/kmip-spaces/own/locate`,
      {},
      { token: '', headers: { authorization: header } },
    );
    expect([answer.status, (answer.body as { code?: string }).code]).toEqual([401, 'invalid-token']);
  }
});

test('each operation is on record with client, object and space, and without material', async () => {
  const { objects } = harness;
  const call = await harness.client('recorded', 'own');
  const secret = Buffer.from('nobody finds this text in the trail');
  const { id } = await objects.register(
    call,
    'secret-data',
    { octets: secret, keyFormat: 2, subtype: 1 },
    { attributes: [named('password of db')] },
  );
  await objects.get(call, { id });
  await objects.destroy(call, id);
  const directory = join(harness.appliance.directory, 'audit');
  const text = readdirSync(directory)
    .map((file) => readFileSync(join(directory, file), 'utf8'))
    .join('');
  const lines = text.split('\n').filter((line) => line.includes('"user":"recorded"'));
  const records = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const base = '/v1/state/keystore/kmip-spaces/own';
  expect(records.map(({ path, via, status }) => [path, via, status])).toEqual([
    [`${base}/register`, 'kmip', 200],
    [`${base}/objects/${id}/get`, 'kmip', 200],
    [`${base}/objects/${id}/destroy`, 'kmip', 200],
  ]);
  expect(records[0]).toMatchObject({ 'request-parameters': { 'object-type': 'secret-data', object: id, names: ['password of db'] } });
  for (const form of [secret.toString(), secret.toString('base64'), secret.toString('hex')]) expect(text.includes(form)).toBe(false);
  expect(await harness.must('GET', stateOf('own', id))).toMatchObject({ state: 'destroyed', client: 'recorded' });
});

test('a space has no more objects than it may, and a new one finds nothing of an earlier one of its name', async () => {
  const { objects } = harness;
  await harness.must('POST', spaces, { name: 'small', 'max-objects': 2 });
  const call = await harness.client('crowd', 'small');
  const made = await Promise.allSettled([1, 2, 3, 4].map(() => objects.create(call, { attributes: [...aes(), named('n')] })));
  const ids = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value.id] : []));
  expect(ids).toHaveLength(2);
  expect(await codeOf(objects.create(call, { attributes: aes() }))).toBe('kmip-space-full');
  for (const id of ids) {
    await objects.destroy(call, id);
    await harness.must('POST', `${stateOf('small', id)}/remove`, {});
  }
  await harness.must('DELETE', `${clients}/crowd`);
  await harness.must('DELETE', `${spaces}/small`);
  const fresh = await harness.client('crowd', 'small');
  expect((await objects.locate(fresh, { attributes: [named('n')], storageStatusMask: 7 })).ids).toEqual([]);
});

test('guesses of a password are no longer compared after a hundred in a minute from an address; other entries, addresses and long passwords go on', async () => {
  const entry = async (name: string, password: string) => {
    const { client } = await harness.client(name, 'own');
    await harness.must('PATCH', `${clients}/${name}`, { username: 'array', password });
    return (guess: string, from: string) => harness.objects.judgeCredentials(client, { username: 'array', password: guess }, from);
  };
  const [short, beside, long] = [await entry('short', 'battery'), await entry('beside', 'battery'), await entry('long', 'x'.repeat(16))];
  for (let guess = 0; guess < 100; guess++) await Promise.all([short(`${guess}`, '192.0.2.1'), long(`${guess}`, '192.0.2.1')]);
  expect(await Promise.all([short('battery', '192.0.2.1'), long('wrong', '192.0.2.1')])).toEqual(['rate-limited', 'rate-limited']);
  const right = [short('battery', '192.0.2.2'), beside('battery', '192.0.2.1'), long('x'.repeat(16), '192.0.2.1')];
  expect(await Promise.all(right)).toEqual([undefined, undefined, undefined]);
  harness.clock.advance(61);
  expect(await short('battery', '192.0.2.1')).toBeUndefined();
});

test('pairs and single objects that are made at once pass the limit of their space together as little as one after another', async () => {
  const { kmip } = harness.parts;
  await harness.must('POST', spaces, { name: 'narrow', 'max-objects': 5 });
  await harness.must('POST', '/v1/config/keystore/transit-keys', { name: 'narrow', cipher: 'ed25519', exportable: true });
  const tie = () => harness.must('POST', '/v1/state/keystore/kmip-spaces/narrow/tie', { 'transit-key': 'narrow' });
  const made = await Promise.allSettled([tie(), tie(), tie(), tie(), tie()]);
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
  const call = await harness.client('narrow', 'narrow');
  const more = await Promise.allSettled([1, 2].map(() => harness.objects.create(call, { attributes: aes() })));
  expect(more.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  // An appliance of an earlier version has made one, and counted nothing: what is there counts.
  const key = Array.from(kmip.tables.counts.keys([])).find((one) => kmip.tables.objects.count(one) === 5);
  await kmip.store.write((transaction) => transaction.delete(kmip.tables.counts, key ?? []));
  expect(await codeOf(harness.objects.create(call, { attributes: aes() }))).toBe('kmip-space-full');
  await kmip.store.write((transaction) => transaction.put(kmip.tables.counts, key ?? [], 9));
  await harness.must('PATCH', `${spaces}/narrow`, { 'max-objects': 6 });
  await harness.objects.create(call, { attributes: aes() });
  expect(await codeOf(harness.objects.create(call, { attributes: aes() }))).toBe('kmip-space-full');
});

test('the key of each space takes part in rotations of the wrapping key, and goes with the tenant', async () => {
  const { kmip } = harness.parts;
  const found = Array.from(kmip.tables.spaces.entries([])).length;
  expect(found).toBeGreaterThan(1);
  const { instanceOf } = await import('../../../plugins/kmip/provision.ts');
  const instance = instanceOf(harness.parts);
  expect(Array.from(instance.wrappedKeys?.() ?? [])).toHaveLength(found);

  const asLeaver = await makeTenant('leaver');
  const { certificate } = await makeIdentity({ subject: 'CN=leaver' });
  const fingerprints = [hash('sha256', certificate, 'hex')];
  expect(await asLeaver('POST', clients, { name: 'c', space: 'theirs', fingerprints, 'token-policies': ['root'] })).toBe('201');
  const call = harness.callOf(new ClientCertificate(new X509Certificate(certificate)));
  const { id } = await harness.objects.create(call, { attributes: [...aes(), named('leaves')] });
  const { tenantId } = call.client;
  const left = (): readonly number[] => {
    kmip.store.refresh();
    const { spaces: own, clients: entries, objects, materials, attributes, firstTenants, clientPlaces } = kmip.tables;
    const ofTenant = [own, entries, objects, materials, attributes].map((table) => table.count([tenantId]));
    const ofCertificates = [...firstTenants.entries([])].filter(([, one]) => one.tenantId === tenantId).length;
    return [...ofTenant, ofCertificates, [...clientPlaces.keys([])].filter((key) => key[2] === tenantId).length];
  };
  await expect.poll(left).toEqual([1, 1, 1, 1, 1, 1, 1]);
  const removal = () => harness.appliance.request('DELETE', '/v1/config/tenants/leaver');
  expect((await removal()).body).toMatchObject({ code: 'in-use' });
  await harness.objects.destroy(call, id);
  const steps = [
    ['POST', `${stateOf('theirs', id)}/remove`],
    ['DELETE', `${clients}/c`],
    ['DELETE', `${spaces}/theirs`],
  ] as const;
  for (const [method, path] of steps) expect(await asLeaver(method, path, {})).toMatch(/^20[04]$/);
  expect((await removal()).status).toBe(204);
  await instance.dropTenant?.(tenantId);
  expect(left()).toEqual([0, 0, 0, 0, 0, 0, 0]);
  expect(harness.objects.clientOf(call.certificate)).toBeUndefined();
  expect(await harness.appliance.check()).toEqual([]);
});
