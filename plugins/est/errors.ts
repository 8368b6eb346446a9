// The errors of EST requests: status as the specification's table has it, code for the audit trail, one line of text for the client.
import { type ErrorTable, errorsOf } from '../../core/base/errors.ts';
import { requestErrors } from '../../core/plugin/services/request-errors.ts';

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
  'keys-in-making': {
    status: 503,
    title: 'Too many keys are being made',
    when: 'EST: the CA, or the sender, has as many keys in making as it may have at once; try again after Retry-After',
    detail: 'Keys are being made for others, or for this sender: send the request again after the time in Retry-After.',
  },
  'sender-gone': {
    status: 408,
    title: 'The sender has gone',
    when: 'EST: who asked for a key closed the connection before it was made; nothing was certified',
    detail: 'Wait for the answer: a key of RSA with 4,096 bits takes seconds.',
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
