// Applies a mark of `keystored break-glass`: on record first, then the rules of the tenant go, and a finding says so.
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { defined } from '../../core/base/defined.ts';
import { ruleTable } from '../../core/approvals/rules.ts';
import type { Audit } from '../../core/audit/record.ts';
import type { Clock, Job, Log } from '../../core/base/context.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import { openTenants } from '../../core/access/tenants.ts';
import type { TableKinds } from '../../core/store/records/table-kinds.ts';
import type { Store, Table } from '../../core/store/store.ts';
import { noteFinding } from '../findings/findings.ts';
import { readMark, removeMark, rulesOf, unreadable, type Wanted } from './mark.ts';

export type BreakGlassParts = {
  /** the data directory */
  readonly directory: string;
  /** without a prefix */
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: Audit;
};

/** A mark is applied by the start after it: one that was left, or kept from earlier, is not. */
const goodForHours = 24;

/** Marks that were applied, by id: none is applied twice. */
const table = (store: Store): Table<{ readonly at: string }> => store.table<{ readonly at: string }>('break-glass');
export const breakGlassTableKinds: TableKinds = { 'break-glass': { of: 'all' } };

/** It does not wait for a plausible clock: the people who accept one may be those who are gone. */
export function breakGlassJob(parts: BreakGlassParts): Job {
  const recorded = new Set<string>();
  return { name: 'break-glass', everySeconds: 10, isOfEach: true, whileClockInDoubt: true, run: () => applyMark(parts, recorded) };
}

/**
 * Safe to repeat after a kill at any line: the mark goes last. In a cluster its majority decides, as about every change. `recorded`: ids of marks that
 * this process has put on record, so that a store which takes no change for hours does not make an alert of each try.
 */
async function applyMark(parts: BreakGlassParts, recorded: Set<string>): Promise<void> {
  const { directory, store } = parts;
  const wanted = readMark(directory, store);
  if (wanted === undefined) return;
  store.refresh();
  if (wanted === 'forged') await refuse(parts, {}, 'its mark was not made with the key of this store');
  else if (!table(store).has([wanted.id])) {
    const problem = problemOf(parts, wanted);
    if (problem === undefined) await removeRules(parts, wanted, recorded);
    else await refuse(parts, wanted, problem);
  }
  removeMark(directory);
}

async function refuse(parts: BreakGlassParts, wanted: Partial<Wanted>, problem: string): Promise<void> {
  await record(parts, wanted, problem);
  parts.log.warn(`break-glass was not applied: ${problem}`);
}

function problemOf({ store, clock }: BreakGlassParts, { tenantId, rules, madeAt }: Wanted): string | undefined {
  if (openTenants(store).findByUuid(tenantId) === undefined) return 'the tenant is gone';
  const ageHours = Math.abs(Temporal.Instant.from(madeAt).until(clock.now()).total('hours'));
  if (ageHours > goodForHours) return `it is from ${madeAt}, and a mark is good for ${goodForHours} hours`;
  return isDeepStrictEqual(rulesOf(store, tenantId), rules) ? undefined : 'the rules are others than those that were shown: run it again';
}

function record({ audit, clock }: BreakGlassParts, wanted: Partial<Wanted>, problem?: string): Promise<void> {
  const { id = randomUUID(), tenantId, rules, reason, madeAt } = wanted;
  return audit.write({
    ...{ kind: 'system', occurredAt: formatTimestamp(clock.now()), requestId: id, ...defined({ tenantId }) },
    code: problem === undefined ? 'break-glass' : 'break-glass-refused',
    requestParameters: defined({ rules: rules?.map(({ name }) => name), reason, 'made-at': madeAt, problem }),
  });
}

async function removeRules(parts: BreakGlassParts, wanted: Wanted, recorded: Set<string>): Promise<void> {
  const { store, clock } = parts;
  const { id, tenantId, rules, madeAt } = wanted;
  if (!recorded.has(id)) await record(parts, wanted);
  recorded.add(id);
  await store.write((transaction) => {
    if (transaction.has(table(store), [id])) return;
    for (const { name, digest } of rules) {
      if (digest === unreadable) transaction.deleteUnreadable(ruleTable(store), [tenantId, name]);
      else transaction.delete(ruleTable(store), [tenantId, name]);
    }
    transaction.put(table(store), [id], { at: formatTimestamp(clock.now()) });
    const message = `the approval rules of a tenant were removed with the PIN of the token, by break-glass of ${madeAt}`;
    noteFinding(transaction, store, clock, { name: 'break-glass', message, isEvent: true });
  });
}
