// The end of a session: its tokens stop working with the transaction.
import { ServiceError } from '../../../core/base/errors.ts';
import { clusterUnavailable } from '../../../core/base/unavailable.ts';
import type { Sessions } from '../../../core/plugin/services/sessions.ts';
import { writeInPieces } from '../../../core/store/records/pieces.ts';
import type { Store, WriteTransaction } from '../../../core/store/store.ts';
import { stillGive } from './role-record.ts';
import type { Session } from './sign-ins.ts';
import type { Tables } from './tables.ts';

/** Ends a session: its token, and the API tokens that were shown on its page. */
export function endSession(
  transaction: WriteTransaction,
  tables: Pick<Tables, 'sessions'>,
  accounts: Sessions,
  key: TokenKey,
  session: Session,
): void {
  for (const one of tokensOf(key, session)) endToken(transaction, tables, accounts, one);
}

/** Ends one token of a login. */
export function endToken(
  transaction: WriteTransaction,
  tables: Pick<Tables, 'sessions'>,
  accounts: Sessions,
  [tenantId, accessor]: TokenKey,
): void {
  accounts.disable(transaction, tenantId, accessor);
  transaction.delete(tables.sessions, [tenantId, accessor]);
}

/** [tenant uuid, accessor] */
type TokenKey = readonly [tenantId: string, accessor: string];

/** All tokens that end with a session, its own last. */
function tokensOf([tenantId, accessor]: TokenKey, { browser }: Session): readonly TokenKey[] {
  return [...(browser?.shownTokens ?? []), accessor].map((one) => [tenantId, one]);
}

type EndingParts = { readonly store: Store; readonly accounts: Sessions } & Pick<Tables, 'sessions'>;

/** End of sessions together with a change. */
export type SessionsEnd = {
  /** Their tokens stop working with the transaction. That of a shared store takes a few of them. */
  commit(transaction: WriteTransaction): void;
  /** Ends the others, before the answer. Throws `cluster-unavailable` with the known outcome if it is interrupted. */
  after(): Promise<void>;
};

/** Tokens that one transaction of a shared store ends beside its own change: it takes 128 operations, and each token has four. */
const endedTogether = 12;

/** The end of the sessions of a tenant that `applies` selects. */
export function endSessions(parts: EndingParts, tenantId: string, applies: (session: Session) => boolean): SessionsEnd {
  const { store, accounts, sessions } = parts;
  let left: readonly TokenKey[] = [];
  return {
    commit(transaction) {
      const entries = Array.from(transaction.entries(sessions, [tenantId])).filter(([, session]) => applies(session));
      const ending = entries.flatMap(([key, session]) => tokensOf(key as TokenKey, session));
      const now = store.appliance === undefined ? ending : ending.slice(0, endedTogether);
      for (const key of now) endToken(transaction, parts, accounts, key);
      left = ending.slice(now.length);
    },
    after: () => endTokens(parts, left),
  };
}

/** Ends tokens in as many transactions as necessary. Throws `cluster-unavailable` with the known outcome if it is interrupted. */
async function endTokens(parts: EndingParts, tokens: readonly TokenKey[], signal?: AbortSignal): Promise<void> {
  const end = (transaction: WriteTransaction, key: TokenKey): void => endToken(transaction, parts, parts.accounts, key);
  try {
    await writeInPieces(parts.store, tokens, end, signal);
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === 'cluster-unavailable')) throw error;
    throw clusterUnavailable(
      'The change is made. Of the sessions that it ends, some are still open: those that no role grants now end within a minute.',
      error,
    );
  }
}

/** Records that decide whether a session is still granted. */
type GrantParts = Pick<Tables, 'services' | 'roles'>;

/** Ends the sessions whose service or role is gone, or whose roles have lost a policy. */
export async function endUngranted(parts: EndingParts & GrantParts, signal?: AbortSignal): Promise<void> {
  parts.store.refresh();
  const tokens = Array.from(parts.sessions.entries([])).flatMap(([key, session]) =>
    isGranted(parts, String(key[0]), session) ? [] : tokensOf(key as TokenKey, session),
  );
  await endTokens(parts, tokens, signal);
}

function isGranted({ services, roles }: GrantParts, tenantId: string, { service, roles: names, policies }: Session): boolean {
  const records = names.map((name) => roles.get([tenantId, service, name]));
  return services.has([tenantId, service]) && stillGive(records, policies);
}
