// An appliance with object spaces, and clients of KMIP whose operations are sent without a listener.
import { hash, X509Certificate } from 'node:crypto';
import { TestClock } from '../../harness/clock.ts';
import type { AnyPlugin } from '../../../core/plugin/plugin.ts';
import { ClientCertificate } from '../../../core/tls/client-certificate.ts';
import ca from '../../../plugins/ca/index.ts';
import kmip from '../../../plugins/kmip/index.ts';
import type { Attribute, KmipCall, ObjectService } from '../../../plugins/kmip/objects/object-service.ts';
import { instanceOf, type KmipParts, partsOf } from '../../../plugins/kmip/provision.ts';
import transit from '../../../plugins/transit/index.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import type { Answer } from '../../harness/client.ts';
import { makeIdentity, makeKeys, makeCsr } from '../ca/pki.ts';

export type KmipHarness = {
  readonly appliance: TestAppliance;
  readonly clock: TestClock;
  readonly objects: ObjectService;
  readonly parts: KmipParts;
  /** A request of the root token; fails the test unless it succeeds. */
  must(method: string, path: string, body?: unknown): Promise<Answer['body']>;
  /** Makes a space, unless it is there, and a client of it by the fingerprint of a new certificate. */
  client(name: string, space: string, policies?: readonly string[]): Promise<KmipCall>;
  /** A call of the client that a certificate is now. */
  callOf(certificate: ClientCertificate): KmipCall;
  /** A certificate of a CA of the appliance. */
  certify(caName: string, subject: string): Promise<{ readonly certificate: ClientCertificate; readonly serial: string }>;
  close(): Promise<void>;
};

export const spaces = '/v1/config/keystore/kmip-spaces';
export const clients = '/v1/config/keystore/kmip-clients';
export const stateOf = (space: string, id = ''): string => `/v1/state/keystore/kmip-spaces/${space}/objects${id === '' ? '' : `/${id}`}`;

export async function startKmipHarness(directory: string, more: readonly AnyPlugin[] = []): Promise<KmipHarness> {
  const clock = new TestClock(Temporal.Now.instant().toString());
  let parts: KmipParts | undefined;
  const seen: AnyPlugin = { ...kmip, provision: (context) => instanceOf((parts = partsOf(context))) };
  const appliance = await startTestAppliance({ directory, clock, plugins: [transit, ca, seen, ...more] });
  if (parts === undefined) throw new Error('the plugin was not provisioned');
  const made = parts;
  const must: KmipHarness['must'] = async (method, path, body) => {
    const answer = await appliance.request(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const callOf: KmipHarness['callOf'] = (certificate) => {
    const client = made.objects.clientOf(certificate);
    if (client === undefined) throw new Error('nobody has this certificate');
    return { client, certificate, clientIp: '127.0.0.1', userAgent: 'KMIP 1.4' };
  };
  return {
    ...{ appliance, clock, objects: made.objects, parts: made, must, callOf },
    async client(name, space, policies = ['root']) {
      if ((await appliance.request('GET', `${spaces}/${space}`)).status === 404) await must('POST', spaces, { name: space });
      const { certificate } = await makeIdentity({ subject: `CN=${name}` });
      const fingerprints = [hash('sha256', new X509Certificate(certificate).raw, 'hex')];
      await must('POST', clients, { name, space, fingerprints, 'token-policies': policies });
      return callOf(new ClientCertificate(new X509Certificate(certificate)));
    },
    async certify(caName, subject) {
      const csr = (await makeCsr({ keys: await makeKeys('P-256'), subject })).toString('base64');
      const { certificate, serial } = await must('POST', `/v1/state/keystore/tls/ca/${caName}/sign-csr`, { csr });
      return { certificate: new ClientCertificate(new X509Certificate(certificate as string)), serial: serial as string };
    },
    async close() {
      const findings = await appliance.check();
      if (findings.length > 0) throw new Error(JSON.stringify(findings));
      await appliance.close();
    },
  };
}

/** Name as KMIP has it. */
export const named = (text: string): Attribute => ({
  name: 'Name',
  value: {
    type: 'structure',
    fields: [
      ['NameValue', { type: 'text', value: text }],
      ['NameType', { type: 'enumeration', value: 1 }],
    ],
  },
});

/** Algorithm, length and mask of an AES key. */
export const aes = (bits = 256, mask = 12): readonly Attribute[] => [
  { name: 'Cryptographic Algorithm', value: { type: 'enumeration', value: 3 } },
  { name: 'Cryptographic Length', value: { type: 'integer', value: bits } },
  { name: 'Cryptographic Usage Mask', value: { type: 'integer', value: mask } },
];

/** Code of the refusal of an operation; undefined where it succeeded. */
export async function codeOf(operation: Promise<unknown>): Promise<string | undefined> {
  return operation.then(
    () => undefined,
    (error: unknown) => (error as { code?: string }).code ?? String(error),
  );
}
