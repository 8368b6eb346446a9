// Protocols beside /v1: with what each of them can change anything without being a request of /v1, and which endpoint that means. A new member of a service, a
// new operation or route is red until it is here.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AnyEndpoint } from '../../core/http/endpoint.ts';
import { type KmipHarness, startKmipHarness } from '../plugins/kmip/harness.ts';
import { makeCsr, makeKeys } from '../plugins/ca/pki.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const at = temporaryDirectory();
let harness: KmipHarness;
let tenantId = '';
beforeAll(async () => {
  harness = await startKmipHarness(at());
  await harness.must('POST', '/v1/config/keystore/tls/ca', { name: 'devices' });
  tenantId = String((await harness.must('GET', '/v1/state/tenants/system')).uuid);
}, 60_000);
afterAll(() => harness.close());

const actOf = (name: string): unknown => {
  const endpoint = harness.appliance.app.routes.find(({ method, path }) => `${method} ${path}` === name) as AnyEndpoint;
  return endpoint.access === 'token' ? endpoint.act : 'public';
};
const membersOf = (service: object): readonly string[] => Object.keys(service).toSorted();

/** Enrolment protocols act by the service of CAs. Their acts must be those of the endpoints; by document, they are judged where the endpoint is. */
describe('the CA of an enrolment protocol', () => {
  const action = (name: string): string => `POST /v1/state/keystore/tls/ca/{name}/${name}`;
  /** Members by which something is issued or ended, each with the endpoint that does the same and its act. */
  const changing: Readonly<Record<string, readonly [endpoint: string, act: unknown]>> = {
    approve: [action('sign-csr'), 'none'],
    approveRenewal: [action('sign-csr'), 'none'],
    enrol: [action('sign-csr'), 'none'],
    enrolProven: [action('sign-csr'), 'none'],
    enrolAgain: [action('sign-csr'), 'none'],
    makeKey: [action('issue'), 'none'],
    // Of devices alone: test/attacks/certificates/acts-through-enrolment.test.ts has the certificates of CAs.
    revoke: [action('revoke'), expect.any(Function)],
  };
  /** Members that read, count, or keep what a protocol itself has to know. */
  const others = [
    ...['tenantId', 'id', 'name', 'enrolment', 'longestTtlSeconds', 'publicKey', 'signatureAlgorithm', 'trustedCertificates', 'trusts'],
    ...['findIssued', 'findBySerial', 'findForbidden', 'findAccountKey', 'findEnrolment', 'findRegistration', 'nextCertificates'],
    ...['requireFewFailures', 'countFailure', 'requireFewUnproven', 'countUnproven', 'countRepeated', 'countRefused', 'noteFailure'],
    ...['forgetFailures', 'revocationList', 'registrationAuthority', 'answerSigner', 'judgeMac', 'readRequest', 'readTemplate'],
    'noteConfirmation',
    ...['subject', 'names', 'keyName', 'challengePassword', 'decryptKey', 'commonNames', 'unproved'],
  ];

  test('does nothing that another endpoint asks approval for', async () => {
    const ca = harness.parts.kmip.authorities.find(tenantId, 'devices');
    const csr = await makeCsr({ keys: await makeKeys('P-256'), subject: 'CN=device' });
    const request = ca?.readRequest(csr);
    const members = new Set([ca, request].flatMap((one) => membersOf(one ?? {})));
    expect([...members].toSorted()).toEqual([...new Set([...Object.keys(changing), ...others])].toSorted());
    for (const [endpoint, act] of Object.values(changing)) expect(actOf(endpoint), endpoint).toEqual(act);
  });
});

test('transit keys of other plugins are described, sign, and take attachments: no member gives material, or ends a key', () => {
  const members = ['attach', 'cipherNames', 'findVersion', 'natureOf', 'requireMaySign', 'requireOneJob', 'signRs256'];
  expect(membersOf(harness.parts.kmip.transitKeys)).toEqual(members);
});

/** Those that need no approval were approved with the entry of the client (test/plugins/kmip/approvals.test.ts). */
test('operations of KMIP are these, and those that end an object destroy', () => {
  const space = '/v1/state/keystore/kmip-spaces/{space}';
  const found = harness.appliance.app.routes.filter(({ method, path }) => method === 'POST' && path.startsWith(space));
  const byAct = Object.groupBy(found, ({ method, path }) => String(actOf(`${method} ${path}`)));
  const namesOf = (act: string): readonly string[] => (byAct[act] ?? []).map(({ path }) => path.slice(space.length + 1)).toSorted();
  expect(Object.keys(byAct).toSorted()).toEqual(['destroy', 'none']);
  expect(namesOf('destroy')).toEqual(['objects/{id}/destroy', 'objects/{id}/remove', 'objects/{id}/revoke']);
  expect(namesOf('none')).toEqual([
    ...['create', 'create-key-pair', 'locate'],
    ...['activate', 'add-attribute', 'attributes', 'check', 'delete-attribute', 'get', 'modify-attribute'].map(
      (one) => `objects/{id}/${one}`,
    ),
    ...['re-key', 'require-use', 'wrap'].map((one) => `objects/{id}/${one}`),
    ...['register', 'register-template', 'tie'],
  ]);
});

/** A route of its own would be one that nothing judges; `buildRoutes` refuses an alias that stands for no endpoint. */
test('Vault writes nothing by itself: each of its routes is a request of /v1', () => {
  const folder = join(import.meta.dirname, '../../plugins/vault');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const writing = files.filter((file) => /store\.write|transaction\.(?:put|delete)|hsm\./.test(readFileSync(join(folder, file), 'utf8')));
  expect([files.length > 10, writing]).toEqual([true, []]);
});
