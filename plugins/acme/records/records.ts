// Records of accounts, orders and certificates of ACME, and their tables.
import type { Store, Table } from '../../../core/store/store.ts';
import type { Problem } from '../errors.ts';

/** A name that an order asks for, in lower case, or an address as RFC 5952 has it. */
export type Identifier = { readonly type: 'dns' | 'ip'; readonly value: string };

/** Key: [tenant uuid, CA id, account]. */
export type Account = {
  readonly status: 'valid' | 'deactivated';
  /** members of the JWK that its thumbprint covers */
  readonly jwk: Readonly<Record<string, string>>;
  readonly thumbprint: string;
  readonly contact: readonly string[];
  readonly createdAt: string;
  /** of its last order */
  readonly usedAt: string;
  /** id of the key of an administrator with which it was made */
  readonly eabKey: string | undefined;
  /** subscriber of the address that made it */
  readonly subscriber: string;
  /** true with a key of an administrator, or once it has got a certificate; others are limited by address, and end soon */
  readonly isProven: boolean;
};

export type ChallengeAttempt = {
  readonly type: string;
  readonly status: 'processing' | 'valid' | 'invalid';
  readonly startedAt: string;
  readonly error?: Problem;
};

export type Authorization = {
  readonly status: 'pending' | 'valid' | 'invalid' | 'deactivated';
  /** token of its challenges, 128 bits in base64url */
  readonly token: string;
  readonly attempt?: ChallengeAttempt;
};

/** Key: [tenant uuid, CA id, account, order]. Its authorizations are in the order of its identifiers. */
export type Order = {
  readonly status: 'pending' | 'ready' | 'processing' | 'valid' | 'invalid';
  readonly createdAt: string;
  readonly until: string;
  readonly identifiers: readonly Identifier[];
  readonly authorizations: readonly Authorization[];
  readonly profile: string;
  readonly notAfter: string | undefined;
  /** serial number of the certificate that it replaces */
  readonly replaces: string | undefined;
  /** DER, from finalize on */
  readonly csr?: Uint8Array;
  /** of finalize */
  readonly finalizedAt?: string;
  readonly clientIp?: string;
  readonly serial?: string;
  readonly error?: Problem;
};

/** A certificate that an order got. Key: [tenant uuid, CA id, serial]. */
export type AccountCertificate = {
  readonly account: string;
  readonly order: string;
  readonly until: string;
  /** order that has replaced it */
  readonly replacedBy?: string;
};

export type AcmeTables = {
  readonly accounts: Table<Account>;
  /** id of the account. Key: [tenant uuid, CA id, thumbprint] */
  readonly accountKeys: Table<string>;
  /** accounts that are not proven. Key: [tenant uuid, CA id, subscriber, account] */
  readonly unproven: Table<true>;
  /** accounts without a key of an administrator. Key: [tenant uuid, CA id, subscriber, account] */
  readonly openAccounts: Table<true>;
  readonly orders: Table<Order>;
  /** orders that are not finished. Key as of orders */
  readonly openOrders: Table<true>;
  readonly certificates: Table<AccountCertificate>;
  /** the end of a proof. Key: [tenant uuid, CA id, account, name] */
  readonly proofs: Table<string>;
  /** nonces that were used. Key: [minute since 1970 of their issue, nonce] */
  readonly nonces: Table<true>;
  /** octets of the key of nonces. Key: ['key'] */
  readonly nonceKeys: Table<Uint8Array>;
};

export function openAcmeTables(store: Store): AcmeTables {
  return {
    accounts: store.tenantTable('accounts'),
    accountKeys: store.tenantTable('account-keys'),
    unproven: store.tenantTable('unproven'),
    openAccounts: store.tenantTable('open-accounts'),
    orders: store.tenantTable('orders'),
    openOrders: store.tenantTable('open-orders'),
    certificates: store.tenantTable('certificates'),
    proofs: store.tenantTable('proofs'),
    nonces: store.table('nonces'),
    nonceKeys: store.table('nonce-keys'),
  };
}
