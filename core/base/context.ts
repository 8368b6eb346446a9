// Clock, log, background jobs, and the reported state of the parts of the appliance. They are passed in, so that tests can replace them.

export interface Clock {
  now(): Temporal.Instant;
  /** Monotonic milliseconds, for measuring. */
  monotonicMs(): number;
  /** reason for which the time cannot be trusted; while set, nothing is dated that others will rely on */
  readonly doubt?: string | undefined;
  /** reason for which the time differs from that of the machine; it can be trusted */
  readonly correction?: string | undefined;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Writes to system:logs and the terminal. No user data, secrets, tokens or claims. `error` is for bugs and faults only. */
export interface Log {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Returns the log of a component, or of a tenant within it. */
  with(component: string, tenant?: string): Log;
}

/**
 * Background work. Runs in one worker at a time, in a cluster on one appliance (job-holder.ts). Must be safe to repeat, and to interrupt:
 * its changes outside the store are repeatable, or recorded in the store first.
 */
export type Job = {
  readonly name: string;
  readonly everySeconds: number;
  /** every appliance of a cluster runs it; other jobs are run by one of them */
  readonly isOfEach?: true;
  /** every serving process of an appliance runs it; other jobs are run by one of them */
  readonly isOfEachProcess?: true;
  /** runs also while the clock is implausible, because it dates nothing that others rely on; other jobs wait */
  readonly whileClockInDoubt?: true;
  run(signal: AbortSignal): Promise<void>;
};

/** A broken invariant, with its place. */
export type CheckFinding = {
  readonly where: string;
  readonly problem: string;
  /** worth knowing, but breaks nothing and may be left from an earlier version */
  readonly isNote?: true;
};

/** Something in a tenant that needs a person. */
export type Notice = {
  /** the same as long as it lasts: `backup-missing` */
  readonly name: string;
  /** one sentence for people, which may be sent by mail: it names no key, no person and no secret */
  readonly text: string;
  /** of the API, without query: what it is about. Who may not read that is not told. */
  readonly path: string;
  /** filter under which a list at `path` has what it is about */
  readonly filter?: Readonly<Record<string, string>>;
};

/** State of one part of the appliance, as one process sees it. `hinders`: requests fail because of it, so that health is 503. */
export type HealthPart = {
  /** `token main`, `audit` */
  readonly name: string;
  readonly state: string;
  /** one sentence for people, present if there is a problem; health is public, so it names no path, key or person */
  readonly reason?: string | undefined;
  readonly hinders?: true | undefined;
};
