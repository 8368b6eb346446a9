// The same request by EST, by SCEP and by sign-csr gets the same decision, and the same certificate if it gets one: random names under random rules.
import { X509Certificate } from 'node:crypto';
import * as fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import est from '../../../plugins/est/index.ts';
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
];

beforeAll(async () => {
  appliance = await startScepAppliance({ plugins: [est] });
  device = await makeDevice();
  for (const one of rules)
    cas.push(
      await appliance.makeCa({
        est: { ...one, enabled: true, 'initial-enroll-secret': secret },
        scep: { enabled: true, 'initial-enroll-secret': secret },
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

test('EST, SCEP and sign-csr decide alike, whatever is asked', { timeout: 120_000 }, async () => {
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
    { numRuns: 80, examples: [[{ ca: 0, subject: [{ CN: ['a.example.test'] }], names: [{ type: 'dns', value: 'a.example.test' }] }]] },
  );
  expect(issued).toBeGreaterThan(0);
});
