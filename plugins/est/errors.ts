// The errors of EST requests: status as the specification's table has it, code for the audit trail, one line of text for the client.
import { type ErrorTable, errorsOf } from '../../core/base/errors.ts';
import { requestErrors } from '../../core/plugin/services/certificate-authority.ts';

export const estErrors = {
  'enrolment-refused': {
    status: 401,
    title: 'Credential not accepted',
    when: 'EST: the shared secret or client certificate is missing, wrong, expired or revoked',
    detail: 'Check the user name, the shared secret and the client certificate of the device, and their validity.',
  },
  'ca-not-usable': {
    status: 503,
    title: 'The CA has expired',
    when: 'EST: the certificate of the CA has expired; renew the CA',
    detail: 'An administrator has to renew the CA.',
  },
  'enrolment-not-configured': {
    status: 403,
    title: 'Enrolment not configured',
    when: 'EST: the CA has neither a first-enrolment secret nor a trust CA, or does not allow re-enrolment',
    detail: 'The administrator sets a first-enrolment secret or a trust CA on the CA, or allows re-enrolment.',
  },
} as const satisfies ErrorTable;

export const failEst = errorsOf(estErrors);

/** Makes the refusal of a request that cannot be read. */
export const failRequest = errorsOf(requestErrors);
