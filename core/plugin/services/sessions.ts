// Logins of plugins use the platform's tenants, tokens and policies through this service.
import type { Caller } from '../../access/caller.ts';
import type { Secret } from '../../base/secret.ts';
import type { WriteTransaction } from '../../store/store.ts';
import { defineService } from '../service.ts';

/** Provided by the platform. */
export const sessionsService = defineService<Sessions>('sessions');

/** What a login grants. Policies are names, resolved at each use. */
export type SessionGrant = {
  readonly tenantId: string;
  /** name for audit records and pages */
  readonly user: string;
  readonly policies: readonly string[];
  readonly ttlSeconds: number;
  /** longest lifetime over all refreshes; default: `ttlSeconds`, so that a refresh cannot extend it */
  readonly maxTtlSeconds?: number;
  /** the token is in a browser's cookie and is not accepted as a bearer token: stolen from a browser, it cannot call the API */
  readonly browser?: true;
};

export type IssuedSession = {
  readonly token: Secret<string>;
  readonly accessor: string;
  readonly creationTime: Temporal.Instant;
  readonly expires: Temporal.Instant;
};

/** Failed logins by address, counted over all processes and all kinds of login (api 73). */
export type Attempts = {
  /** Throws `rate-limited` when the address has failed too often in the last minute. */
  requireFew(clientIp: string, now: Temporal.Instant): void;
  /** Counts a failure; throws `rate-limited` when the limit is exceeded. */
  count(transaction: WriteTransaction, clientIp: string, now: Temporal.Instant): void;
};

export type Sessions = {
  readonly attempts: Attempts;
  /** The tenant of that name, or undefined. */
  findTenant(name: string): { readonly id: string; readonly name: string } | undefined;
  /** Whether the tenant can use a policy of that name (its own or a built-in one). */
  hasPolicy(tenantId: string, policy: string): boolean;
  /** Throws `policy-denied` when a caller would grant policies that are neither its own nor among `kept`, the present ones. */
  requireHeld(caller: Caller, field: string, policies: readonly string[], kept: readonly string[]): void;
  /** Random octets for one token, drawn from the HSM before the transaction that issues it. */
  drawToken(): Promise<Secret<string>>;
  /** Issues the token of a successful login, inside the login's transaction. */
  issue(transaction: WriteTransaction, token: Secret<string>, grant: SessionGrant): IssuedSession;
  /** The caller a token authenticates; undefined when it is unknown, expired or disabled. */
  find(token: string): Caller | undefined;
  /** Disables a token and its children at once. Returns whether it existed. */
  disable(transaction: WriteTransaction, tenantId: string, accessor: string): boolean;
};
