// The errors of the service: a table from code to status and title, and the class that carries a row of it.
import { approvalErrors } from './approval-errors.ts';
import { credentialErrors } from './credential-errors.ts';

/**
 * One row: HTTP status, short title, when it occurs, and `detail`: how to mend it. The error reference has both. Below 500, callers get
 * `detail` where the thrower gives none; from 500 up they always do, so that it reveals nothing internal.
 */
export type ErrorRow = { readonly status: number; readonly title: string; readonly when: string; readonly detail: string };
export type ErrorTable = Readonly<Record<string, ErrorRow>>;

/** One problem within an error: a sentence, and a pointer such as `auto-rotate/rotate-after`. */
export type ErrorItem = { readonly message: string; readonly info?: string };

export type ErrorDetails = {
  /** for people: names the field, the rule and the fix; never quotes a payload, token, context or raw URL */
  readonly detail?: string;
  readonly items?: readonly ErrorItem[];
  readonly retryAfterSeconds?: number;
  /** the request may have been carried out: then no Retry-After, which says that nothing happened */
  readonly mayBeDone?: true;
  /** methods for 405 */
  readonly allow?: readonly string[];
  readonly cause?: unknown;
  /** a concurrent change invalidated the decision: a retry from the beginning may succeed */
  readonly overtaken?: true;
};

/** Every deliberate refusal of the service. Any other error is answered as `internal-error`. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: string;
  readonly status: number;
  readonly title: string;
  readonly details: ErrorDetails;
  /** the row's `detail`, without anything about this occurrence */
  readonly advice: string;

  constructor(code: string, row: ErrorRow, details: ErrorDetails) {
    const message = details.detail ?? (row.status < 500 ? row.detail : row.title);
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.status = row.status;
    this.title = row.title;
    this.advice = row.detail;
    this.details = { detail: row.detail, ...details };
  }
}

/** Tells whether a retry on the current state may succeed; callers retry before they answer with the error. */
export function isOvertaken(error: unknown): boolean {
  return error instanceof ServiceError && error.details.overtaken === true;
}

/** Reason of an error, for the log. The message of a 5xx error is advice for callers; its cause says what happened. */
export function reasonOf(error: unknown): string {
  const known = error instanceof ServiceError && error.cause !== undefined ? error.cause : error;
  return known instanceof Error ? known.message : String(known);
}

/** Makes the `fail` function of a table: `throw fail('version-unknown', { detail: … })`. A misspelt code does not compile. */
export function errorsOf<T extends ErrorTable>(table: T): (code: keyof T & string, details?: ErrorDetails) => ServiceError {
  return (code, details = {}) => new ServiceError(code, table[code] as ErrorRow, details);
}

/** The errors of the platform; plugins add rows through their manifests. */
export const coreErrors = {
  ...credentialErrors,
  ...approvalErrors,
  'invalid-json': {
    status: 400,
    title: 'The body is not a JSON object',
    when: 'malformed JSON, or a body that is not an object',
    detail: 'Send one JSON object in UTF-8; the message says where it breaks off.',
  },
  'unknown-field': {
    status: 400,
    title: 'Unknown field',
    when: 'the body has a field this operation does not know',
    detail: 'Leave the field out or correct its name; the message names it, and /v1/docs has the fields of every operation.',
  },
  'unknown-parameter': {
    status: 400,
    title: 'Unknown query parameter',
    when: 'the query has a parameter this operation does not know',
    detail: 'Leave the parameter out or correct its name; /v1/docs has the parameters of every operation.',
  },
  'read-only-field': {
    status: 400,
    title: 'Read-only field',
    when: 'the body writes a field that only the service sets',
    detail: 'Leave the field out: only the service sets it.',
  },
  'missing-field': {
    status: 400,
    title: 'Required field missing',
    when: 'a required field is absent',
    detail: 'Send the field that the message names.',
  },
  'invalid-value': {
    status: 400,
    title: 'Invalid value',
    when: 'wrong type, pattern, range or choice',
    detail: 'Correct the value that the message names to the type, range or choice it gives.',
  },
  'invalid-base64': {
    status: 400,
    title: 'Invalid base64',
    when: 'a base64 field is not strict standard base64 with padding',
    detail: 'Encode the field with the standard base64 alphabet, with padding and without line breaks.',
  },
  'invalid-token': {
    status: 401,
    title: 'Token not accepted',
    when: 'no, unknown, expired or disabled token',
    detail: 'Send a token that is valid now as "Authorization: Bearer <token>".',
  },
  'login-failed': {
    status: 401,
    title: 'Login refused',
    when: 'a login was refused, whatever the reason',
    detail: 'Check name, id and secret; ask the administrator whether the secret has expired or been used up.',
  },
  'policy-denied': {
    status: 403,
    title: 'Not allowed by policy',
    when: 'the policies of tenant and token do not both allow the operation',
    detail: 'The policies of tenant and token must both allow this; /v1/state/policy/check tells which rule decides.',
  },
  'pin-refused': {
    status: 403,
    title: 'PIN refused',
    when: 'a token refused the PIN that was to unseal the appliance; it is not tried again',
    detail: 'Find out the right PIN before the next attempt: tokens lock after a few wrong ones.',
  },
  'unseal-code-refused': {
    status: 403,
    title: 'Unseal code refused',
    when: 'a PIN came to a sealed appliance without the unseal code of this seal, and not from the administrator of the machine itself; it was not tried',
    detail: 'Give the unseal code, which the appliance shows on its console and in its log at each seal, or unseal it at the machine.',
  },
  'share-refused': {
    status: 403,
    title: 'Share refused',
    when: 'what a custodian gave to a sealed appliance is not a share of its ceremony; it counts for nothing, and no PIN was tried',
    detail: 'Give the share of the present ceremony as its text has it.',
  },
  'not-found': {
    status: 404,
    title: 'Not found',
    when: 'missing resource, foreign tenant, or unknown path',
    detail: 'Nothing has this path and name, or this caller may not see it; /v1/openapi.json lists every path.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'Method not offered',
    when: 'the path exists with other methods; Allow lists them',
    detail: 'Use one of the methods that the Allow header lists.',
  },
  'already-exists': {
    status: 409,
    title: 'Name exists',
    when: 'the name is in use',
    detail: 'Choose another name, or change what exists with PUT or PATCH.',
  },
  'one-way-flag': {
    status: 409,
    title: 'One-way flag',
    when: 'a flag that can only be set was set back',
    detail: 'Leave the flag out: once it is true it stays true.',
  },
  'immutable-field': {
    status: 409,
    title: 'Field is set at creation only',
    when: 'a creation-time field was changed',
    detail: 'Leave the field out, or create another resource with the value you want.',
  },
  'deletion-not-allowed': {
    status: 409,
    title: 'Deletion not allowed',
    when: 'deletion-allowed is false: of a key, or of a CA with valid certificates',
    detail: 'Set deletion-allowed to true first, if you are sure that nothing needs it.',
  },
  'record-unreadable': {
    status: 409,
    title: 'The record does not open',
    when: 'the requested record was changed or moved outside keystored, so that it cannot be read',
    detail: 'Restore the original record, or delete this one as root.',
  },
  'in-use': {
    status: 409,
    title: 'Still in use',
    when: 'another resource still needs this one',
    detail: 'Delete or change what the message names first.',
  },
  'built-in': {
    status: 409,
    title: 'Built in',
    when: 'a built-in entry was to be changed, deleted or replaced; copy it under another name',
    detail: 'Create a copy under another name, and use that.',
  },
  'not-sealed': {
    status: 409,
    title: 'Not sealed',
    when: 'the appliance was to be unsealed and is not sealed',
    detail: 'Nothing to do: the appliance holds its keys and serves.',
  },
  'key-object-missing': {
    status: 409,
    title: 'The HSM has lost the key',
    when: 'the token no longer has the object of the key, or its wrapping key: it was removed there',
    detail:
      'The token no longer has this key: it was removed there. Rotate the key, or renew the CA, for new work; data of the lost version needs the backup of the token.',
  },
  'token-not-configured': {
    status: 409,
    title: 'The token of the key is not configured',
    when: 'the key is in a token that `hsm/tokens` of the configuration does not name',
    detail: 'Add the token to hsm/tokens of the configuration and start keystored again.',
  },
  'backup-running': {
    status: 409,
    title: 'A backup is running',
    when: 'a backup was requested while another one is running',
    detail: 'Wait until the other backup has ended; its progress is in the state of the backups.',
  },
  'backup-not-configured': {
    status: 409,
    title: 'Backups are not configured',
    when: 'a backup to configured recipients or targets was requested, but `backup` of the configuration names none',
    detail: 'The section "backup" of the configuration names no recipients, or no targets: add them and start again.',
  },
  'operation-refused': {
    status: 409,
    title: 'The machine refuses',
    when: 'the machine of the appliance refuses the operation in its present state',
    detail: 'Follow the message: it names the state of the machine that forbids the operation.',
  },
  'not-new': {
    status: 409,
    title: 'The appliance is not new',
    when: 'an appliance was to join a cluster, but has records made by a person, which would be lost',
    detail: 'Reset the appliance, or start it with an empty data directory.',
  },
  'invitation-refused': {
    status: 409,
    title: 'Invitation refused',
    when: 'the member of a cluster that has invited an appliance does not admit it: the invitation was used or has expired, or the name is taken',
    detail: 'Follow the message; "keystorectl cluster invite" on a member makes another invitation.',
  },
  'level-not-supported': {
    status: 409,
    title: 'Version does not fit the cluster',
    when: 'an appliance was to join a cluster whose records its version cannot read',
    detail: 'Install the version of the other appliances, then join with the same invitation.',
  },
  'cluster-keys-refused': {
    status: 409,
    title: 'The HSM is not that of the cluster',
    when: 'an appliance was to join, but its HSM does not open the keys of the cluster',
    detail: 'Give the appliance the HSM that the others use, or a clone of it, under the same name in hsm/tokens.',
  },
  conflict: {
    status: 409,
    title: 'Changed meanwhile',
    when: 'the resource kept changing while the request ran; try again',
    detail: 'The resource changed while the request ran, and nothing was done: send the request again.',
  },
  'data-damaged': {
    status: 409,
    title: 'A part of the appliance is missing, damaged or does not answer',
    when: 'the appliance was to be unsealed, but a required part is missing, damaged, from another appliance or does not answer; it stays sealed',
    detail: 'Restore the missing or damaged part, then unseal again: no restart is needed.',
  },
  'precondition-failed': {
    status: 412,
    title: 'Precondition failed',
    when: 'If-Match or If-None-Match does not fit the present state',
    detail: 'Read the resource again, check the changes, and send yours with the new entity tag.',
  },
  'too-slow': {
    status: 408,
    title: 'The body came too slowly',
    when: 'less than 8 KiB of a body over 64 KiB came in a second, over ten seconds; or a body comes in more than 1,024 chunks of a few octets',
    detail: 'Send large bodies over a faster connection, or in smaller parts.',
  },
  'payload-too-large': {
    status: 413,
    title: 'Body too large',
    when: 'the body is over the limit of the operation',
    detail: 'Send less at once: the message names the limit; batches can be split.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'Media type not supported',
    when: 'the body is not application/json',
    detail: 'Send the media type that the message names, for most operations application/json.',
  },
  'rate-limited': {
    status: 429,
    title: 'Too many attempts',
    when: 'too many failed attempts; Retry-After says how long to wait',
    detail: 'Wait for the seconds in Retry-After, then try again with the right credential.',
  },
  'quota-exceeded': {
    status: 429,
    title: 'Quota used up',
    when: 'the tenant has used its requests, or its time of the HSM, for this minute; Retry-After says how long to wait',
    detail: 'Wait for the seconds in Retry-After and send less in a minute, or ask the administrator of the appliance for more.',
  },
  'headers-too-large': {
    status: 431,
    title: 'Headers too large',
    when: 'the request headers are over 16 KiB',
    detail: 'The headers of a request may have at most 16 KiB together: leave some out.',
  },
  'internal-error': {
    status: 500,
    title: 'Internal error',
    when: 'a fault of the service; system:logs has the reason under the request id',
    detail: 'The administrator finds the reason in system:logs under the request id.',
  },
  sealed: {
    status: 503,
    title: 'Sealed',
    when: 'the appliance waits for a person to give the PIN',
    detail:
      'The appliance waits for the PIN of its tokens: "keystorectl do system unseal" gives it, or POST /v1/state/keystore/system/unseal.',
  },
  'hsm-unavailable': {
    status: 503,
    title: 'HSM unavailable',
    when: 'the token cannot be reached at the moment, refuses a call of keystored, or gives an answer that cannot be right',
    detail:
      'The token cannot be reached; keystored keeps trying. Check its module and device: /v1/state/system/health names the token and the reason.',
  },
  busy: {
    status: 503,
    title: 'Too many large requests at once',
    when: 'a large body found no room in memory beside others for a minute; try again after Retry-After',
    detail: 'Other large requests use all memory reserved for them: send this one again after the time in Retry-After.',
  },
  'audit-unavailable': {
    status: 503,
    title: 'Audit trail unavailable',
    when: 'the audit record cannot be written',
    detail:
      'The audit trail cannot be written, so changes and uses of keys are refused: make room on the disk of the data directory; /v1/state/system/health has the reason.',
  },
  'shipping-behind': {
    status: 503,
    title: 'Audit records are not shipped',
    when: 'a destination with `on-lag: block` lacks more of the audit trail than `max-lag-bytes`',
    detail:
      'A receiver of the audit trail is too far behind, so changes and uses of keys are refused until it has caught up: repair the receiver; "keystorectl list shipping" names it and the reason.',
  },
  'cluster-unavailable': {
    status: 503,
    title: 'Most appliances of the cluster cannot be reached',
    when: 'this appliance is cut off from the majority of its cluster, or the outcome of a change is unknown',
    detail: 'Ask another appliance of the cluster, or check the network between them. If a change may have been made, the message says so.',
  },
  'inviter-unreachable': {
    status: 503,
    title: 'The cluster cannot be reached',
    when: 'an appliance was to join, but the inviting member, or its etcd, does not answer or is another machine',
    detail: 'Check that this appliance reaches the management API and etcd of the others, then join with the same invitation.',
  },
  'shipper-unavailable': {
    status: 503,
    title: 'The shipper does not answer',
    when: 'the process that ships audit trail and logs is being started again',
    detail: 'The process that ships audit trail and logs is being started again: try again in a moment; system:logs has the reason.',
  },
  'machine-unavailable': {
    status: 503,
    title: 'The machine does not answer',
    when: 'the service that reboots, powers off or resets the machine of the appliance cannot be reached at the moment',
    detail: 'The service that operates the machine does not answer, and nothing was begun: try again, or use the screen of the appliance.',
  },
  'clock-implausible': {
    status: 503,
    title: 'Clock implausible',
    when: 'a certificate was to be issued while the clock of the appliance cannot be right',
    detail: 'Set the clock of the machine; if it is right, confirm it with "keystorectl do system accept-clock".',
  },
  'storage-unavailable': {
    status: 503,
    title: 'Storage unavailable',
    when: 'the store cannot be written, for example because the disk is full',
    detail: 'The store cannot be written, and nothing was changed: check that the disk of the data directory has room and accepts writes.',
  },
} as const satisfies ErrorTable;

export const fail = errorsOf(coreErrors);
