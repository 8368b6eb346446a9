// Records of sign-ins: those under way, requests of command lines, sessions, and recent failures.
import { defined } from '../../../core/base/defined.ts';
import type { LoginIdentity } from '../../../core/access/user.ts';
import type { AuditNote } from '../../../core/http/endpoint.ts';
import type { Claims } from '../../../core/identity/claims.ts';

/** A login between start and callback. The key is the hash of the state, which itself is only in the browser's URL. */
export type PendingLogin = {
  readonly tenantId: string;
  readonly tenantName: string;
  readonly service: string;
  /** revision of the service when the login began */
  readonly revision: string;
  readonly redirectUri: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** SHA-256 of the browser's binding cookie, hexadecimal */
  readonly binding: string;
  readonly createdMs: number;
  /** absent in records of earlier versions */
  readonly clientIp?: string;
  /** id of the CLI login that this login is for; named as in the records of earlier versions */
  readonly handOff?: string;
  /** the prompt parameter that was sent to the provider */
  readonly prompt?: Prompt;
};

/** `login` replaces `select_account` at providers that do not support it: OpenID Connect Core section 15.1 makes it mandatory. */
export type Prompt = 'select_account' | 'login';

/** A person after all checks, with roles and policies. Issuer and subject are the identity (R57). */
export type Identity = {
  readonly issuer: string;
  readonly subject: string;
  readonly username: string;
  readonly fullname?: string;
  readonly roles: readonly string[];
  readonly policies: readonly string[];
};

/** A login requested by a command line. The key is the hash of its poll token. */
export type CliLogin = {
  readonly tenantId: string;
  readonly tenantName: string;
  readonly service: string;
  readonly revision: string;
  readonly userCode: string;
  readonly createdMs: number;
  /** address and program of the command line, shown to the person */
  readonly clientIp: string;
  readonly userAgent: string;
  readonly step: 'waiting' | 'signed-in' | 'approved' | 'denied';
  /** from `signed-in` on: the person, and the browser that may approve */
  readonly identity?: Identity;
  readonly binding?: string;
};

/** A token made by a login: of a browser, of a command line, or shown on a page. The token is the platform's. [tenant uuid, accessor] */
export type Session = Identity & {
  readonly service: string;
  readonly expiresMs: number;
  /** present only for browser sessions */
  readonly browser?: {
    readonly lastUsedMs: number;
    /** accessors of tokens shown on the signed-in page, the newest last; signing out ends them too */
    readonly shownTokens: readonly string[];
    /** number of tokens shown in all; absent in records of earlier versions */
    readonly tokensShown?: number;
    /** sign-out page of the provider */
    readonly providerSignOut?: string;
  };
};

/** A failed login, kept for a day for `explain`. [tenant uuid, service, reference] */
export type FailedLogin = {
  readonly atMs: number;
  readonly code: string;
  readonly stage: string;
  readonly reason: string;
  readonly hint?: string;
  /** absent when the login failed before it had claims */
  readonly claims?: Claims;
};

/** The identity that a sign-in has proved. */
export function identityOf({ issuer, subject }: Pick<Identity, 'issuer' | 'subject'>): LoginIdentity {
  return { kind: 'sign-in', source: issuer, subject };
}

/** The user of a sign-in as audit records name it; without a service where none was found. */
export function userFields(user: string, service: string | undefined): Pick<AuditNote, 'user' | 'userKind' | 'userSource'> {
  return { user, userKind: 'sign-in', ...defined({ userSource: service }) };
}
