// What the owner of a domain says in the name service: CAA records (RFC 8659, RFC 8657), and wildcards, which the name service alone proves.
import { hash, X509Certificate } from 'node:crypto';
import type { CaaRecord } from 'node:dns';
import { beforeAll, describe, expect, test } from 'vitest';
import { requireAllowedByCaa } from '../../../plugins/acme/validation/caa.ts';
import { type AcmeClient, type AcmeReply, bindExternally, encode } from '../../harness/acme/client.ts';
import { makeCsr, makeKeys } from '../ca/pki.ts';
import { type AcmeAppliance, openAcme, startAcmeAppliance } from './acme-appliance.ts';

let appliance: AcmeAppliance;
let ca: string;
const identity = 'ca.example.net';

beforeAll(async () => {
  appliance = await startAcmeAppliance();
  ca = await appliance.makeCa({
    est: { ...openAcme.est, 'allow-wildcards': true },
    acme: { ...openAcme.acme, 'caa-identities': [identity] },
  });
});

async function account(name = ca): Promise<AcmeClient> {
  const client = appliance.client(name);
  expect((await client.register()).status).toBe(201);
  return client;
}

type Challenge = { readonly type: string; readonly url: string; readonly token: string };

/** Proves each name by dns-01, or by http-01; returns the order in the end. */
async function enrol(client: AcmeClient, names: readonly string[], way: 'dns-01' | 'http-01' = 'dns-01'): Promise<AcmeReply> {
  const order = await client.order(...names);
  expect({ status: order.status, body: order.body }).toMatchObject({ status: 201 });
  for (const url of order.body.authorizations) {
    const { body } = await client.post(url, '');
    const { token, url: at } = body.challenges.find(({ type }: Challenge) => type === way);
    const authorization = client.keyAuthorization(token);
    if (way === 'http-01') appliance.pages.set(`/.well-known/acme-challenge/${token}`, authorization);
    else {
      const name = `_acme-challenge.${body.identifier.value}`;
      appliance.dns.texts.set(name, [...(appliance.dns.texts.get(name) ?? []), hash('sha256', authorization, 'base64url')]);
    }
    await client.post(at, {});
    expect((await client.until(url, 'pending')).body.status).toBe('valid');
  }
  const csr = encode(await makeCsr({ keys: await makeKeys('P-256'), subject: '', names: names.map((value) => ({ type: 'dns', value })) }));
  expect((await client.post(order.body.finalize, { csr })).status).toBe(200);
  return client.until(order.headers['location'] ?? '', 'processing');
}

const refused = (detail: string) => ({
  body: { status: 'invalid', error: { type: 'urn:ietf:params:acme:error:caa', detail: expect.stringContaining(detail) } },
});

describe('CAA records', () => {
  test('without any, the names above are asked up to the root of the tree, and the certificate is issued', async () => {
    const from = appliance.dns.asked.length;
    expect(await enrol(await account(), ['a.none.example.test'], 'http-01')).toMatchObject({ body: { status: 'valid' } });
    const asked = appliance.dns.asked.slice(from).filter((one) => one.endsWith(' 257'));
    expect(asked).toEqual(['a.none.example.test 257', 'none.example.test 257', 'example.test 257', 'test 257']);
    expect((await (await account()).fetch(appliance.directoryOf(ca))).body.meta.caaIdentities).toEqual([identity]);
  });

  const rows: readonly (readonly [string, readonly string[], string | undefined])[] = [
    ['of this CA', [`0 issue ${identity}`], undefined],
    ['of this CA in other letters, beside one of another CA', ['0 issue other.example', '0 issue CA.Example.NET'], undefined],
    ['of another CA', ['0 issue other.example'], 'other CAs'],
    ['that allow nobody', ['0 issue ;'], 'other CAs'],
    ['with a report address alone', ['0 iodef mailto:a@example.test'], undefined],
    ['for wildcards of another CA alone', ['0 issuewild other.example'], undefined],
    ['of a kind that is not known', ['0 unknown x'], undefined],
    ['of a kind that is not known, critical', ['128 unknown x', `0 issue ${identity}`], 'critical'],
    ['of a kind of the name of the flags, critical', ['128 critical x', `0 issue ${identity}`], 'critical'],
    ['for another account', [`0 issue ${identity}; accounturi=https://elsewhere.example/1`], 'another account'],
    ['for this proof', [`0 issue ${identity}; validationmethods=dns-01,http-01`], undefined],
    ['for another proof', [`0 issue ${identity}; validationmethods=dns-01`], 'another proof'],
    [
      'with a semicolon and no parameters, or one that is not known',
      [`0 issue ${identity};`, `0 issue ${identity}; a-b = c; d=`],
      undefined,
    ],
  ];
  test.each(rows)('%s', async (_which, records, detail) => {
    const domain = `d${rows.findIndex(([which]) => which === _which)}.example.test`;
    appliance.dns.caa.set(domain, records);
    const end = await enrol(await account(), [`www.${domain}`], 'http-01');
    expect(end).toMatchObject(detail === undefined ? { body: { status: 'valid' } } : refused(detail));
  });

  test.each([
    ['%%%%%', 'not of the form'],
    ['account uri=x', 'not of the form'],
    ['accounturi', 'not of the form'],
    ['-a=b', 'not of the form'],
    ['validationmethods=http-01, dns-01', 'not of the form'],
    ['a=b;', 'not of the form'],
    ['validationmethods=http-01; ValidationMethods=http-01', 'twice'],
  ])('whose parameters are "%s" let nobody issue', async (parameters, reason) => {
    const records = [{ critical: 0, issue: `${identity}; ${parameters}`, type: 'CAA' }] as unknown as CaaRecord[];
    const judged = requireAllowedByCaa([{ identifier: { type: 'dns', value: 'a.example.test' }, way: 'http-01' }], {
      ...{ identities: [identity], accountUrl: 'https://ca.example.net/1', find: () => Promise.resolve(records) },
    });
    await expect(judged).rejects.toThrow(reason);
  });

  test('that state the account twice let nobody issue', async () => {
    const client = await account();
    appliance.dns.caa.set('twice.example.test', [`0 issue ${identity}; accounturi=${client.kid}; accounturi=${client.kid}`]);
    expect(await enrol(client, ['twice.example.test'], 'http-01')).toMatchObject(refused('accounturi twice'));
  });

  test('for this account, and a name below that has records of its own', async () => {
    const client = await account();
    appliance.dns.caa.set('own.example.test', [`0 issue ${identity}; accounturi=${client.kid}`]);
    expect(await enrol(client, ['own.example.test'], 'http-01')).toMatchObject({ body: { status: 'valid' } });
    expect(await enrol(await account(), ['own.example.test'], 'http-01')).toMatchObject(refused('another account'));
    appliance.dns.caa.set('free.own.example.test', [`0 issue ${identity}`]);
    expect(await enrol(await account(), ['free.own.example.test'], 'http-01')).toMatchObject({ body: { status: 'valid' } });
  });

  test('that nobody can ask for are the end of the order, and none is issued', async () => {
    appliance.dns.failing.add('failing.example.test');
    expect(await enrol(await account(), ['www.failing.example.test'], 'http-01')).toMatchObject({
      body: { status: 'invalid', error: { type: 'urn:ietf:params:acme:error:dns' } },
    });
  });

  test('are not asked by a CA that has no name in them', async () => {
    const name = await appliance.makeCa(openAcme);
    appliance.dns.caa.set('closed.example.test', ['0 issue other.example']);
    expect(await enrol(await account(name), ['closed.example.test'], 'http-01')).toMatchObject({ body: { status: 'valid' } });
  });
});

describe('a wildcard', () => {
  test('is proved by dns-01 alone, beside the name above it, and issued', async () => {
    const client = await account();
    const names = ['*.wild.example.test', 'wild.example.test'];
    const order = await client.order(...names);
    const shown = await client.post(order.body.authorizations[0], '');
    expect(shown.body).toMatchObject({ identifier: { type: 'dns', value: 'wild.example.test' }, wildcard: true });
    expect(shown.body.challenges.map(({ type }: Challenge) => type)).toEqual(['dns-01']);
    const end = await enrol(client, names);
    expect(end.body.status).toBe('valid');
    const leaf = new X509Certificate((await client.post(end.body.certificate, '')).text);
    expect(leaf.subjectAltName?.split(', ').toSorted()).toEqual(names.map((name) => `DNS:${name}`).toSorted());
  });

  test('has records of its own, before those for other names', async () => {
    appliance.dns.caa.set('w1.example.test', ['0 issue other.example', `0 issuewild ${identity}`]);
    appliance.dns.caa.set('w2.example.test', [`0 issue ${identity}`, '0 issuewild ;']);
    expect(await enrol(await account(), ['*.w1.example.test'])).toMatchObject({ body: { status: 'valid' } });
    expect(await enrol(await account(), ['*.w2.example.test'])).toMatchObject(refused('other CAs'));
    expect(await enrol(await account(), ['w2.example.test'], 'http-01')).toMatchObject({ body: { status: 'valid' } });
  });

  test('is given without a proof to accounts with a key for it, which another key is not', async () => {
    const name = await appliance.makeCa({ est: { ...openAcme.est, 'allow-wildcards': true }, acme: { enabled: true } });
    const client = appliance.client(name);
    const key = (await appliance.act(name, 'make-eab-key', { names: ['*.Wild.example.test'] })).body;
    const url = `${client.base}/new-account`;
    await client.register({ externalAccountBinding: bindExternally(client.keys, { ...key, url }) });
    const rejected = { status: 400, body: { type: 'urn:ietf:params:acme:error:rejectedIdentifier' } };
    for (const other of ['wild.example.test', 'a.wild.example.test', '*.example.test'])
      expect(await client.order(other)).toMatchObject(rejected);
    expect((await client.order('*.wild.example.test')).body.status).toBe('ready');
    expect((await appliance.act(await appliance.makeCa(openAcme), 'make-eab-key', { names: ['*.example.test'] })).status).toBe(400);
  });

  test('is refused where the CA allows none, or no dns-01', async () => {
    const rejected = { status: 400, body: { type: 'urn:ietf:params:acme:error:rejectedIdentifier' } };
    expect(await (await account(await appliance.makeCa(openAcme))).order('*.example.test')).toMatchObject(rejected);
    const name = await appliance.makeCa({
      est: { ...openAcme.est, 'allow-wildcards': true },
      acme: { ...openAcme.acme, challenges: ['http-01'] },
    });
    expect(await (await account(name)).order('*.example.test')).toMatchObject(rejected);
    for (const wrong of ['*.example.com', '*.*.example.test', 'a.*.example.test', '*'])
      expect((await (await account()).order(wrong)).status).toBe(400);
  });
});
