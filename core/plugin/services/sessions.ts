// Where logins brought by plugins meet the platform's tenants, tokens and policies.
import type { Caller } from '../../access/caller.ts';
import type { Secret } from '../../base/secret.ts';
import type { WriteTransaction } from '../../store/store.ts';
import { defineService } from '../service.ts';

/** Provided by the platform. */
export const sessionsService = defineService<Sessions>('sessions');

/** What a login grants. The policies are names and are resolved at each use, never frozen. */
export type SessionGrant = {
  readonly tenantId: string;
  /** name for audit and pages */
  readonly user: string;
  readonly policies: readonly string[];
  readonly ttlSeconds: number;
  /** longest life over all refreshes; default: `ttlSeconds`, so that a refresh cannot lengthen it */
  readonly maxTtlSeconds?: number;
  /** lives in the cookie of a browser: it is no bearer token, so whoever reads it off a browser cannot call the API with it */
  readonly browser?: true;
};

export type IssuedSession = {
  readonly token: Secret<string>;
  readonly accessor: string;
  readonly creationTime: Temporal.Instant;
  readonly expires: Temporal.Instant;
};

/** Failed logins from an address, counted over all processes and all kinds of login (api 73). */
export type Attempts = {
  /** Throws `rate-limited` when the address has failed too often in the last minute. */
  requireFew(clientIp: string, now: Temporal.Instant): void;
  /** Counts a failure; throws `rate-limited` when it is one too many. */
  count(transaction: WriteTransaction, clientIp: string, now: Temporal.Instant): void;
};

export type Sessions = {
  readonly attempts: Attempts;
  /** The tenant of that name, or undefined. */
  findTenant(name: string): { readonly id: string; readonly name: string } | undefined;
  /** Whether the tenant can use a policy of that name (its own or a built-in one). */
  hasPolicy(tenantId: string, policy: string): boolean;
  /** Throws `policy-denied` when a caller would give others policies that are neither its own nor among `kept`, those given before. */
  requireHeld(caller: Caller, field: string, policies: readonly string[], kept: readonly string[]): void;
  /** Random octets for one token, drawn from the HSM before the transaction that issues it. */
  drawToken(): Promise<Secret<string>>;
  /** Makes the token of a successful login, as part of the login's own transaction. */
  issue(transaction: WriteTransaction, token: Secret<string>, grant: SessionGrant): IssuedSession;
  /** Who a token stands for; undefined when it is unknown, expired or disabled. */
  find(token: string): Caller | undefined;
  /** Ends a token and its children at once. Answers whether there was one. */
  disable(transaction: WriteTransaction, tenantId: string, accessor: string): boolean;
};
