// Notices of requests for approval: those that wait for the caller, and the caller's own that are approved; without a caller, those that wait for anybody.
import type { Caller } from '../../access/caller.ts';
import { presentState, seenBy, type Seen } from '../../approvals/deciding.ts';
import { approvalTable, bookTable } from '../../approvals/records.ts';
import { Rules } from '../../approvals/rules.ts';
import type { Clock, Notice } from '../../base/context.ts';
import { formatTimestamp } from '../../base/time.ts';
import { getIfOpen, type Store } from '../../store/store.ts';

const path = '/v1/state/approvals';

export function approvalNotices(store: Store, clock: Clock, tenantId: string, caller: Caller | undefined): readonly Notice[] {
  const now = clock.now();
  const present = formatTimestamp(now);
  const open = (getIfOpen(bookTable(store), [tenantId])?.open ?? []).filter(({ until }) => until > present);
  if (open.length === 0) return [];
  if (caller === undefined) return counted('approvals-open', open.length, ['request for approval waits', 'requests for approval wait']);
  const rules = new Rules(store).of(tenantId);
  const seen = open.flatMap(({ id }): readonly Seen[] => {
    const approval = getIfOpen(approvalTable(store), [tenantId, id]);
    const one = approval?.state === 'open' ? seenBy(store, caller, approval, rules) : undefined;
    return one !== undefined && presentState(one.approval, one.standing, now) === 'open' ? [one] : [];
  });
  const waiting = seen.filter(({ isOwn, roles, standing }) => !isOwn && roles.length > 0 && standing.grantedAt === undefined);
  const granted = seen.filter(({ isOwn, standing }) => isOwn && standing.grantedAt !== undefined);
  return [
    ...counted('approvals-waiting', waiting.length, ['request waits for your approval', 'requests wait for your approval']),
    ...counted('approvals-granted', granted.length, ['of your requests is approved: send it', 'of your requests are approved: send them']),
  ];
}

function counted(name: string, count: number, [one, more]: readonly [string, string]): readonly Notice[] {
  return count === 0 ? [] : [{ name, text: `${count} ${count === 1 ? one : more}`, path }];
}
