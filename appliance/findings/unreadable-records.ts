// Records that do not open are skipped by lists and jobs: health reports it until a person has answered.
import type { Clock, Log } from '../../core/base/context.ts';
import { reasonOf } from '../../core/base/errors.ts';
import type { OpenStore } from '../../core/store/open-store.ts';
import { recordFinding } from './findings.ts';

export type UnreadableParts = { readonly store: OpenStore; readonly clock: Clock; readonly log: Log };

/** From now on. Health is public and names the table; the log has the key. */
export function reportUnreadable({ store, clock, log }: UnreadableParts): void {
  store.onUnreadable = (table) => {
    const message = `a record of ${table} does not open`;
    // It is met by reads, which do not wait for a commit.
    recordFinding(store, clock, { name: 'records-unreadable', message, isEvent: true }).catch((error: unknown) =>
      log.warn('the finding of an unreadable record could not be stored', { reason: reasonOf(error) }),
    );
  };
}
