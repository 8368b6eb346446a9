// The end of a session: its tokens stop working with the transaction.
import type { Sessions } from '../../../core/plugin/services/sessions.ts';
import type { WriteTransaction } from '../../../core/store/store.ts';
import type { Session } from './sign-ins.ts';
import type { Tables } from './tables.ts';

/** Ends a session: its token, and the API tokens that were shown on its page. */
export function endSession(
  transaction: WriteTransaction,
  tables: Pick<Tables, 'sessions'>,
  accounts: Sessions,
  key: readonly [tenantId: string, accessor: string],
  session: Session,
): void {
  for (const shown of session.browser?.shownTokens ?? []) endToken(transaction, tables, accounts, [key[0], shown]);
  endToken(transaction, tables, accounts, key);
}

/** Ends one token of a login. */
export function endToken(
  transaction: WriteTransaction,
  tables: Pick<Tables, 'sessions'>,
  accounts: Sessions,
  [tenantId, accessor]: readonly [tenantId: string, accessor: string],
): void {
  accounts.disable(transaction, tenantId, accessor);
  transaction.delete(tables.sessions, [tenantId, accessor]);
}
