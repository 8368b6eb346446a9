// The same request by EST, by SCEP, by CMP, of a device and of a registration authority, by ACME and by sign-csr gets the same decision, and the same certificate if
// it gets one: random names under random rules.
import { createPrivateKey, sign, X509Certificate } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import * as fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { bitString, encode, explicit, integer, objectIdentifier, Reader, sequence, tag } from '../../../core/der/der.ts';
import acme from '../../../plugins/acme/index.ts';
import cmp from '../../../plugins/cmp/index.ts';
import est from '../../../plugins/est/index.ts';
import { AcmeClient, bindExternally } from '../../harness/acme/client.ts';
import { makeAuthority } from '../../harness/cmp/authority.ts';
import { send } from '../../harness/cmp/device.ts';
import { bodies, byMac, implicitConfirm, type Protect, raVerified } from '../../harness/cmp/messages.ts';
import { ask as request } from '../../harness/client.ts';
import { makeCsr, x509 } from '../ca/pki.ts';
import { pkcs10 } from '../est/client.ts';
import { ask, certificatesOf, type Device, makeDevice, newTransaction } from './device.ts';
import { type ScepAppliance, secret, startScepAppliance } from './scep-appliance.ts';

let appliance: ScepAppliance;
let device: Device;
let signer: string;
const cas: string[] = [];

const rules = [
  { 'allowed-domains': ['example.test'], 'allow-subdomains': true, 'allow-bare-domains': true },
  { 'allowed-domains': ['example.test', 'b.test'], 'allow-bare-domains': true, 'allow-ip-sans': true, ttl: '2d' },
  {
    'allowed-domains': ['b.test'],
    'allow-subdomains': true,
    'allow-ip-sans': true,
    'allowed-uris': ['spiffe://b.test/one', 'https://b.test/*'],
  },
  { 'allowed-domains': ['example.test', 'a.b.test'], 'allow-subdomains': true, 'allow-bare-domains': true, 'allow-wildcards': true },
  { 'allowed-domains': ['example.test'], 'allow-bare-domains': true, 'allow-wildcards': true },
];
const authority = makeAuthority();

beforeAll(async () => {
  appliance = await startScepAppliance({ plugins: [est, cmp, acme] });
  device = await makeDevice();
  for (const one of rules)
    cas.push(
      await appliance.makeCa({
        est: { ...one, enabled: true, 'initial-enroll-secret': secret },
        scep: { enabled: true, 'initial-enroll-secret': secret },
        cmp: { enabled: true, 'initial-enroll-secret': secret, 'ra-certs': [authority.pem] },
        acme: { enabled: true },
      }),
    );
  const allowed = [{ path: '/v1/state/keystore/tls/ca/*/sign-csr', operations: { execute: 'allow' } }];
  expect((await appliance.request('POST', '/v1/config/policy/policies', { name: 'signs', 'rest-api': { rules: allowed } })).status).toBe(
    201,
  );
  signer = ((await appliance.request('POST', '/v1/state/keystore/token/create', { policies: ['signs'] })).body as { token: string }).token;
});

const hosts = [
  ...[
    'example.test',
    'a.example.test',
    'A.Example.Test',
    'deep.a.example.test',
    'b.test',
    'other.test',
    'notexample.test',
    '*.example.test',
    '*.a.example.test',
    '*.other.test',
    '*.b.test',
    '*.*.example.test',
    'x*.example.test',
    '*',
  ],
  ...[
    'a..example.test',
    'example.test.',
    '-a.example.test',
    'a_b.example.test',
    'xn--mnchen-3ya.example.test',
    'x'.repeat(64),
    'localhost',
    '192.0.2.1',
  ],
];
const name = fc.oneof(
  fc.constantFrom(...hosts).map((value) => ({ type: 'dns' as const, value })),
  fc.constantFrom('192.0.2.1', '127.0.0.1', '2001:db8::1').map((value) => ({ type: 'ip' as const, value })),
  fc
    .constantFrom('spiffe://b.test/one', 'https://b.test/x', 'https://b.test/', 'urn:dev:2')
    .map((value) => ({ type: 'url' as const, value })),
  fc.constant({ type: 'email' as const, value: 'a@example.test' }),
);
const subject = fc.oneof(
  fc.constantFrom(...hosts).map((host) => [{ CN: [host] }]),
  fc.constantFrom(...hosts).map((host) => [{ O: ['Plant'] }, { CN: [host] }]),
  fc.constantFrom([], [{ CN: ['Printer 7'] }], [{ '2.5.4.5': ['AB12'] }], [{ CN: ['a.example.test'] }, { CN: ['b.test'] }]),
);
const asked = fc.record({ ca: fc.nat(rules.length - 1), subject, names: fc.array(name, { maxLength: 3 }) }) as fc.Arbitrary<Asked>;
type Asked = { readonly ca: number; readonly subject: x509.JsonName; readonly names: x509.JsonGeneralNames };

/** Sends the request on each way; a certificate, or undefined. */
const ways: Readonly<Record<string, (ca: string, asked: Asked) => Promise<X509Certificate | undefined>>> = {
  async est(ca, asking) {
    const { body, headers } = pkcs10(await csrOf(asking));
    const where = `/.well-known/est/${appliance.tenantId}/${ca}/simpleenroll`;
    const authorization = `Basic ${Buffer.from(`est:${secret}`).toString('base64')}`;
    const answer = await request(appliance.est, where, {
      method: 'POST',
      body,
      headers: { ...headers, authorization },
      ca: appliance.caPem,
    });
    expect([200, 400, 403]).toContain(answer.status);
    return answer.status === 200 ? certificatesOf(Buffer.from(answer.text, 'base64'))[0] : undefined;
  },
  async scep(ca, asking) {
    const content = await csrOf(asking, new x509.ChallengePasswordAttribute(secret));
    const reply = await ask(appliance, ca, device, content, { transactionId: newTransaction() });
    expect(reply.status).toBe(200);
    return reply.certificate;
  },
  /** as PKCS#10 */
  async p10cr(ca, asking) {
    return byCmp(ca, bodies.p10cr, await csrOf(asking));
  },
  /** as a template of CRMF */
  async ir(ca, asking) {
    return byCmp(ca, bodies.ir, sequence(templateOf(await csrOf(asking))));
  },
  /** by a registration authority, which vouches for the key */
  async authority(ca, asking) {
    return byCmp(ca, bodies.ir, sequence(templateOf(await csrOf(asking), raVerified)), authority.protect);
  },
  async signCsr(ca, asking) {
    const csr = pemOf(await csrOf(asking));
    const answer = await appliance.request(
      'POST',
      `/v1/state/keystore/tls/ca/${ca}/sign-csr`,
      { csr, usages: ['client-auth'] },
      { token: signer },
    );
    expect([200, 400, 403]).toContain(answer.status);
    return answer.status === 200 ? new X509Certificate(answer.body.certificate) : undefined;
  },
};

async function byCmp(ca: string, type: number, body: Uint8Array, protect: Protect = byMac(secret)): Promise<X509Certificate | undefined> {
  const url = `${appliance.plain}/cmp/${appliance.tenantId}/${ca}`;
  const reply = await send(url, { type, body, protect, info: [implicitConfirm] }, secret);
  expect([reply.http, reply.protectedBy]).toEqual([200, protect === authority.protect ? 'signature' : 'mac']);
  return reply.certificate;
}

/** The CertReqMsg with subject, key and extensions of a PKCS#10. `proof`: in place of the signature of the key. */
function templateOf(csr: Buffer, proof?: Uint8Array): Uint8Array {
  const info = new Reader(csr).enter(tag.sequence).enter(tag.sequence);
  info.next(tag.integer);
  const subjectName = info.next(tag.sequence).whole;
  const key = info.next(tag.sequence).content;
  const attributes = info.optional(tag.constructed(0))?.content ?? new Uint8Array(0);
  const [attribute] = new Reader(attributes).rest();
  const values = attribute === undefined ? undefined : new Reader(attribute.content);
  values?.next(tag.oid);
  const extensions = values === undefined ? [] : [encode(tag.constructed(9), values.enter(tag.set).next(tag.sequence).content)];
  const template = sequence(explicit(5, subjectName), encode(tag.constructed(6), key), ...extensions);
  const wanted = sequence(integer(0), template);
  if (proof !== undefined) return sequence(wanted, proof);
  const algorithm = sequence(objectIdentifier('1.2.840.113549.1.1.11'), encode(tag.null));
  const signature = bitString(sign('sha256', wanted, createPrivateKey(device.keys.pem)));
  return sequence(wanted, encode(tag.constructed(1), algorithm, signature));
}

/** An order of an account with a key of the administrator for the names of the request: what can be asked by ACME at all. */
async function byAcme(ca: string, asking: Asked): Promise<X509Certificate | undefined> {
  const names = [...new Set(asking.names.map(({ value }) => value.toLowerCase()))];
  const made = await appliance.act(ca, 'make-eab-key', { names });
  if (made.status !== 200) return undefined;
  const client = new AcmeClient(`${appliance.secure}/acme/${appliance.tenantId}/${ca}/directory`, appliance.caPem);
  const url = `${client.base}/new-account`;
  await client.register({ externalAccountBinding: bindExternally(client.keys, { ...made.body, url }) });
  const order = await client.order(...names);
  if (order.status !== 201) return undefined;
  let finalized = await client.post(order.body.finalize, { csr: (await csrOf(asking)).toString('base64url') });
  while (finalized.body.status === 'processing') {
    await setTimeout(20);
    finalized = await client.post(order.headers['location'] ?? '', '');
  }
  return finalized.body.status === 'valid' ? new X509Certificate((await client.post(finalized.body.certificate, '')).text) : undefined;
}

const pemOf = (der: Buffer): string =>
  `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64').replace(/.{1,64}/g, '$&\n')}-----END CERTIFICATE REQUEST-----\n`;
const csrOf = ({ subject: wanted, names }: Asked, ...attributes: x509.Attribute[]): Promise<Buffer> =>
  makeCsr({ keys: device.keys, subject: wanted, ...(names.length === 0 ? {} : { names }), attributes });

/** What the decision has made of it: all but serial number and signature. */
function contentOf(certificate: X509Certificate | undefined): unknown {
  if (certificate === undefined) return 'refused';
  const { subject: of, subjectAltName, keyUsage, validFrom, validTo, publicKey } = certificate;
  const days = Math.round((Date.parse(validTo) - Date.parse(validFrom)) / 86_400_000);
  return { of, subjectAltName, keyUsage, days, key: publicKey.export({ format: 'pem', type: 'spki' }) };
}

test('EST, SCEP, CMP, registration authorities and sign-csr decide alike, whatever is asked', { timeout: 120_000 }, async () => {
  let issued = 0;
  await fc.assert(
    fc.asyncProperty(asked, async (asking) => {
      // Refusals are limited by address.
      appliance.clock.step(61);
      const ca = cas[asking.ca] as string;
      const decided = await Promise.all(Object.entries(ways).map(async ([way, send]) => [way, contentOf(await send(ca, asking))] as const));
      const [, first] = decided[0] as (typeof decided)[number];
      for (const one of decided) expect(one).toEqual([one[0], first]);
      if (first !== 'refused') issued += 1;
    }),
    {
      numRuns: 20,
      examples: [
        [{ ca: 0, subject: [{ CN: ['a.example.test'] }], names: [{ type: 'dns', value: 'a.example.test' }] }],
        [{ ca: 0, subject: [{ CN: ['*.example.test'] }], names: [{ type: 'dns', value: '*.example.test' }] }],
        [{ ca: 3, subject: [{ CN: ['*.example.test'] }], names: [{ type: 'dns', value: '*.example.test' }] }],
        [{ ca: 4, subject: [], names: [{ type: 'dns', value: '*.example.test' }] }],
      ],
    },
  );
  expect(issued).toBeGreaterThan(0);
});

test('ACME decides as EST does about what can be asked by it', { timeout: 120_000 }, async () => {
  let issued = 0;
  const name = fc.constantFrom('example.test', 'a.example.test', 'b.test', 'x.b.test', 'other.test', '192.0.2.7', '*.example.test');
  await fc.assert(
    fc.asyncProperty(
      fc.nat(rules.length - 1),
      fc.uniqueArray(name, { minLength: 1, maxLength: 3 }),
      fc.boolean(),
      async (index, wanted, hasName) => {
        appliance.clock.step(61);
        const names = wanted.map((value) => ({ type: /^\d/.test(value) ? ('ip' as const) : ('dns' as const), value }));
        const asking: Asked = { ca: index, subject: hasName ? [{ CN: [wanted[0] as string] }] : [], names };
        const [one, other] = [
          await (ways['est'] as (typeof ways)[string])(cas[index] as string, asking),
          await byAcme(cas[index] as string, asking),
        ];
        expect([other?.subject, other?.subjectAltName]).toEqual([one?.subject, one?.subjectAltName]);
        if (other !== undefined) issued += 1;
      },
    ),
    { numRuns: 6, examples: [[0, ['a.example.test'], true]] },
  );
  expect(issued).toBeGreaterThan(0);
});
