// The actions of `/v1/state/keystore/tls/ca/<name>` and its list of certificates, a file each.
import type { AnyEndpoint } from '../../../core/http/endpoint.ts';
import type { CaContext } from '../context.ts';
import { certifyOther } from './elsewhere/certify-ca.ts';
import { makeCsr } from './elsewhere/csr.ts';
import { importCert } from './elsewhere/import-cert.ts';
import { listEabKeys, makeEabKeyAction, revokeEabKey } from './enrolment/eab-keys.ts';
import { listEnrolmentFailures } from './enrolment/failures.ts';
import { rejectEnrolments } from './enrolment/reject-many.ts';
import { approveEnrolment, listEnrolmentRequests, rejectEnrolment } from './enrolment/requests.ts';
import { listEnrolmentSecrets, makeEnrolmentSecret, revokeEnrolmentSecret } from './enrolment/secrets.ts';
import { importRevocations } from './import-revocations.ts';
import { issueWithKey } from './issue.ts';
import { listCertificates } from './list-certificates.ts';
import { readIssued } from './read-certificate.ts';
import { renew } from './renew.ts';
import { revoke } from './revoke.ts';
import { signCsr } from './sign-csr.ts';

/** Actions, in the order of the API description. */
const actions = [
  ...[signCsr, issueWithKey, certifyOther, renew, makeCsr, importCert, revoke, importRevocations, listCertificates, readIssued],
  ...[makeEnrolmentSecret, listEnrolmentSecrets, revokeEnrolmentSecret],
  ...[makeEabKeyAction, listEabKeys, revokeEabKey],
  ...[listEnrolmentRequests, approveEnrolment, rejectEnrolment, rejectEnrolments, listEnrolmentFailures],
];

export function caActions(context: CaContext): readonly AnyEndpoint[] {
  return actions.map((action) => action(context));
}
