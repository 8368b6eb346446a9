// CAs by whose certificates somebody logs in: who changes how devices get these changes who logs in, as a change of the role does.
import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { makeIdentity } from '../../plugins/ca/pki.ts';
import { type People, rule, rulePath, startPeople } from './people.ts';

const at = temporaryDirectory();
let people: People;
const cas = '/v1/config/keystore/tls/ca';
const codeOf = ({ status, body }: Answer): string => (status < 300 ? String(status) : `${status} ${String(body?.code)}`);

async function must(method: string, path: string, body: object): Promise<void> {
  const { status, body: said } = await people.as('root', method, path, body);
  expect([status, JSON.stringify(said)]).toEqual([201, expect.anything()]);
}
const rootCertificate = async (subject: string): Promise<string> => {
  const { certificate } = await makeIdentity({ subject, ca: true });
  return new X509Certificate(certificate).toString();
};

beforeAll(async () => {
  people = await startPeople(at());
  const est = (trusted: string) => ({ est: { enabled: true, 'initial-enroll-trust-ca': trusted } });
  await must('POST', cas, { name: 'makers', 'ca-cert': await rootCertificate('CN=makers') });
  await must('POST', cas, { name: 'sensors', ...est('makers') });
  await must('POST', cas, { name: 'partners', 'ca-cert': await rootCertificate('CN=partners') });
  for (const name of ['arrays', 'printers']) await must('POST', cas, { name });
  const role = { name: 'sensors', 'trust-ca': 'sensors', names: ['*.sensors.example'], 'token-policies': ['user'] };
  await must('POST', '/v1/config/keystore/authentication/certificate/roles', role);
  const elsewhere = { ...role, name: 'partners', 'trust-ca': 'partners', revocation: 'none' };
  await must('POST', '/v1/config/keystore/authentication/certificate/roles', elsewhere);
  await must('POST', '/v1/config/keystore/kmip-spaces', { name: 'arrays' });
  const client = { name: 'array-1', space: 'arrays', 'trust-ca': 'arrays', 'certificate-name': 'array-1.example', 'token-policies': [] };
  await must('POST', '/v1/config/keystore/kmip-clients', client);
  await must('POST', rulePath, rule('any', { acts: ['stop'], needed: 1 }));
}, 60_000);
afterAll(() => people.appliance.close());

const change = async (name: string, fields: object): Promise<string> => codeOf(await people.as('root', 'PATCH', `${cas}/${name}`, fields));
const acme = { acme: { enabled: true } };
const needed = '403 approval-needed';

test.each(['sensors', 'arrays'])('a change of %s, of which certificates log in, is a change of trust', async (name) => {
  for (const fields of [acme, { est: { enabled: true, 'initial-enroll-secret': 'a secret that nobody knows' } }])
    expect(await change(name, fields)).toBe(needed);
});

test('so is another certificate of a CA elsewhere, and of one whose devices get certificates that log in', async () => {
  for (const name of ['partners', 'makers']) expect(await change(name, { 'ca-cert': await rootCertificate('CN=mine') })).toBe(needed);
});

test('so is their removal', async () => {
  for (const name of ['sensors', 'arrays', 'partners', 'makers']) {
    const answer = await people.as('root', 'DELETE', `${cas}/${name}`);
    expect(codeOf(answer)).toMatch(/^403 approval-needed|^409/);
  }
});

test('CAs by which nobody logs in are changed as ever, and what they issue needs no approval', async () => {
  expect(await change('printers', acme)).toBe('204');
  expect(codeOf(await people.as('root', 'POST', cas, { name: 'more' }))).toBe('201');
  expect(await change('printers', { 'deletion-allowed': true })).toBe('204');
});
