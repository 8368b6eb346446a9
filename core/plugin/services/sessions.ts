// Service for logins of plugins: tenants, tokens and policies of the platform.
import type { Sender } from '../../access/access-control.ts';
import type { Caller } from '../../access/caller.ts';
import type { PublicCall } from '../../http/endpoint.ts';
import type { Secret } from '../../base/secret.ts';
import type { WriteTransaction } from '../../store/store.ts';
import type { Confirmation } from '../../tls/client-certificate.ts';
import type { SignedIn, TokenRecord } from '../../access/tokens/record.ts';
import type { JsonObject } from '../../wire/json.ts';
import type { LoginIdentity } from '../../access/user.ts';
import { defineService } from '../service.ts';
import type { Language } from '../../http/pages/language.ts';

/** Provided by the platform. */
export const sessionsService = defineService<Sessions>('sessions');

/** Grant of a login. Policies are names, resolved at each use. */
export type SessionGrant = {
  readonly tenantId: string;
  /** name for audit records and pages */
  readonly user: string;
  /** proved by the login */
  readonly identity: LoginIdentity;
  /** grants (openGrant) that the token ends with */
  readonly grants?: readonly string[];
  /** ranges of addresses it works from; absent: any */
  readonly boundCidrs?: readonly string[];
  /** certificate or key of the TLS client that alone may use it; absent: any */
  readonly cnf?: Confirmation;
  readonly policies: readonly string[];
  readonly ttlSeconds: number;
  /** longest lifetime over all refreshes; default: `ttlSeconds`, so that a refresh cannot extend it */
  readonly maxTtlSeconds?: number;
  /** the token is in a browser's cookie and is not accepted as a bearer token: a stolen one cannot call the API */
  readonly browser?: true;
  /** with `browser`: where the person signed in */
  readonly signedIn?: SignedIn;
  /** service at which the person has signed in, issuer of the workload's token, or role of the certificate */
  readonly service: string;
};

export type IssuedSession = {
  readonly token: Secret<string>;
  readonly accessor: string;
  readonly creationTime: Temporal.Instant;
  readonly expires: Temporal.Instant;
};

/** Failed logins by address, counted over all processes and all kinds of login. */
export type Attempts = {
  /** Throws `rate-limited` if the address has failed too often in the last minute. */
  requireFew(clientIp: string, now: Temporal.Instant): void;
  /** Counts a failure; throws `rate-limited` if the limit is exceeded. */
  count(transaction: WriteTransaction, clientIp: string, now: Temporal.Instant): void;
};

/** A session whose token is in the cookie of a browser. */
export type BrowserSession = { readonly caller: Caller; readonly creationTime: Temporal.Instant };

/** A way to sign in with a browser, on pages of a plugin. */
export type SignInWay = {
  /** path of the management listener where it begins */
  readonly path: string;
  /** text for people that follows "sign in with": `your identity provider` */
  readonly title: Readonly<Record<Language, string>>;
  /** Returns the page of the account behind a session of this way. */
  accountPage?(tenantId: string, accessor: string): string | undefined;
  /** Notes the use of a session of this way, so that it does not end as idle. */
  noteUse?(transaction: WriteTransaction, tenantId: string, accessor: string, nowMs: number): void;
  /** Ends further state of a session that is signed out. Returns the provider's sign-out page, if the person is still signed in there. */
  onSignOut?(transaction: WriteTransaction, tenantId: string, accessor: string): string | undefined;
};

/** Sign-ins of browsers, independent of the plugin with the pages. */
export type BrowserSignIn = {
  /** Adds a way. Called in `provision`. */
  offer(way: SignInWay): void;
  readonly ways: readonly SignInWay[];
  /** Tells whether the appliance waits for a person to claim it with the credential that its machine shows. */
  isUnclaimed(): boolean;
  /** Finds the session of a cookie's token, used from there. Undefined for any other token and for one that has ended. */
  find(token: string, from: Sender): BrowserSession | undefined;
  /** Opens a session for the holder of a bearer token, and ends it with that token at the latest. Throws `login-failed` and `rate-limited`. */
  withToken(call: PublicCall, token: string, ttlSeconds: number): Promise<IssuedSession>;
  /** Opens a session for an approle. Throws `login-failed` and `rate-limited`. */
  withApprole(call: PublicCall, credentials: { readonly roleId: string; readonly secretId: string }): Promise<IssuedSession>;
  /** Notes the use of a session, in all ways to sign in. */
  noteUse(transaction: WriteTransaction, tenantId: string, accessor: string, nowMs: number): void;
  /** Ends a session at once. Returns the provider's sign-out page, if it has one. */
  signOut(transaction: WriteTransaction, tenantId: string, accessor: string): string | undefined;
};

export type Sessions = {
  readonly attempts: Attempts;
  readonly browsers: BrowserSignIn;
  /** Finds the tenant with that name. */
  findTenant(name: string): { readonly id: string; readonly name: string } | undefined;
  /** Tells whether the tenant can use a policy with that name (its own or a built-in one). */
  hasPolicy(tenantId: string, policy: string): boolean;
  /**
   * Throws `policy-denied` when a caller would grant policies that are neither its own nor among `kept`, the present ones, or that allow more than
   * either because one is left out.
   */
  requireHeld(caller: Caller, field: string, policies: readonly string[], kept: readonly string[]): void;
  /** Throws `policy-denied` when policies allow what neither the caller's own nor those before allow. */
  requireNarrowed(caller: Caller, field: string, policies: readonly string[], before: readonly string[]): void;
  /** Tells whether policies allow more than others do. */
  allowsMore(tenantId: string, policies: readonly string[], than: readonly string[]): boolean;
  /** Draws random octets for one token from the HSM, before the transaction that issues it. */
  drawToken(): Promise<Secret<string>>;
  /** Issues the token of a successful login, inside the login's transaction. */
  issue(transaction: WriteTransaction, token: Secret<string>, grant: SessionGrant): IssuedSession;
  /** Finds the caller that a token authenticates; undefined if the token is unknown, expired or disabled. */
  find(token: string): Caller | undefined;
  /**
   * The holder of a token that a request has issued, and what `token/info` would tell it of itself, as on the wire: without what its policies hide,
   * empty if they refuse that action. Undefined if it does not work from there. For the answer of that request.
   */
  describeIssued(issued: TokenRecord, from: Sender): { readonly caller: Caller; readonly state: JsonObject } | undefined;
  /** Ends a token that a request has issued, and whose answer does not give it away: also one that does not work from there. */
  endIssued(issued: TokenRecord): Promise<void>;
  /** Opens a grant for a record that lets somebody log in: the end of the grant ends all tokens that name it, in one write. Returns its id. */
  openGrant(transaction: WriteTransaction, tenantId: string): string;
  /** Ends a grant. Throws `last-approver` if it is that of the last role of which people approve by a rule. */
  endGrant(transaction: WriteTransaction, tenantId: string, grant: string): void;
  /** Disables a token and its children at once. Returns whether it existed. */
  disable(transaction: WriteTransaction, tenantId: string, accessor: string): boolean;
};
