// A tenant's consent to be opened by administrators of the tenant `system`, and who has it open.
import { isWorking, tokenTable, type TokenRecord } from '../../access/tokens/record.ts';
import type { Store, Table } from '../../store/store.ts';

/** Consent of a tenant. [tenant uuid] */
export type Consent = {
  /** all tokens that were opened under it end with this grant */
  readonly grant: string;
  readonly since: string;
};

export const consentTable = (store: Store): Table<Consent> => store.tenantTable<Consent>('open-as');

/** Tokens with which a tenant is open now. */
export function openingsOf(
  store: Store,
  tenantId: string,
  now: Temporal.Instant,
): readonly (TokenRecord & Required<Pick<TokenRecord, 'opened'>>)[] {
  if (consentTable(store).get([tenantId]) === undefined) return [];
  return Array.from(tokenTable(store).entries([tenantId])).flatMap(([, record]) => {
    const { opened } = record;
    return opened !== undefined && isWorking(store, record, now) ? [{ ...record, opened }] : [];
  });
}
