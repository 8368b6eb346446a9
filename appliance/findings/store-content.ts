// Puts on record that a store does not have its last written content: earlier pages in its file look right to everything else.
import type { Clock, Log } from '../../core/base/context.ts';
import type { OpenStore } from '../../core/store/open.ts';
import { recordFinding } from './findings.ts';

/** Runs at every start and every unseal, before anything is written. Afterwards, the found content counts as the written one. */
export async function noteContent(store: OpenStore, { clock, log }: { readonly clock: Clock; readonly log: Log }): Promise<void> {
  const { isAsWritten, records, accept } = await store.examineContent();
  if (!isAsWritten) {
    const message = `the store does not hold what was written to it last: among its ${records} records some are earlier or other ones, or some are missing`;
    log.error(message);
    await recordFinding(store, clock, { name: 'store-content', message, isEvent: true });
  }
  await accept();
}
