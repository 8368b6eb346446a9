// Clock, log, background jobs, and what a part of the appliance says of its state. They are passed in, so that tests can replace them.

export interface Clock {
  now(): Temporal.Instant;
  /** Monotonic milliseconds, for measuring. */
  monotonicMs(): number;
  /** Why the time cannot be trusted; while set, nothing is dated that others will rely on. */
  readonly doubt?: string | undefined;
  /** Why the time is not that of the machine. It can be trusted. */
  readonly correction?: string | undefined;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Writes to system:logs and the terminal. No user data, secrets, tokens or claims (api 72). `error` is for bugs and faults only. */
export interface Log {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** A log of a component, or of a tenant within it. */
  with(component: string, tenant?: string): Log;
}

/**
 * Background work. Runs in one worker at a time, in a cluster of one appliance (job-holder.ts). Must be safe to repeat, and to lose half-way:
 * what it changes outside the store is repeatable, or noted there before.
 */
export type Job = {
  readonly name: string;
  readonly everySeconds: number;
  /** Every appliance of a cluster runs it for itself; other jobs are run by one of them. */
  readonly isOfEach?: true;
  /** Every serving process of an appliance runs it for itself; other jobs are run by one of them. */
  readonly isOfEachProcess?: true;
  /** Runs while the clock is implausible, too: it dates nothing that others rely on. Other jobs wait. */
  readonly whileClockInDoubt?: true;
  run(signal: AbortSignal): Promise<void>;
};

/** A broken invariant: what is wrong, and where. */
export type CheckFinding = {
  readonly where: string;
  readonly problem: string;
  /** worth knowing, but breaks nothing and may be left from an earlier version */
  readonly isNote?: true;
};

/** One part of the appliance as a process sees it. `hinders`: requests fail because of it, so that health is 503. */
export type HealthPart = {
  /** `token main`, `audit` */
  readonly name: string;
  readonly state: string;
  /** one sentence for people, present when there is a problem; health is public, so it names no path, no key and nobody */
  readonly reason?: string | undefined;
  readonly hinders?: true | undefined;
};
