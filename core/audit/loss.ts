// Changes of the files of a chain by other programs: before a process continues it, and while that process writes it, which the next record detects.
import { discrepancyMessages, examineChain, examineLoss, gapsIn } from './examine.ts';
import { type Discrepancy, gapPart, type TrailMemory } from './chains.ts';
import type { ChainHead } from './line.ts';
import type { Clock, Log } from '../base/context.ts';
import { reasonOf } from '../base/errors.ts';
import { listStreams } from '../log/stream-files.ts';

/**
 * Compares a chain with the memory. openChains has compared all chains before any process started; a process that replaces a dead one
 * compares its chain again.
 */
export async function compareWithMemory({ memory, directory, chain, clock, log }: LossOptions): Promise<readonly Discrepancy[]> {
  const remembered = memory?.recall().get(chain);
  if (remembered === undefined) return [];
  try {
    const found = await examineChain(chain, (await listStreams(directory)).get(chain) ?? [], remembered);
    for (const discrepancy of found) log.error(discrepancyMessages[discrepancy.event], discrepancy);
    if (found.length > 0) {
      await memory?.report?.(found, clock);
      await memory?.update(gapsIn(found));
    }
    // From now on a killed process leaves records after the last orderly end.
    if (remembered.closed !== undefined) await memory?.update([{ chain, part: 'closed' }]);
    return found;
  } catch (error) {
    log.warn('the audit trail could not be compared with what is remembered of it', { reason: String(error) });
    return [];
  }
}

export type LossOptions = {
  /** shared by all chains; created if missing */
  readonly directory: string;
  /** name of this process's chain, a lower-case word; no two processes share one */
  readonly chain: string;
  readonly clock: Clock;
  readonly log: Log;
  /** kept outside the trail: the chain is compared with it when opened, and only chains it contains are signed */
  readonly memory?: TrailMemory;
};

export class Losses {
  readonly #options: LossOptions;
  #unsaid: readonly Discrepancy[] = [];
  /** losses that are not in the memory yet */
  #untold: readonly { readonly found: Discrepancy; readonly head: ChainHead }[] = [];
  #telling: Promise<void> | undefined;

  constructor(options: LossOptions) {
    this.#options = options;
  }

  /** Losses that the trail must record as soon as it can be written again; until `said`. */
  get unsaid(): readonly Discrepancy[] {
    return this.#unsaid;
  }

  said(): void {
    this.#unsaid = [];
  }

  /**
   * Examines a loss. `head`: the last acknowledged record, after which the chain continues in a new file. Found once, however often that is
   * tried.
   */
  async examine(head: ChainHead): Promise<void> {
    if (this.#unsaid.some(({ throughSequence }) => throughSequence === head.sequence)) return;
    const { directory, chain, log } = this.#options;
    const found = await examineLoss(chain, (await listStreams(directory)).get(chain) ?? [], head);
    log.error(discrepancyMessages[found.event], found);
    this.#unsaid = [...this.#unsaid, found];
    this.#untold = [...this.#untold, { found, head }];
  }

  /** Reports the losses: they are part of health from then on, and no later start finds them again. Tried again if the memory cannot be written. */
  tell(): Promise<void> {
    this.#telling ??= this.#tell().finally(() => (this.#telling = undefined));
    return this.#telling;
  }

  async #tell(): Promise<void> {
    const untold = this.#untold;
    if (untold.length === 0) return;
    const { memory, clock, chain, log } = this.#options;
    try {
      await memory?.report?.(
        untold.map(({ found }) => found),
        clock,
      );
      await memory?.update(untold.map(({ head }) => ({ chain, part: gapPart(head.sequence), head })));
      this.#untold = this.#untold.slice(untold.length);
    } catch (error) {
      log.warn('what was done to the audit trail could not be kept for health, and is tried again', { reason: reasonOf(error) });
    }
  }
}
