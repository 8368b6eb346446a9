// Context of every operation of ACME, and the request that it receives.
import type { Audit } from '../../core/audit/record.ts';
import type { Clock, Log } from '../../core/base/context.ts';
import { fail } from '../../core/base/errors.ts';
import type { CertificateAuthorities, CertificateAuthority, EnrolmentSettings } from '../../core/plugin/services/certificate-authority.ts';
import type { Store, StoreKey } from '../../core/store/store.ts';
import type { DrawnAhead } from '../../core/base/async/drawn-ahead.ts';
import type { Jws } from './message/jws.ts';
import type { Nonces } from './message/nonces.ts';
import type { SignerKey } from './message/signer.ts';
import type { Account, AcmeTables } from './records/records.ts';
import type { Ways } from './validation/ways.ts';

export type Acme = {
  readonly authorities: CertificateAuthorities;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Store;
  readonly tables: AcmeTables;
  readonly nonces: Nonces;
  /** 16 random octets of the token, for ids and tokens of challenges */
  readonly ids: DrawnAhead;
  readonly ways: Ways;
  /** orders at which this process works */
  readonly issuing: Set<string>;
  /** unproven accounts of CAs by their ids, as counted a moment ago */
  readonly rooms: Map<string, { readonly taken: number; readonly atMs: number }>;
  /** challenges at which this process works, by name */
  readonly validating: Map<string, Validating>;
};

/** Owners of a validation: it counts among theirs while it runs. */
export type Validating = {
  readonly tenantId: string;
  readonly caId: string;
  readonly account: string;
  readonly subscriber: string;
  readonly isProven: boolean;
};

export type AcmeSettings = NonNullable<EnrolmentSettings['acme']>;

/** A CA that has ACME on, as the client sees it. */
export type Site = {
  readonly ca: CertificateAuthority;
  readonly settings: AcmeSettings;
  /** URL of everything of the CA, without a slash at its end */
  readonly base: string;
};

/** One request to an operation of a CA that exists and has ACME on. */
export type AcmeCall = Site & {
  readonly clientIp: string;
  /** the segments of the path behind the operation */
  readonly params: readonly string[];
  /** adds to the audit record */
  note(parameters: Readonly<Record<string, unknown>>): void;
  /** A key of an administrator or a proved name was accepted: the request counts as one of the tenant. */
  accept(): void;
};

export type LocatedAccount = { readonly id: string; readonly record: Account };

/** A request with a signature that holds. */
export type SignedCall = AcmeCall & {
  readonly jws: Jws;
  readonly signer: SignerKey;
  /** absent if the message is signed by a key that it carries */
  readonly account: LocatedAccount | undefined;
};

/** A request of an account. */
export type AccountCall = SignedCall & { readonly account: LocatedAccount };

export type AcmeAnswer = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

export function answerJson(status: number, document: unknown, headers: Readonly<Record<string, string>> = {}): AcmeAnswer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(document) };
}

/** Place of what belongs to a CA. */
export function placeOf({ ca }: Pick<Site, 'ca'>, ...rest: readonly string[]): StoreKey {
  return [ca.tenantId, ca.id, ...rest];
}

/** A name for something new, 128 random bits in base64url. */
export async function drawId({ ids }: Pick<Acme, 'ids'>): Promise<string> {
  return Buffer.from(await ids.next()).toString('base64url');
}

/** One answer for what is not there and what belongs to another account. */
export const notFound = () => fail('not-found', { detail: 'Nothing of this account is at this URL.' });
