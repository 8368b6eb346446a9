// Opens the parts of a serving process: its log, the tokens and the store; worker 1 makes missing ones on the way.
import { describeFault } from '../../core/http/response/problem.ts';
import { catchStrayErrors } from '../../core/base/async/last-resort.ts';
import { setTimeout } from 'node:timers/promises';
import type { Configuration } from '../../core/config/config.ts';
import { type OpenLog, openLog } from '../../core/log/log.ts';
import { systemClock } from '../../core/base/time.ts';
import { chainNames } from '../../core/audit/chains.ts';
import { recordedRevision } from '../../core/audit/examine.ts';
import { openLink } from '../cluster/replication/taking-part.ts';
import { provisionAppliance } from '../provisioning/first-boot.ts';
import type { TokenConfig } from '../../hsm/api.ts';
import { type GivenPins, hsmConfigOf, withPins, withSerials } from '../tokens/hsm-config.ts';
import { paths } from '../data-directory/paths.ts';
import { openRuntime, type Runtime } from '../runtime.ts';
import { StartRefused } from '../start-refused.ts';

export type Opened = {
  readonly log: OpenLog;
  readonly runtime: Runtime;
  /** as they were opened */
  readonly tokens: readonly TokenConfig[];
  /** as they are configured, also where a person has given the PINs of this start */
  readonly configured: readonly TokenConfig[];
  /** message to the user after a first start */
  readonly announcement: string | undefined;
};

/** Opens them for worker `number`. Throws StartRefused; nothing stays open then. */
export async function openToServe(
  configuration: Configuration,
  number: number,
  {
    provisions = false,
    pins,
    serials,
  }: {
    readonly provisions?: boolean | undefined;
    readonly pins?: GivenPins | undefined;
    /** of the tokens as they were open before, by name */
    readonly serials: Readonly<Record<string, string>>;
  },
): Promise<Opened> {
  const { data, logs, logLevel: level } = configuration;
  const log = openLog({ directory: paths.logs(data), stream: chainNames(undefined).worker(number), level, clock: systemClock, ...logs });
  try {
    watchForStrayErrors(log);
    const configured = await hsmConfigOf(configuration, () => undefined);
    const hsmConfig = withSerials(pins === undefined ? configured : withPins(configured, pins), serials);
    const { tokens } = hsmConfig;
    const hsmLog = log.with('hsm');
    const cluster = openLink(configuration, number);
    if (provisions)
      return endIfUnreadable({
        ...{ log, tokens, configured: withSerials(configured, serials).tokens },
        ...(await provisionAppliance(configuration, hsmConfig, { clock: systemClock, log: hsmLog, cluster })),
      });
    // Before the store is opened: then it contains the commits that others make meanwhile.
    const recorded = await recordedRevision(paths.audit(data), ownChain(configuration.workers));
    const runtime = await openRuntime(configuration, hsmConfig, hsmLog, cluster);
    await requireNewestStore(runtime, data, recorded);
    return endIfUnreadable({ log, tokens, configured: withSerials(configured, serials).tokens, runtime, announcement: undefined });
  } catch (error) {
    await log.close();
    throw error;
  }
}

/** Ends the process as a crash, whether LMDB reports a damaged page or crashes over it: the supervisor then reads all pages and names it. */
function endIfUnreadable(opened: Opened): Opened {
  opened.runtime.store.onDamagedPage(() => process.kill(process.pid, 'SIGABRT'));
  return opened;
}

/**
 * A worker that takes the place of one that has ended may find an earlier copy in the place of the store, of which that one has died.
 * Throws StartRefused; nothing stays open then.
 */
async function requireNewestStore(runtime: Runtime, data: string, recorded: number): Promise<void> {
  const { openedAt } = runtime.store;
  if (openedAt === undefined || recorded <= openedAt) return;
  await runtime.close();
  throw new StartRefused(
    `${paths.store(data)} is an earlier copy of the store: it has revision ${openedAt}, and the audit trail names revision ${recorded}. Put the newer one back, or start the appliance again with what is there`,
  );
}

/** Tells the chains of an appliance that stands alone: one in a cluster has its store from the others. */
function ownChain(workers: number): (chain: string) => boolean {
  const names = chainNames(undefined);
  const own = new Set([names.supervisor, ...Array.from({ length: workers }, (_, index) => names.worker(index + 1))]);
  return (chain) => own.has(chain);
}

/** Limit for the log to write the reason for the end of the process. */
const lastWordsMs = 1_000;

function watchForStrayErrors(log: OpenLog): void {
  catchStrayErrors({
    tell: (error) => log.error('an error outside every promise ended a request', describeFault(error)),
    give: (error) => void endProcess(log, error),
  });
}

/** By SIGKILL: an exit waits for the thread that writes to the store, which may be waiting for this one. */
async function endProcess(log: OpenLog, error: unknown): Promise<void> {
  log.error('an error outside every promise and every request ended this process', describeFault(error));
  await Promise.race([log.close(), setTimeout(lastWordsMs)]);
  process.kill(process.pid, 'SIGKILL');
}
