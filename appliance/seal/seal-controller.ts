// Seals and unseals by replacing all workers. Sealing removes every key first; unsealing tries a PIN once.
import type { Worker } from 'node:cluster';
import { setTimeout } from 'node:timers/promises';
import { inTime } from '../../core/base/async/in-time.ts';
import { defined } from '../../core/base/defined.ts';
import type { Configuration } from '../../core/config/config.ts';
import { openAuditTrail } from '../../core/audit/trail.ts';
import type { Clock, Log } from '../../core/base/context.ts';
import { fail, reasonOf, ServiceError } from '../../core/base/errors.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import { SharedUse } from '../monitoring/metrics/tenant-use.ts';
import { WorkerCounts } from '../processes/worker-counts.ts';
import { chainNames } from '../../core/audit/chains.ts';
import { keepActivity } from '../monitoring/metrics/activity.ts';
import { hsmConfigOf } from '../tokens/hsm-config.ts';
import { provideIdentity } from '../cluster/membership/identity.ts';
import { mendDirectory } from '../data-directory/data-directory.ts';
import { paths } from '../data-directory/paths.ts';
import { StartRefused } from '../start-refused.ts';
import { isMember } from '../cluster/membership/files.ts';
import type { Orders, UnsealAttempt } from '../processes/messages.ts';
import type { ShipperProcess } from '../processes/shipper-process.ts';
import type { Examine } from '../processes/watch/notify.ts';
import { UnsealAttempts, underWay } from './unseal-attempts.ts';
import { UnsealCode } from './unseal-code.ts';
import { hsmErrorOf, refusalOfUnseal, requireOpenable } from './unseal-refusal.ts';
import { type HandlersFor, superviseWorkers, type Workers } from '../processes/supervisor.ts';

const firstReplacementMs = 1_000;
const lastReplacementMs = 30_000;
/** With a large store it takes minutes, in which there are no workers to examine; the watchdog of the unit waits for 90 seconds. */
const longestTakingPartMs = 900_000;
/** Limit for a caller to wait until sealed processes have started, of which nothing is known but that they start. */
const longestTurnMs = 30_000;
/** Limit for replaced workers to wait for an attempt that came by them. */
const longestLeavingMs = 20_000;
/** Limit of an unseal: a waiting caller learns that it has failed before the worker that is to answer has ended. */
const longestStartMs = 540_000;
/** The disk of the audit trail may hang. */
const longestOpeningMs = 60_000;
const tooLate =
  'the processes that were to serve did not start within nine minutes and were ended: see that the tokens and the disk of the data directory answer';
const refusedPin = 'A token refused the PIN. It was tried once; too many refused PINs lock a token for good.';
const orForeign = (data: string): string =>
  `If the PIN is right, ${data}/softhsm is the token of another appliance, or of another time: put it back from your backup.`;
const stillStarting = 'Processes of this appliance are still starting, and nothing was changed: ask again in a few seconds.';

export type SealControllerParts = {
  readonly configuration: Configuration;
  readonly args: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  readonly shipper: Pick<ShipperProcess, 'shipping' | 'testShipping'>;
  /** Starts the processes of a member of a cluster beside its workers. Rejects with StartRefused. */
  readonly takePart: () => Promise<void>;
  /** Ends the own member of etcd and starts it again. */
  readonly restartServer: () => Promise<void>;
  /** Ends the appliance, which stands between alone and member: its next start goes on. */
  readonly giveUp: (reason: unknown) => Promise<void>;
};

/**
 * Starts the workers, sealed or serving as `first` says, and serves their requests: sums of metrics, seal, unseal.
 * Long because every step reads and sets the state of the same seal.
 */
export function controlSeal(
  { configuration, args, clock, log, shipper, takePart, restartServer, giveUp }: SealControllerParts,
  first: Promise<Orders>,
): Pick<Workers, 'ready' | 'provisioned' | 'stop'> & { readonly examine: Examine } {
  const counts = new WorkerCounts();
  const uses = new SharedUse();
  let isSealed = configuration.attended;
  /** the changes, one after another */
  let turn: Promise<void> = Promise.resolve();
  let sealing: Promise<void> | undefined;
  let unsealing: Promise<void> | undefined;
  const code = new UnsealCode(configuration.data, log);
  const attempts = new UnsealAttempts(clock, code);
  const stopping = new AbortController();
  const serials: Record<string, string> = {};
  /** every worker has served: one that is still starting would find itself a member of a cluster that is not running yet */
  let isReady = false;
  let takesPartUntilMs = 0;
  /** replaced workers, until they have ended */
  let leaving: Promise<unknown> = Promise.resolve();
  /** aborted when workers are to end, for callers that wait at them */
  const endings = new WeakMap<Workers, AbortController>();
  let workers = start(first);
  if (isSealed) void workers.ready.then(showCode, () => undefined);
  const activity = keepActivity(() => counts.collect(workers.present()), clock);

  function start(orders: Promise<Orders>): Workers {
    const over = new AbortController();
    const started = superviseWorkers(configuration, args, orders, (worker) => handlersFor(worker, over.signal), {
      onStuck(worker, listener, kept) {
        if (kept) return log.warn('a worker completes no handshakes: it is replaced when the others serve', { worker, listener });
        log.error('a worker completes no handshakes: it is replaced', { worker, listener });
        counts.replaced++;
      },
      onOverloaded: (worker, listener) =>
        log.warn('a worker completes handshakes, but too slowly: it has more connections than it can take, and is not replaced', {
          ...{ worker, listener },
        }),
      serials,
      // Processes that crash while the appliance is sealed are those of an unseal, which answers that.
      giveUp: (reason) => (isSealed ? log.error('the store cannot be read', { reason: reasonOf(reason) }) : void giveUp(reason)),
    });
    endings.set(started, over);
    return started;
  }

  /** `over`: aborted when the workers of that start are to end, so that a caller waiting at one of them gets an answer. */
  function handlersFor(worker: Worker, over: AbortSignal): ReturnType<HandlersFor> {
    return {
      metrics: async () => [...(await counts.collect(workers.present()))],
      activity: () => activity.read(),
      shareUse: (own) => uses.exchange(worker, own),
      health: async () => [...(await workers.health())],
      seal: () => sealOnce(worker),
      unseal: (attempt) => unsealInTurn(attempt, over),
      requireReady: () => {
        if (!isReady) throw fail('conflict', { detail: stillStarting });
      },
      takePart: () => void inTurn(becomeMember).catch(giveUp),
      restartServer,
      shipping: shipper.shipping,
      testShipping: shipper.testShipping,
    };
  }

  /** One that serves may be asked for a change while others start: ready are then those that come after it. */
  async function untilReady(): Promise<void> {
    for (let awaited = workers; ; awaited = workers) {
      try {
        await awaited.ready;
        isReady = true;
        return;
      } catch (error) {
        await turn;
        if (awaited === workers) throw error;
      }
    }
  }

  /** A request while the appliance is being sealed gets the answer of the first one. */
  function sealOnce(requester: Worker): Promise<void> {
    if (sealing !== undefined) return sealing;
    sealing = inTurn(() => seal(requester));
    void turn.then(() => (sealing = undefined));
    return sealing;
  }

  /** Resolves with the change; the next one also waits for the rest of it. */
  function inTurn(change: () => Promise<{ readonly rest: Promise<void> }>): Promise<void> {
    const changed = turn.then(change);
    turn = changed.then(({ rest }) => rest).catch(() => undefined);
    return changed.then(() => undefined);
  }

  /** Renews the code, unless the appliance is no longer sealed. */
  function showCode(): void {
    if (isSealed) code.renew();
  }

  /** Unseals in turn. An attempt that proves nothing takes no turn and costs no try. Of the others one at a time may wait. */
  async function unsealInTurn(attempt: UnsealAttempt, over: AbortSignal): Promise<void> {
    if (!isSealed) throw fail('not-sealed');
    const doubt = attempts.doubt(attempt);
    if (doubt !== undefined) {
      if (attempts.mayRecord()) void recordDoubt(attempt, doubt);
      throw doubt;
    }
    if (unsealing !== undefined) throw underWay('Another attempt to unseal is under way, and this PIN was not looked at');
    const begun = Promise.withResolvers<void>();
    const late = new AbortController();
    const own = inTurn(async () => {
      begun.resolve();
      if (!late.signal.aborted) await openOrSay(attempt);
      return { rest: Promise.resolve() };
    }).finally(() => {
      if (unsealing === own) unsealing = undefined;
    });
    unsealing = own;
    own.catch(() => undefined);
    await Promise.race([begun.promise, setTimeout(longestTurnMs, undefined, { ref: false }).then(() => late.abort())]);
    if (late.signal.aborted) {
      unsealing = undefined;
      throw underWay('The processes of the sealed appliance are still starting, and the PIN was not looked at');
    }
    const ended = new Promise<never>((_, reject) => {
      const say = (): void =>
        reject(underWay('The attempt is under way and goes on, for longer than this process: health says when it is unsealed'));
      if (over.aborted) say();
      else over.addEventListener('abort', say, { once: true });
    });
    await Promise.race([own, ended]);
  }

  /**
   * First removes the keys from every process, then starts sealed processes, which takes seconds. Until these serve, the old processes
   * answer as sealed ones; with their end, everything in their memory is gone.
   */
  async function seal(requester: Worker): Promise<{ readonly rest: Promise<void> }> {
    if (isSealed) return { rest: Promise.resolve() };
    isSealed = true;
    await workers.seal(requester);
    showCode();
    return { rest: standIn() };
  }

  /** The keys are gone already, so starting sealed processes is retried until it works. */
  async function standIn(): Promise<void> {
    for (let waitMs = firstReplacementMs; !stopping.signal.aborted; waitMs = Math.min(2 * waitMs, lastReplacementMs)) {
      try {
        return await replace({ sealed: true });
      } catch (error) {
        log.error('sealed processes cannot be started', { reason: (error as Error).message });
        await setTimeout(waitMs, undefined, { ref: false });
      }
    }
  }

  /** New processes serve before the old ones stop listening. The old ones finish their running requests and end. */
  async function replace(orders: Orders): Promise<void> {
    const next = start(Promise.resolve(orders));
    await inTime(next.ready, longestStartMs, async () => {
      await next.stop();
      throw new StartRefused(tooLate);
    });
    const old = workers;
    [workers, isSealed] = [next, orders.sealed];
    if (!isSealed) code.end();
    await old.retire();
    // A caller of unseal may be connected to one of these, and gets an answer before it ends.
    const answered = unsealing?.catch(() => undefined) ?? Promise.resolve();
    const patience = new AbortController();
    const late = setTimeout(longestLeavingMs, undefined, { ref: false, signal: patience.signal }).then(
      () => endings.get(old)?.abort(),
      () => undefined,
    );
    leaving = Promise.all([leaving, Promise.race([answered, late]).then(() => (patience.abort(), old.stop()))]);
  }

  /**
   * Replaces all processes: writes of an appliance that stands alone would be lost to the others, so its processes end before there is a
   * shared store.
   */
  async function becomeMember(): Promise<{ readonly rest: Promise<void> }> {
    log.info('this appliance becomes a member of a cluster: all processes are replaced');
    await workers.stop();
    takesPartUntilMs = clock.monotonicMs() + longestTakingPartMs;
    await takePart();
    isSealed = configuration.attended;
    workers = start(Promise.resolve({ sealed: isSealed, provisions: !isSealed }));
    await workers.ready;
    showCode();
    takesPartUntilMs = 0;
    log.info('this appliance is a member of a cluster');
    return { rest: Promise.resolve() };
  }

  /** Finds missing or damaged parts before the PIN is used, and before the audit trail is opened: reading a FIFO there would never end. */
  async function openOrSay(attempt: UnsealAttempt): Promise<void> {
    try {
      await requireOpenable(configuration);
      for (const warning of mendDirectory(configuration.data)) log.warn(warning);
      await audited(attempt, unseal);
    } catch (error) {
      const refusal = refusalOfUnseal(error, configuration);
      if (refusal === undefined || refusal.status >= 500 || refusal.code === 'data-damaged')
        log.error('the appliance could not be unsealed', { reason: reasonOf(refusal ?? error), 'request-id': attempt.requestId });
      throw refusal ?? fail('internal-error', { cause: error });
    }
  }

  async function unseal(attempt: UnsealAttempt): Promise<void> {
    if (!isSealed) throw fail('not-sealed');
    attempts.requireTime();
    const pins = { pin: attempt.pin, pins: attempt.pins };
    try {
      const hsmConfig = await hsmConfigOf(configuration, () => undefined);
      if (pins.pin === undefined && hsmConfig.tokens.some(({ name }) => pins.pins?.[name] === undefined))
        throw fail('missing-field', { detail: 'Every configured token needs a PIN: give "pin" for all, or "pins" by name.' });
      await replace({ sealed: false, provisions: true, pins });
    } catch (error) {
      if (hsmErrorOf(error)?.kind !== 'pin-refused') throw error;
      log.warn('a token refused the PIN that was to unseal the appliance', { attempts: attempts.countRefused() });
      throw fail('pin-refused', {
        detail: configuration.hsm.tokens.length > 0 ? refusedPin : `${refusedPin} ${orForeign(configuration.data)}`,
      });
    }
    attempts.forgetRefused();
    log.info('unsealed');
  }

  /** Sealed processes have no audit trail: attempts are recorded in the chain of the supervisor. */
  async function audited(attempt: UnsealAttempt, run: (attempt: UnsealAttempt) => Promise<void>): Promise<void> {
    const { requestId, clientIp, userAgent } = attempt;
    const appliance = isMember(configuration) ? provideIdentity(configuration.data) : undefined;
    const opening = openAuditTrail({ directory: paths.audit(configuration.data), chain: chainNames(appliance).supervisor, clock, log });
    const trail = await inTime(opening, longestOpeningMs, () => {
      throw fail('audit-unavailable', { cause: new Error('the disk of the audit trail does not answer') });
    });
    try {
      if (!trail.writable) throw fail('audit-unavailable');
      const record = (status: number, code?: string): Promise<void> =>
        trail.write({
          kind: 'console',
          occurredAt: formatTimestamp(clock.now()),
          requestId,
          clientIp,
          userAgent,
          method: 'POST',
          path: '/v1/state/keystore/system/unseal',
          status,
          ...defined({ code }),
        });
      try {
        await run(attempt);
      } catch (error) {
        const { status, code } = error instanceof ServiceError ? error : fail('internal-error');
        await record(status, code).catch(() => undefined);
        throw error;
      }
      await record(204);
    } finally {
      await trail.close();
    }
  }

  /** Nobody waits for it: that no PIN was tried is known without. */
  function recordDoubt(attempt: UnsealAttempt, doubt: ServiceError): Promise<void> {
    return inTurn(async () => {
      await audited(attempt, () => Promise.reject(doubt));
      return { rest: Promise.resolve() };
    }).catch((error: unknown) => {
      if (error !== doubt) log.warn('an attempt to unseal could not be recorded', { reason: (error as Error).message });
    });
  }

  return {
    ready: untilReady(),
    provisioned: workers.provisioned,
    examine: async () => (clock.monotonicMs() < takesPartUntilMs ? { instead: 'becoming a member of a cluster' } : workers.examine()),
    async stop() {
      stopping.abort();
      activity.stop();
      code.end();
      await Promise.all([workers.stop(), leaving]);
    },
  };
}
