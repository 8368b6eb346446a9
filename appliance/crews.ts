// The supervisor's rule over sealed and serving workers: sealing replaces every process that holds keys, unsealing tries a PIN once.
import type { Configuration } from '../core/config.ts';
import { openAuditTrail } from '../core/audit-trail.ts';
import type { Clock, Log } from '../core/context.ts';
import { formatTimestamp } from '../core/time.ts';
import { HsmError } from '../hsm/api.ts';
import { askWorker, Refusal } from './fleet.ts';
import { FleetCounts } from './fleet-counts.ts';
import { provisionAppliance } from './first-boot.ts';
import { hsmConfigOf, places, withPins } from './house.ts';
import type { UnsealAttempt } from './sealed-door.ts';
import { StartRefused } from './start-refused.ts';
import { type Orders, superviseWorkers, type Workers } from './supervisor.ts';

/** A token locks itself for good after a few wrong PINs: strangers at the public door must not get that far. */
const mostRefusedPins = 3;
const firstWaitSeconds = 3;

export type CrewParts = {
  readonly configuration: Configuration;
  readonly args: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
};

/** Starts the workers, sealed or serving, and serves their requests: sums of metrics, seal, unseal. */
export function superviseCrews({ configuration, args, clock, log }: CrewParts, first: Orders): Pick<Workers, 'ready' | 'examine' | 'stop'> {
  const counts = new FleetCounts();
  let isSealed = first.sealed;
  let isChanging = false;
  let refusedPins = 0;
  let nextAttemptMs = 0;
  let leaving: Promise<void> = Promise.resolve();
  let crew = start(first);

  function start(orders: Orders): Workers {
    return superviseWorkers(configuration, args, orders, serveRequest);
  }

  async function serveRequest(name: string, argument: unknown): Promise<unknown> {
    if (name === 'metrics') return counts.collect(crew.present());
    if (name === 'seal') return changing(() => replace({ sealed: true }));
    if (name === 'unseal') return changing(() => audited(argument as UnsealAttempt, unseal));
    throw new Refusal('internal-error');
  }

  async function changing(change: () => Promise<void>): Promise<void> {
    if (isChanging) throw new Refusal('rate-limited 2');
    isChanging = true;
    try {
      await change();
    } finally {
      isChanging = false;
    }
  }

  /** New processes serve before the old ones stop listening; these let their running requests finish and end, and all they knew with them. */
  async function replace(orders: Orders): Promise<void> {
    await leaving;
    const next = start(orders);
    await next.ready;
    const old = crew;
    [crew, isSealed] = [next, orders.sealed];
    await Promise.all([...old.present()].map((worker) => askWorker(worker, 'retire')));
    leaving = old.stop();
    log.info(orders.sealed ? 'sealed' : 'unsealed');
  }

  async function unseal(attempt: UnsealAttempt): Promise<void> {
    if (!isSealed) throw new Refusal('not-sealed');
    const waitMs = nextAttemptMs - clock.monotonicMs();
    if (refusedPins >= mostRefusedPins) throw new Refusal('rate-limited 3600');
    if (waitMs > 0) throw new Refusal(`rate-limited ${Math.ceil(waitMs / 1_000)}`);
    const pins = { pin: attempt.pin, pins: attempt.pins };
    const hsmConfig = await hsmConfigOf(configuration, () => undefined);
    if (pins.pin === undefined && hsmConfig.tokens.some(({ name }) => pins.pins?.[name] === undefined)) throw new Refusal('missing-field');
    try {
      await provisionAppliance(configuration, withPins(hsmConfig, pins), { clock, log, step: () => undefined, onTerminal: false });
    } catch (error) {
      if (!isPinRefused(error)) {
        log.error('the appliance could not be unsealed', { reason: (error as Error).message });
        throw new Refusal('hsm-unavailable');
      }
      nextAttemptMs = clock.monotonicMs() + firstWaitSeconds * 1_000 * 2 ** refusedPins++;
      log.warn('a token refused the PIN that was to unseal the appliance', { attempts: refusedPins });
      throw new Refusal('pin-refused');
    }
    refusedPins = 0;
    await replace({ sealed: false, pins });
  }

  /** Sealed processes have no audit trail: attempts stand in the supervisor's own chain. */
  async function audited(attempt: UnsealAttempt, run: (attempt: UnsealAttempt) => Promise<void>): Promise<void> {
    const { requestId, clientIp, userAgent } = attempt;
    const trail = await openAuditTrail({ directory: places.audit(configuration.data), chain: 'supervisor', clock, log });
    try {
      if (!trail.writable) throw new Refusal('audit-unavailable');
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
          ...(code === undefined ? {} : { code }),
        });
      try {
        await run(attempt);
      } catch (error) {
        const [code = ''] = error instanceof Refusal ? error.message.split(' ') : ['internal-error'];
        await record(statuses[code] ?? 503, code).catch(() => undefined);
        throw error;
      }
      await record(204);
    } finally {
      await trail.close();
    }
  }

  return {
    ready: crew.ready,
    examine: () => crew.examine(),
    async stop() {
      await Promise.all([crew.stop(), leaving]);
    },
  };
}

const statuses: Readonly<Record<string, number>> = { 'pin-refused': 403, 'rate-limited': 429, 'not-sealed': 409, 'missing-field': 400 };

function isPinRefused(error: unknown): boolean {
  return error instanceof StartRefused && error.cause instanceof HsmError && error.cause.kind === 'pin-refused';
}
