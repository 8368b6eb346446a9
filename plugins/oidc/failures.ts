// Every reason why a sign-in fails: the table with status and page texts, and the error that carries a row.
import { errorsOf, type ErrorRow } from '../../core/base/errors.ts';

/** A row of the error table with the headline of its page, and the way on if it is not to try the same again. */
export type FailureRow = ErrorRow & { readonly headline: string; readonly way?: 'other-account' | 'no-provider' };

/** Every way in which a sign-in ends without a session. The codes are part of the API; headline and detail are for the person. */
export const loginFailures = {
  'no-such-provider': {
    status: 404,
    title: 'No such sign-in provider',
    when: 'the tenant or its identity provider does not exist, or no provider is set up',
    headline: 'No sign-in provider here',
    detail: 'Check the name of the tenant. If it is right, ask its administrator whether sign-in is set up.',
    way: 'no-provider',
  },
  'login-expired': {
    status: 400,
    title: 'Sign-in expired or already used',
    when: 'the callback names a sign-in that is unknown, used, or older than ten minutes',
    headline: 'This sign-in has expired',
    detail: 'A sign-in must be finished within ten minutes and works once. Please start again.',
  },
  'login-not-yours': {
    status: 400,
    title: 'Sign-in was started in another browser',
    when: 'the callback or the confirmation comes from a browser that did not start the sign-in',
    headline: 'This sign-in was started elsewhere',
    detail: 'A sign-in can only be finished in the browser and at the address where it began. Please start again from here.',
  },
  'callback-invalid': {
    status: 400,
    title: 'Answer of the identity provider is malformed',
    when: 'the callback has doubled, missing or forbidden parameters, or names another issuer',
    headline: 'The answer cannot be used',
    detail: 'Your identity provider did not send a valid answer. Please start again, and do not follow links to this address.',
  },
  'form-refused': {
    status: 400,
    title: 'Form not accepted',
    when: 'a form was sent by another site, or by a page that is out of date',
    headline: 'This form is out of date',
    detail: 'Please go back to the page, reload it, and try again.',
  },
  'service-changed': {
    status: 400,
    title: 'Sign-in provider was changed meanwhile',
    when: 'the OIDC service was edited or deleted while the sign-in was under way',
    headline: 'The sign-in settings have just changed',
    detail: 'An administrator changed them while you were signing in. Please start again.',
  },
  'provider-denied': {
    status: 403,
    title: 'Identity provider refused the sign-in',
    when: 'the identity provider answered with access_denied or a similar error',
    headline: 'Your identity provider refused the sign-in',
    detail:
      'You may have cancelled it, or your account may not be allowed to use this system. If you did not expect this, ask your administrator.',
    way: 'other-account',
  },
  'provider-error': {
    status: 502,
    title: 'Identity provider answered wrongly',
    when: 'the identity provider cannot be reached or its answer cannot be used',
    headline: 'The identity provider is not working',
    detail: 'Your account is fine. Please try again in a moment. If the problem stays, tell your administrator.',
  },
  'provider-timeout': {
    status: 504,
    title: 'Identity provider did not answer in time',
    when: 'a call to the identity provider took longer than five seconds, or all of them longer than fifteen',
    headline: 'The identity provider is too slow',
    detail: 'It did not answer in time. Please try again in a moment.',
  },
  'provider-refused-system': {
    status: 502,
    title: 'Identity provider refused the credentials of this system',
    when: 'the token endpoint answered invalid_client: the client secret is wrong or has expired',
    headline: 'The identity provider refused this system',
    detail: 'Your account is fine. The credentials of this system are wrong or have expired. Please tell your administrator.',
  },
  'service-misconfigured': {
    status: 502,
    title: 'Sign-in provider is set up wrongly',
    when: 'the settings of the OIDC service and the metadata of the identity provider do not fit together',
    headline: 'Sign-in is set up wrongly',
    detail: 'The settings of this system and of the identity provider do not match. Please tell your administrator.',
  },
  'id-token-refused': {
    status: 502,
    title: 'ID token not accepted',
    when: 'the ID token has a wrong signature, issuer, audience, nonce, time or form',
    headline: 'Your sign-in could not be verified',
    detail:
      'The answer of the identity provider failed a security check. Please start again. If the problem stays, tell your administrator.',
  },
  'groups-unknown': {
    status: 502,
    title: 'Groups of the account not known',
    when: 'the directory of the identity provider did not answer with the groups of the account, on which its roles depend',
    headline: 'Your groups could not be read',
    detail:
      'You are signed in at your identity provider, but it did not tell which groups your account is in. ' +
      'Please try again in a moment. If the problem stays, tell your administrator.',
  },
  'no-role': {
    status: 403,
    title: 'No role for this account',
    when: 'no role of the service matches a value of the selected claim',
    headline: 'You have no role here',
    detail:
      'You are signed in at your identity provider, but no role of this system matches this account. ' +
      'If it is the right account, ask your administrator for a role.',
    way: 'other-account',
  },
  'claim-missing': {
    status: 403,
    title: 'Required claim missing',
    when: 'every matching role requires a claim that the identity provider did not send',
    headline: 'A detail of your account is missing',
    detail:
      'A role matches your account, but your identity provider did not send a detail that the role requires. Please ask your administrator.',
    way: 'other-account',
  },
} as const satisfies Readonly<Record<string, FailureRow>>;

/** Text for the page of `login-expired`, if the sign-in was done before: its address was loaded again. */
export const doneBefore = {
  headline: 'This sign-in is already done',
  detail: 'Its address works once, and was loaded again. If it signed you in, you are still signed in: continue.',
} as const;

export type FailureCode = keyof typeof loginFailures;

/** Rows for answers that are not pages: the command line's poll (RFC 8628 section 3.5). */
export const pollErrors = {
  'authorization-pending': {
    status: 400,
    title: 'Not confirmed yet',
    when: 'the person has not finished the sign-in in the browser; poll again after the interval',
    detail: 'Finish the sign-in in the browser; poll again after the interval.',
  },
  'slow-down': {
    status: 400,
    title: 'Polling too fast',
    when: 'the poll came before the interval was over; wait five seconds more',
    detail: 'Wait five seconds more between two polls.',
  },
  'expired-token': {
    status: 400,
    title: 'Sign-in expired',
    when: 'the poll token is unknown, expired, or its token was delivered already',
    detail: 'Start the login again.',
  },
  'access-denied': {
    status: 400,
    title: 'Sign-in denied',
    when: 'the person denied the request, or the sign-in failed',
    detail: 'Start the login again, and approve it in the browser with an account that has a role.',
  },
} as const satisfies Readonly<Record<string, ErrorRow>>;

/** All codes of the plugin, for its manifest. */
export const oidcErrors = { ...loginFailures, ...pollErrors };

export const failOidc = errorsOf(oidcErrors);

/** The step at which a sign-in failed, for `system:logs` (R66). */
export type Stage = 'discovery' | 'authorize' | 'callback' | 'token' | 'id-token' | 'userinfo' | 'directory' | 'role' | 'session';

/**
 * A failed sign-in. `reason` is a machine-readable word for the log, `hint` tells the administrator what to do; the person sees neither.
 * `fields` go to the log and must not contain a secret, token or claim.
 */
export class LoginFailure extends Error {
  override readonly name = 'LoginFailure';
  readonly code: FailureCode;
  readonly stage: Stage;
  readonly reason: string;
  readonly hint: string | undefined;
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(
    code: FailureCode,
    stage: Stage,
    reason: string,
    details: { hint?: string; fields?: Readonly<Record<string, unknown>>; cause?: unknown } = {},
  ) {
    super(`${code}: ${reason}`, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.stage = stage;
    this.reason = reason;
    this.hint = details.hint;
    this.fields = details.fields ?? {};
  }
}
