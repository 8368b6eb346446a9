// An appliance with the listener that asks for certificates, a CA of its own, and requests with a client certificate.
import { webcrypto } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestClock } from '../../harness/clock.ts';
import { askingForCertificates } from '../../../core/http/listener/certificate-guard.ts';
import { listenHttps } from '../../../core/http/listener/listeners.ts';
import ca from '../../../plugins/ca/index.ts';
import certificateLogin from '../../../plugins/certificate-login/index.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { type Answer, ask, type Asking } from '../../harness/client.ts';
import { type Identity, makeCsr, makeKeys, type KeyName, type Keys, type Names, x509 } from '../ca/pki.ts';

export type Json = Record<string, unknown>;
/** Certificate, with its chain, and key, PEM. */
export type Client = { readonly key: string; readonly cert: string };

export const roles = '/v1/config/keystore/authentication/certificate/roles';

export type CertificateHarness = {
  readonly appliance: TestAppliance;
  readonly clock: TestClock;
  /** origin of the listener */
  readonly origin: string;
  /** PEM of its certificate */
  readonly trust: string;
  /** A request of the root token at management; fails the test unless it succeeds. */
  must(method: string, path: string, body?: unknown): Promise<Answer['body']>;
  setRole(name: string, fields: Json): Promise<void>;
  /** A request at the listener, over a connection of its own. */
  send(path: string, client: Client | undefined, more?: Asking): Promise<Answer>;
  /** Logs in from an address of its own, so that refusals of one do not limit the next. */
  login(role: string, client: Client | undefined): Promise<Answer>;
  /** A certificate of a CA of the appliance for a key that the test has. */
  certify(
    caName: string,
    subject: string,
    options?: { names?: Names; keys?: Keys; key?: KeyName },
  ): Promise<Client & { readonly serial: string }>;
  close(): Promise<void>;
};

export async function startCertificateHarness(directory: string): Promise<CertificateHarness> {
  const clock = new TestClock(Temporal.Now.instant().toString());
  // Lists are served on this machine.
  const configuration = { 'certificate-login': { listHosts: { allow: ['127.0.0.1'] } } };
  const appliance = await startTestAppliance({ directory, clock, configuration, plugins: [ca, certificateLogin] });
  const [key, cert] = ['key', 'cert'].map((name) => readFileSync(join(directory, `tls-${name}.pem`), 'utf8')) as [string, string];
  const { handler } = appliance.app;
  const listener = await listenHttps({ host: '127.0.0.1', port: 0, identity: { key, cert }, handler, tls: askingForCertificates });
  let callers = 256;
  const must: CertificateHarness['must'] = async (method, path, body) => {
    const answer = await appliance.request(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const send: CertificateHarness['send'] = (path, client, more = {}) =>
    ask(listener.url, path, { method: 'POST', body: {}, ca: cert, client, ...more });
  return {
    appliance,
    clock,
    origin: listener.url,
    trust: cert,
    must,
    setRole: async (name, fields) => void (await must('PUT', `${roles}/${name}`, { names: ['*'], 'token-policies': ['root'], ...fields })),
    send,
    login: (role, client) =>
      send('/v1/certificate-login', client, {
        body: { tenant: 'system', role },
        from: `127.0.${++callers >> 8}.${callers & 255}`,
      }),
    async certify(caName, subject, { names, key: keyName = 'P-256', keys } = {}) {
      const own = keys ?? (await makeKeys(keyName));
      const csr = (await makeCsr({ keys: own, subject, ...(names === undefined ? {} : { names }) })).toString('base64');
      const path = `/v1/state/keystore/tls/ca/${caName}/sign-csr`;
      const { certificate, serial } = (await must('POST', path, { csr })) as Record<string, string>;
      return { key: own.pem, cert: certificate ?? '', serial: serial ?? '' };
    },
    async close() {
      await listener.close(0);
      const findings = await appliance.check();
      if (findings.length > 0) throw new Error(JSON.stringify(findings));
      await appliance.close();
    },
  };
}

/** A revocation list of a CA, PEM. */
export async function listOf(issuer: Identity, revoked: readonly Identity[], nextUpdate: Date): Promise<string> {
  const list = await x509.X509CrlGenerator.create(
    {
      issuer: new x509.X509Certificate(new Uint8Array(issuer.certificate)).subject,
      thisUpdate: new Date(Date.now() - 60_000),
      nextUpdate,
      signingAlgorithm: issuer.keys.signing,
      signingKey: issuer.keys.privateKey,
      entries: revoked.map(({ certificate }) => ({
        serialNumber: new x509.X509Certificate(new Uint8Array(certificate)).serialNumber,
        revocationDate: new Date(Date.now() - 60_000),
      })),
    },
    webcrypto as never,
  );
  return list.toString('pem').replaceAll(/(?<=(?:BEGIN|END) )CRL/g, 'X509 CRL');
}
