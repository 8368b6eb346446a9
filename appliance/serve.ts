// One serving process from end to end: open, compose, listen, run jobs; and all of it in reverse when it stops.
import { setTimeout } from 'node:timers/promises';
import { openAuditTrail } from '../core/audit-trail.ts';
import type { Configuration } from '../core/config.ts';
import { listenManagement, ListenError, type TlsIdentity } from '../core/http/listeners.ts';
import type { Job } from '../core/context.ts';
import { openLog } from '../core/log.ts';
import { startScheduler } from '../core/scheduler.ts';
import type { Listeners } from '../core/services/listeners.ts';
import { systemClock } from '../core/time.ts';
import { openAuditSigner } from './audit-signing.ts';
import { backUp } from './backup.ts';
import { bootstrapJob } from './bootstrap.ts';
import { watchClock } from './clock-watch.ts';
import { compose } from './compose.ts';
import { renewListenerIdentity, writeApplianceCa } from './first-boot.ts';
import type { Fleet } from './fleet.ts';
import { watchHealth } from './health.ts';
import { type GivenPins, hsmConfigOf, openHouse, places, withPins } from './house.ts';
import { measureProcess, type Snapshot } from './metrics.ts';
import { plugins } from './plugins.ts';
import { keepSealedIdentity } from './sealed-identity.ts';
import { StartRefused } from './start-refused.ts';
import { describeWrapping, wrappingTable } from './wrapping-record.ts';

export type Serving = {
  /** What this process has counted so far. */
  metrics(): Promise<Snapshot>;
  /** Takes no new connections from now on, on neither port; running requests go on. */
  retire(): void;
  /** One real round trip to every token; rejects when one is not fit. */
  examine(): Promise<void>;
  /** Takes no new requests, lets running ones finish (10 s at most), then closes everything. */
  stop(): Promise<void>;
};

const stopGraceMs = 10_000;
/** How long the others may take to stop. */
const aloneMs = 11_000;
const identityCheckSeconds = 3600;

/**
 * Serves as worker `number`; number 1 also runs the background jobs and signs the heads of the audit trail, for the last time when
 * it is `alone`. Throws StartRefused; nothing stays open then.
 */
export async function serve(
  configuration: Configuration,
  number: number,
  fleet: Fleet,
  pins: GivenPins | undefined,
  alone: Promise<void>,
): Promise<Serving> {
  const { data } = configuration;
  const chain = `worker-${number}`;
  const closing: (() => unknown)[] = [];
  let isServing = false;
  // Both listeners close at the same time: one after the other, slow clients would keep them for twice the grace.
  const retirement = Promise.withResolvers<void>();
  const stop = once(async () => {
    retirement.resolve();
    for (const close of closing.toReversed()) await close();
  });
  try {
    const { logs, logLevel: level } = configuration;
    const log = openLog({ directory: places.logs(data), stream: chain, level, clock: systemClock, ...logs });
    closing.push(() => log.close());
    const hsmConfig = await hsmConfigOf(configuration, () => undefined);
    const house = await openHouse(configuration, pins === undefined ? hsmConfig : withPins(hsmConfig, pins), log.with('hsm'));
    closing.push(() => house.close());
    const clockWatch = watchClock(house.store, systemClock);
    closing.push(() => clockWatch.stop());
    const { clock } = clockWatch;
    const metrics = measureProcess(house.hsm);
    closing.push(() => metrics.stop());
    const { signHead, lastSigned } = openAuditSigner(house, log.with('audit'));
    const trail = await openAuditTrail({
      directory: places.audit(data),
      ...{ chain, clock, lastSigned },
      log: log.with('audit'),
      ...configuration.audit,
      ...(number === 1 ? { signHead } : {}),
    });
    closing.push(() => trail.close());
    // The last signature is to cover what the other processes write to their end.
    if (number === 1) closing.push(() => (isServing ? Promise.race([alone, setTimeout(aloneMs)]) : undefined));
    const audit = metrics.measured(trail);

    // Not held while the clock is in doubt: without an identity nobody could say that the clock is right.
    const first = await renewListenerIdentity(configuration, house, systemClock);
    const identity = new ChangingIdentity(first);
    const listeners: Listeners = {
      serving: true,
      est: configuration.estListen,
      hosts: configuration.hosts,
      managementUrl: configuration.publicUrl,
      sealed: () => false,
      identity: () => identity.current,
      onIdentityChange: (changed) => identity.watch(changed),
      onRetire: (retired) => void retirement.promise.then(retired),
      onAnswered: metrics.onAnswered,
    };
    const composed = await compose({
      plugins,
      ...house,
      audit,
      log,
      clock,
      configurationOf: (plugin) => configuration.plugins[plugin],
      services: { listeners },
      topics: { audit: places.audit(data), logs: places.logs(data) },
      upkeep: {
        directory: data,
        // A job that waits for a session is given up after the one time, and one that runs after another.
        settleMs: 2_000 * configuration.hsm.jobTimeoutSeconds,
        clockWatch,
        metrics,
        operationsSocket: configuration.operationsSocket,
        snapshots: async () => (await fleet.request('metrics')) as Snapshot[],
        async seal() {
          keepSealedIdentity(data, { keyPem: identity.current.key, chainPem: identity.current.cert });
          await fleet.request('seal');
        },
        backUp: (passphrase) => backUp({ directory: data, ...house, clock, embedded: configuration.hsm.tokens.length === 0 }, passphrase),
      },
    });
    closing.push(() => composed.stop());
    const listener = await listenManagement({
      ...configuration.listen,
      identity: identity.current,
      handler: composed.app.handler,
      log: log.with('http'),
    });
    void retirement.promise.then(() => listener.close(stopGraceMs));
    closing.push(() => listener.close(stopGraceMs));
    closing.push(() => composed.app.endStreams());
    closing.push(identity.watch((next) => listener.setIdentity(next)));

    const renewal: Job = {
      name: 'listener-identity',
      everySeconds: identityCheckSeconds,
      async run() {
        const renewed = await renewListenerIdentity(configuration, house, clock);
        if (!identity.take(renewed)) return;
        writeApplianceCa(data, renewed);
        if (configuration.attended) keepSealedIdentity(data, renewed);
      },
    };
    // Every process renews its own view of the identity; the jobs of plugins run in one.
    const { bootstrapFile } = configuration;
    const bootstrap = bootstrapFile === undefined ? [] : [bootstrapJob(house.store, clock, bootstrapFile)];
    const jobs = [clockWatch.held(renewal), ...(number === 1 ? [...composed.jobs, ...bootstrap] : [])];
    const scheduler = startScheduler({ jobs, clock, log: log.with('jobs') });
    closing.push(() => scheduler.stop());
    const wrappings = wrappingTable(house.store);
    const wrapping = (token: string) => describeWrapping(wrappings.get([token]));
    if (number === 1) closing.push(watchHealth({ hsm: house.hsm, audit, clock, directory: data, wrapping }, log.with('health')));
    isServing = true;
    return {
      metrics: () => metrics.snapshot(),
      retire: () => retirement.resolve(),
      examine: () => house.hsm.selfTest(),
      stop,
    };
  } catch (error) {
    await stop();
    if (error instanceof ListenError) throw new StartRefused(error.message);
    throw error;
  }
}

/** The TLS identity of the moment, and who wants to know when it changes. */
class ChangingIdentity {
  #serial: string;
  #watchers = new Set<(identity: TlsIdentity) => void>();
  current: TlsIdentity;

  constructor(first: { serial: string; keyPem: string; chainPem: string }) {
    this.#serial = first.serial;
    this.current = { key: first.keyPem, cert: first.chainPem };
  }

  /** Answers whether it is another identity than before. */
  take(next: { serial: string; keyPem: string; chainPem: string }): boolean {
    if (next.serial === this.#serial) return false;
    this.#serial = next.serial;
    this.current = { key: next.keyPem, cert: next.chainPem };
    for (const watcher of this.#watchers) watcher(this.current);
    return true;
  }

  watch(watcher: (identity: TlsIdentity) => void): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }
}

function once(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => (running ??= run());
}
