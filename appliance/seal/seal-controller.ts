// Seals and unseals by replacing all workers. Sealing removes every key first; unsealing tries a PIN once.
import type { Worker } from 'node:cluster';
import { setTimeout } from 'node:timers/promises';
import type { Configuration } from '../../core/config/config.ts';
import type { Secret } from '../../core/base/secret.ts';
import type { Clock, Log } from '../../core/base/context.ts';
import { fail, reasonOf, ServiceError } from '../../core/base/errors.ts';
import { SharedUse } from '../monitoring/metrics/tenant-use.ts';
import { WorkerCounts } from '../processes/worker-counts.ts';
import { keepActivity } from '../monitoring/metrics/activity.ts';
import { hsmConfigOf } from '../tokens/hsm-config.ts';
import { isInForce, takeEffect } from '../custodians/ceremony.ts';
import { Gathering, type Judged, type Progress } from '../custodians/gathering.ts';
import { mendDirectory } from '../data-directory/data-directory.ts';
import type { Orders, UnsealAttempt } from '../processes/messages.ts';
import type { ShipperProcess } from '../processes/shipper-process.ts';
import type { HandlersFor, Workers } from '../processes/supervisor.ts';
import type { Examine } from '../processes/watch/notify.ts';
import { audited } from './attempt-record.ts';
import { Generations } from './generations.ts';
import { UnsealAttempts, underWay } from './unseal-attempts.ts';
import { UnsealCode } from './unseal-code.ts';
import { hsmErrorOf, refusalOfUnseal, requireOpenable } from './unseal-refusal.ts';

const firstReplacementMs = 1_000;
const lastReplacementMs = 30_000;
/** With a large store it takes minutes, in which there are no workers to examine; the watchdog of the unit waits for 90 seconds. */
const longestTakingPartMs = 900_000;
/** Limit for a caller to wait until sealed processes have started, of which nothing is known but that they start. */
const longestTurnMs = 30_000;
const refusedPin = 'A token refused the PIN. It was tried once; too many refused PINs lock a token for good.';
const sharesOnly = 'Custodians have the PIN of this appliance: give "share". No token was asked.';
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

/** A change of all processes; the next one also waits for the rest of it. */
type Changed = { readonly rest: Promise<void> };

/** Starts the workers, sealed or serving as `first` says, and serves their requests: sums of metrics, seal, unseal. */
export class SealController implements Pick<Workers, 'ready' | 'provisioned' | 'stop'> {
  readonly #parts: SealControllerParts;
  readonly #counts = new WorkerCounts();
  readonly #uses = new SharedUse();
  readonly #code: UnsealCode;
  readonly #attempts: UnsealAttempts;
  readonly #gathering: Gathering;
  readonly #activity: ReturnType<typeof keepActivity>;
  readonly #generations: Generations;
  readonly #stopping = new AbortController();
  #isSealed: boolean;
  /** the changes, one after another */
  #turn: Promise<void> = Promise.resolve();
  #sealing: Promise<void> | undefined;
  #unsealing: Promise<void> | undefined;
  /** every worker has served: one that is still starting would find itself a member of a cluster that is not running yet */
  #isReady = false;
  #takesPartUntilMs = 0;
  readonly ready: Promise<void>;
  readonly provisioned: Workers['provisioned'];

  constructor(parts: SealControllerParts, first: Promise<Orders>) {
    const { configuration, args, clock, log } = parts;
    this.#parts = parts;
    this.#isSealed = configuration.attended;
    this.#code = new UnsealCode(configuration.data, log);
    this.#attempts = new UnsealAttempts(clock, this.#code);
    this.#gathering = new Gathering(configuration.data, clock);
    const handlersFor = (worker: Worker, over: AbortSignal): ReturnType<HandlersFor> => this.#handlersFor(worker, over);
    this.#generations = new Generations({ configuration, args, handlersFor, reports: this.#reports() }, first);
    if (this.#isSealed)
      void this.#workers.ready.then(
        () => this.#showCode(),
        () => undefined,
      );
    this.#activity = keepActivity(() => this.#counts.collect(this.#workers.present()), clock);
    this.ready = this.#untilReady();
    this.provisioned = this.#workers.provisioned;
  }

  readonly examine: Examine = async () =>
    this.#parts.clock.monotonicMs() < this.#takesPartUntilMs ? { instead: 'becoming a member of a cluster' } : this.#workers.examine();

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#activity.stop();
    this.#code.end();
    await this.#generations.stop();
  }

  get #workers(): Workers {
    return this.#generations.current;
  }

  #reports(): ConstructorParameters<typeof Generations>[0]['reports'] {
    const { log, giveUp } = this.#parts;
    return {
      onStuck: (worker, listener, kept) => {
        if (kept) return log.warn('a worker completes no handshakes: it is replaced when the others serve', { worker, listener });
        log.error('a worker completes no handshakes: it is replaced', { worker, listener });
        this.#counts.replaced++;
      },
      onOverloaded: (worker, listener) =>
        log.warn('a worker completes handshakes, but too slowly: it has more connections than it can take, and is not replaced', {
          ...{ worker, listener },
        }),
      serials: {},
      // Processes that crash while the appliance is sealed are those of an unseal, which answers that.
      giveUp: (reason) => (this.#isSealed ? log.error('the store cannot be read', { reason: reasonOf(reason) }) : void giveUp(reason)),
    };
  }

  /** `over`: aborted when the workers of that start are to end, so that a caller waiting at one of them gets an answer. */
  #handlersFor(worker: Worker, over: AbortSignal): ReturnType<HandlersFor> {
    return {
      metrics: async () => [...(await this.#counts.collect(this.#workers.present()))],
      activity: () => this.#activity.read(),
      shareUse: (own) => this.#uses.exchange(worker, own),
      health: async () => [...(await this.#workers.health())],
      seal: () => this.#sealOnce(worker),
      unseal: ({ share, ...attempt }) => (share === undefined ? this.#unsealInTurn(attempt, over) : this.#giveShare(share, attempt, over)),
      custodians: () => this.#gathering.progress(),
      requireReady: () => {
        if (!this.#isReady) throw fail('conflict', { detail: stillStarting });
      },
      takePart: () => void this.#inTurn(() => this.#becomeMember()).catch(this.#parts.giveUp),
      restartServer: this.#parts.restartServer,
      shipping: this.#parts.shipper.shipping,
      testShipping: this.#parts.shipper.testShipping,
    };
  }

  /** One that serves may be asked for a change while others start: ready are then those that come after it. */
  async #untilReady(): Promise<void> {
    for (let awaited = this.#workers; ; awaited = this.#workers) {
      try {
        await awaited.ready;
        this.#isReady = true;
        return;
      } catch (error) {
        await this.#turn;
        if (awaited === this.#workers) throw error;
      }
    }
  }

  /** A request while the appliance is being sealed gets the answer of the first one. */
  #sealOnce(requester: Worker): Promise<void> {
    if (this.#sealing !== undefined) return this.#sealing;
    this.#sealing = this.#inTurn(() => this.#seal(requester));
    void this.#turn.then(() => (this.#sealing = undefined));
    return this.#sealing;
  }

  /** Resolves with the change; the next one also waits for the rest of it. */
  #inTurn(change: () => Promise<Changed>): Promise<void> {
    const changed = this.#turn.then(change);
    this.#turn = changed.then(({ rest }) => rest).catch(() => undefined);
    return changed.then(() => undefined);
  }

  /** Renews the code, unless the appliance is no longer sealed. */
  #showCode(): void {
    if (this.#isSealed) this.#code.renew();
  }

  /** Unseals in turn. An attempt that proves nothing takes no turn and costs no try. Of the others one at a time may wait. */
  async #unsealInTurn(attempt: UnsealAttempt, over: AbortSignal, isProven = false): Promise<undefined> {
    if (!this.#isSealed) throw fail('not-sealed');
    const doubt = isProven ? undefined : this.#doubtOf(attempt);
    if (doubt !== undefined) {
      if (this.#attempts.mayRecord()) void this.#recordDoubt(attempt, doubt);
      throw doubt;
    }
    if (this.#unsealing !== undefined)
      throw underWay(
        `Another attempt to unseal is under way, and ${isProven ? 'the share was taken for it' : 'this PIN was not looked at'}`,
      );
    const begun = Promise.withResolvers<void>();
    const late = new AbortController();
    const own = this.#inTurn(async () => {
      begun.resolve();
      if (!late.signal.aborted) await this.#openOrSay(attempt, isProven);
      return { rest: Promise.resolve() };
    }).finally(() => {
      if (this.#unsealing === own) this.#unsealing = undefined;
    });
    this.#unsealing = own;
    own.catch(() => undefined);
    await Promise.race([begun.promise, setTimeout(longestTurnMs, undefined, { ref: false }).then(() => late.abort())]);
    if (late.signal.aborted) {
      this.#unsealing = undefined;
      throw underWay(
        `The processes of the sealed appliance are still starting, and ${isProven ? 'the share was taken: give it once more' : 'the PIN was not looked at'}`,
      );
    }
    const ended = new Promise<never>((_, reject) => {
      const say = (): void =>
        reject(underWay('The attempt is under way and goes on, for longer than this process: health says when it is unsealed'));
      if (over.aborted) say();
      else over.addEventListener('abort', say, { once: true });
    });
    await Promise.race([own, ended]);
    return undefined;
  }

  /** Reason not to try the PIN of a person, which no token has while custodians have it. */
  #doubtOf(attempt: UnsealAttempt): ServiceError | undefined {
    return isInForce(this.#parts.configuration.data) ? fail('missing-field', { detail: sharesOnly }) : this.#attempts.doubt(attempt);
  }

  /** A share costs no try of the token, which sees the PIN that enough of them open. One that is refused counts for nothing. */
  async #giveShare(share: Secret<string>, attempt: UnsealAttempt, over: AbortSignal): Promise<Progress> {
    if (!this.#isSealed) throw fail('not-sealed');
    const { data } = this.#parts.configuration;
    const refused = (error: unknown): never => {
      throw this.#refusalOf(error, attempt);
    };
    let judged: Judged;
    try {
      judged = this.#gathering.judge(share);
    } catch (error) {
      const refusal = this.#refusalOf(error, attempt);
      if (this.#attempts.mayRecord()) void this.#recordDoubt(attempt, refusal);
      throw refusal;
    }
    const { ceremony } = judged;
    // One that cannot be recorded counts for nothing, and may be given again.
    if (judged.isNew)
      await this.#inTurn(() => this.#recordShare(attempt, { ceremony: ceremony.ceremony, share: judged.share.number })).catch(refused);
    if (!this.#isSealed) throw fail('not-sealed');
    const { progress, pins } = await this.#gathering.take(judged).catch(refused);
    if (pins === undefined) return progress;
    await this.#unsealInTurn({ ...attempt, pins }, over, true).catch((error: unknown) => {
      if (error instanceof ServiceError && error.code === 'pin-refused') this.#gathering.forget();
      throw error;
    });
    takeEffect(data, ceremony);
    this.#gathering.forget();
    return progress;
  }

  async #recordShare(attempt: UnsealAttempt, parameters: Readonly<Record<string, unknown>>): Promise<Changed> {
    await requireOpenable(this.#parts.configuration);
    await audited(this.#parts, attempt, () => Promise.resolve(), { parameters, status: 200 });
    return { rest: Promise.resolve() };
  }

  /**
   * First removes the keys from every process, then starts sealed processes, which takes seconds. Until these serve, the old processes
   * answer as sealed ones; with their end, everything in their memory is gone.
   */
  async #seal(requester: Worker): Promise<Changed> {
    if (this.#isSealed) return { rest: Promise.resolve() };
    this.#isSealed = true;
    await this.#workers.seal(requester);
    this.#showCode();
    return { rest: this.#standIn() };
  }

  /** The keys are gone already, so starting sealed processes is retried until it works. */
  async #standIn(): Promise<void> {
    for (let waitMs = firstReplacementMs; !this.#stopping.signal.aborted; waitMs = Math.min(2 * waitMs, lastReplacementMs)) {
      try {
        return await this.#replace({ sealed: true });
      } catch (error) {
        this.#parts.log.error('sealed processes cannot be started', { reason: (error as Error).message });
        await setTimeout(waitMs, undefined, { ref: false });
      }
    }
  }

  async #replace(orders: Orders): Promise<void> {
    await this.#generations.replace(
      orders,
      () => {
        this.#isSealed = orders.sealed;
        if (!this.#isSealed) this.#code.end();
      },
      // A caller of unseal may be connected to one of the old processes, and gets an answer before it ends.
      () => this.#unsealing?.catch(() => undefined) ?? Promise.resolve(),
    );
  }

  /**
   * Replaces all processes: writes of an appliance that stands alone would be lost to the others, so its processes end before there is a
   * shared store.
   */
  async #becomeMember(): Promise<Changed> {
    const { configuration, clock, log, takePart } = this.#parts;
    log.info('this appliance becomes a member of a cluster: all processes are replaced');
    await this.#workers.stop();
    this.#takesPartUntilMs = clock.monotonicMs() + longestTakingPartMs;
    await takePart();
    this.#isSealed = configuration.attended;
    await this.#generations.restart({ sealed: this.#isSealed, provisions: !this.#isSealed }).ready;
    this.#showCode();
    this.#takesPartUntilMs = 0;
    log.info('this appliance is a member of a cluster');
    return { rest: Promise.resolve() };
  }

  /** Finds missing or damaged parts before the PIN is used, and before the audit trail is opened: reading a FIFO there would never end. */
  async #openOrSay(attempt: UnsealAttempt, isProven: boolean): Promise<void> {
    const { configuration, log } = this.#parts;
    try {
      await requireOpenable(configuration);
      for (const warning of mendDirectory(configuration.data)) log.warn(warning);
      await audited(this.#parts, attempt, (one) => this.#unseal(one, isProven));
    } catch (error) {
      throw this.#refusalOf(error, attempt);
    }
  }

  /** The answer to an attempt; what an administrator has to mend is in the log. */
  #refusalOf(error: unknown, { requestId }: UnsealAttempt): ServiceError {
    const { configuration, log } = this.#parts;
    const refusal = refusalOfUnseal(error, configuration);
    if (refusal === undefined || refusal.status >= 500 || refusal.code === 'data-damaged')
      log.error('the appliance could not be unsealed', { reason: reasonOf(refusal ?? error), 'request-id': requestId });
    return refusal ?? fail('internal-error', { cause: error });
  }

  async #unseal(attempt: UnsealAttempt, isProven: boolean): Promise<void> {
    if (!this.#isSealed) throw fail('not-sealed');
    // Refused PINs of persons do not bar custodians, all of whom would have to come again.
    if (!isProven) this.#attempts.requireTime();
    const { configuration, log } = this.#parts;
    const pins = { pin: attempt.pin, pins: attempt.pins };
    try {
      const hsmConfig = await hsmConfigOf(configuration, () => undefined);
      if (pins.pin === undefined && hsmConfig.tokens.some(({ name }) => pins.pins?.[name] === undefined))
        throw fail('missing-field', { detail: 'Every configured token needs a PIN: give "pin" for all, or "pins" by name.' });
      await this.#replace({ sealed: false, provisions: true, pins });
    } catch (error) {
      if (hsmErrorOf(error)?.kind !== 'pin-refused') throw error;
      log.warn('a token refused the PIN that was to unseal the appliance', { attempts: this.#attempts.countRefused() });
      throw fail('pin-refused', {
        detail: configuration.hsm.tokens.length > 0 ? refusedPin : `${refusedPin} ${orForeign(configuration.data)}`,
      });
    }
    this.#attempts.forgetRefused();
    log.info('unsealed');
  }

  /** Nobody waits for it: that no PIN was tried is known without. */
  #recordDoubt(attempt: UnsealAttempt, doubt: ServiceError): Promise<void> {
    return this.#inTurn(async () => {
      await audited(this.#parts, attempt, () => Promise.reject(doubt));
      return { rest: Promise.resolve() };
    }).catch((error: unknown) => {
      if (error !== doubt) this.#parts.log.warn('an attempt to unseal could not be recorded', { reason: (error as Error).message });
    });
  }
}
