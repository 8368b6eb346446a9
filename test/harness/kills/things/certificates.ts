// Certificates as things of a storm: issued over the API and over EST, and revoked. They stay listed for ever, as what they are.
import { X509Certificate } from 'node:crypto';
import { readCertsOnly } from '../../../plugins/ca/pki.ts';
import { basic, pkcs10 } from '../../../plugins/est/client.ts';
import type { Answer } from '../../client.ts';
import type { Fixtures } from '../prepared.ts';
import type { Sort, Step } from './thing.ts';

/** Without `serial` where the answer that had it was lost. */
type Issued = { readonly serial?: string; readonly fingerprint?: string; readonly isRevoked: boolean };

type Issuing = Pick<Step<Issued>, 'kind' | 'path' | 'body' | 'more'> & {
  readonly read: (answer: Answer) => X509Certificate | undefined;
};

/** The CA that issues; made before the storm. */
export const issuerName = 'storm-issuer';
export const enrolSecret = 'the enrolment secret of the storm';
const issuer = `/v1/state/keystore/tls/ca/${issuerName}`;

/** Certificates for a request that an administrator brings, and for devices that enrol. */
export function certificateSorts({ tenantId, csr }: Pick<Fixtures, 'tenantId' | 'csr'>): readonly Sort<Issued>[] {
  const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${csr}\n-----END CERTIFICATE REQUEST-----\n`;
  const { body, headers } = pkcs10(Buffer.from(csr, 'base64'), { Authorization: basic(enrolSecret) });
  return [
    sortOf('certificate', {
      ...{ kind: 'sign CSR', path: `${issuer}/sign-csr`, body: { csr: pem, ttl: '30d' } },
      read: (answer) => new X509Certificate(answer.body.certificate),
    }),
    sortOf('device certificate', {
      ...{ kind: 'enrol', path: `/.well-known/est/${tenantId}/${issuerName}/simpleenroll`, body, more: { toEst: true, headers } },
      read: ({ text }) => readCertsOnly(text)[0],
    }),
  ];
}

function sortOf(kind: string, { read, ...issuing }: Issuing): Sort<Issued> {
  return {
    kind,
    create: () => ({
      ...issuing,
      method: 'POST',
      next: { isRevoked: false },
      learn(answer) {
        const { serialNumber = '', fingerprint256 = '' } = read(answer) ?? {};
        return { serial: serialNumber.toLowerCase(), fingerprint: fingerprint256, isRevoked: false };
      },
    }),
    change(_name, issued, dice) {
      if (issued.isRevoked || dice.chance(0.8)) return undefined;
      const body = { serial: issued.serial, reason: 'superseded' };
      return { kind: 'revoke', method: 'POST', path: `${issuer}/revoke`, body, next: { ...issued, isRevoked: true } };
    },
    async use(connection, _name, issued) {
      await connection.do('GET', `${issuer}/certificates/${issued.serial}`);
      return issued;
    },
    async contradiction(connection, _name, issued) {
      if (issued?.serial === undefined) return undefined;
      const { status, body, text } = await connection.send('GET', `${issuer}/certificates/${issued.serial}`);
      if (status !== 200) return `it is not listed (${status})`;
      const wanted = issued.isRevoked ? 'revoked' : 'valid';
      const isSame = new X509Certificate(body.certificate).fingerprint256 === issued.fingerprint;
      return isSame && body.status === wanted ? undefined : `it is not the ${wanted} certificate that was answered: ${text}`;
    },
    isFinal: ({ isRevoked }) => isRevoked,
  };
}
