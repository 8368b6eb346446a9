// Enrolment by ACME: accounts, orders, proofs by each challenge, certificates, revocation and renewal information.
import { X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { type AcmeClient, encode, makeAccountKeys } from '../../harness/acme/client.ts';
import { makeCsr, makeKeys } from '../ca/pki.ts';
import { type AcmeAppliance, openAcme, startAcmeAppliance } from './acme-appliance.ts';

let appliance: AcmeAppliance;
let ca: string;

beforeAll(async () => {
  appliance = await startAcmeAppliance();
  ca = await appliance.makeCa(openAcme);
});

const csrFor = async (names: readonly string[], subject = ''): Promise<string> => {
  const keys = await makeKeys('P-256');
  return encode(await makeCsr({ keys, subject, names: names.map((value) => ({ type: 'dns', value })) }));
};

/** Proves the names of an order by http-01. */
async function prove(client: AcmeClient, order: { readonly authorizations: readonly string[] }): Promise<void> {
  for (const url of order.authorizations) {
    const { body } = await client.post(url, '');
    const challenge = body.challenges.find(({ type }: { type: string }) => type === 'http-01');
    appliance.pages.set(`/.well-known/acme-challenge/${challenge.token}`, `${client.keyAuthorization(challenge.token)}\n`);
    expect((await client.post(challenge.url, {})).status).toBe(200);
    expect((await client.until(url, 'pending')).body.status).toBe('valid');
  }
}

describe('a client', () => {
  test.each(['ES256', 'RS256', 'ES384', 'EdDSA'] as const)('with a key for %s gets a certificate by http-01', async (alg) => {
    const client = appliance.client(ca, makeAccountKeys(alg));
    expect((await client.register({ contact: ['mailto:a@example.test'], termsOfServiceAgreed: true })).status).toBe(201);
    const { body: order, status, headers } = await client.order('a.example.test', 'B.example.test');
    expect([status, order.status]).toEqual([201, 'pending']);
    await prove(client, order);
    expect((await client.post(headers['location'] ?? '', '')).body.status).toBe('ready');
    const finalized = await client.post(order.finalize, { csr: await csrFor(['a.example.test', 'b.example.test']) });
    expect(finalized).toMatchObject({ status: 200, headers: { location: headers['location'] } });
    const done = await client.until(headers['location'] ?? '', 'processing');
    expect(done.body).toMatchObject({ status: 'valid' });
    const { text, headers: download } = await client.post(done.body.certificate, '');
    expect(download['content-type']).toBe('application/pem-certificate-chain');
    const [leaf, issuer] = text.split(/(?<=-----END CERTIFICATE-----\n)/).map((pem) => new X509Certificate(pem));
    expect([leaf?.subject, leaf?.subjectAltName]).toEqual([undefined, 'DNS:a.example.test, DNS:b.example.test']);
    expect(leaf?.verify((issuer as X509Certificate).publicKey)).toBe(true);
    expect(leaf?.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  });
});
