// The plugin's tables: settings of administrators, logins under way, requests of command lines, sessions, and recent failures.
import type { Store, Table, WriteTransaction } from '../../core/store/store.ts';
import type { Claims } from './settings/claims.ts';
import type { RoleRecord } from './settings/role.ts';
import type { ServiceRecord } from './settings/service.ts';
import type { SetAside } from './login/set-aside.ts';
import { type Bounds, UnderWay } from './login/under-way.ts';

/** A login between its start and its callback. The state itself is only in the browser's URL; here it is the key, hashed. */
export type PendingLogin = {
  readonly tenantId: string;
  readonly tenantName: string;
  readonly service: string;
  /** of the service when the login began */
  readonly revision: string;
  readonly redirectUri: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** SHA-256 of the browser's binding cookie, hexadecimal */
  readonly binding: string;
  readonly createdMs: number;
  /** absent in records of earlier versions */
  readonly clientIp?: string;
  /** the command-line request this login is for */
  readonly handOff?: string;
  /** what the provider was asked to ask the person */
  readonly prompt?: Prompt;
};

/** `login` stands in for `select_account` at providers that do not know it: OpenID Connect Core section 15.1 makes it mandatory. */
export type Prompt = 'select_account' | 'login';

/** Who someone is and what they get, once everything was checked. Issuer and subject are the identity (reference R57). */
export type Identity = {
  readonly issuer: string;
  readonly subject: string;
  readonly username: string;
  readonly fullname?: string;
  readonly roles: readonly string[];
  readonly policies: readonly string[];
};

/** A sign-in asked for by a command line (api 60). The key is the hash of its poll token. */
export type HandOff = {
  readonly tenantId: string;
  readonly tenantName: string;
  readonly service: string;
  readonly revision: string;
  readonly userCode: string;
  readonly createdMs: number;
  /** where the command line runs, as the person is shown it */
  readonly clientIp: string;
  readonly userAgent: string;
  readonly step: 'waiting' | 'signed-in' | 'approved' | 'denied';
  /** from `signed-in` on: the person, and the browser that may answer */
  readonly identity?: Identity;
  readonly binding?: string;
};

/** A token made by a login: of a browser, of a command line, or shown on a page. The token is the platform's. [tenant uuid, accessor] */
export type Session = Identity & {
  readonly service: string;
  readonly expiresMs: number;
  /** only of browser sessions */
  readonly browser?: {
    readonly lastUsedMs: number;
    /** accessors of tokens shown on the signed-in page, the newest last; signing out ends them too */
    readonly shownTokens: readonly string[];
    /** how many were shown in all; absent in records of earlier versions */
    readonly tokensShown?: number;
    /** page of the provider where the person can sign out there */
    readonly providerSignOut?: string;
  };
};

/** What `explain` can look at again, for a day. [tenant uuid, service, reference] */
export type FailedLogin = {
  readonly atMs: number;
  readonly code: string;
  readonly stage: string;
  readonly reason: string;
  readonly hint?: string;
  /** absent when the login failed before there were any */
  readonly claims?: Claims;
};

export type Tables = {
  /** [tenant uuid, service] */
  readonly services: Table<ServiceRecord>;
  /** [tenant uuid, service, role] */
  readonly roles: Table<RoleRecord>;
  /** by hash of state */
  readonly pending: UnderWay<PendingLogin>;
  /** by hash of poll token */
  readonly handOffs: UnderWay<HandOff>;
  readonly sessions: Table<Session>;
  readonly failures: Table<FailedLogin>;
  readonly setAside: Table<SetAside>;
};

export function openTables(store: Store, bounds: Bounds): Tables {
  return {
    services: store.tenantTable('services'),
    roles: store.tenantTable('roles'),
    pending: new UnderWay(store.table('pending-logins'), store.table('pending-places'), bounds),
    handOffs: new UnderWay(store.table('hand-offs'), store.table('hand-off-places'), bounds),
    sessions: store.tenantTable('sessions'),
    failures: store.tenantTable('failed-logins'),
    setAside: store.tenantTable('set-aside'),
  };
}

/** Until then sign-ins under way stood in the order of their tenant alone, and requests of command lines in none. */
export function orderByAddress(transaction: WriteTransaction, store: Store): void {
  const former = store.table<true>('pending-order');
  for (const [key] of Array.from(transaction.entries(former, []))) transaction.delete(former, key);
  const { pending, handOffs } = openTables(store, { perAddress: Infinity, perTenant: Infinity, inAll: Infinity });
  pending.placeAll(transaction);
  handOffs.placeAll(transaction);
}
