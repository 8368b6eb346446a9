// Puts on record that a store does not hold what was written to it last: pages of its file that are earlier ones look right to everything else.
import type { Clock, Log } from '../../core/base/context.ts';
import type { OpenStore } from '../../core/store/open.ts';
import { recordFinding } from './findings.ts';

/** At every start and every unseal, before anything is written. Afterwards, what was found counts as what was written. */
export async function noteContent(store: OpenStore, { clock, log }: { readonly clock: Clock; readonly log: Log }): Promise<void> {
  const { isAsWritten, records, accept } = await store.examineContent();
  if (!isAsWritten) {
    const message = `the store does not hold what was written to it last: among its ${records} records some are earlier or other ones, or some are missing`;
    log.error(message);
    await recordFinding(store, clock, { name: 'store-content', message, isEvent: true });
  }
  await accept();
}
