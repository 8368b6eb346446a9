// Time, randomness, logging and jobs as the house sees them: they come in through the context so that tests can replace the clock.

export interface Clock {
  now(): Temporal.Instant;
  /** Monotonic milliseconds, for measuring. */
  monotonicMs(): number;
  /** Why the time cannot be trusted at the moment; nothing may be dated then that others will rely on. */
  readonly doubt?: string | undefined;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Goes to system:logs and the terminal. No user data, no secrets, tokens or claims in any part (api 72). `error` is for bugs and faults only. */
export interface Log {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** A log of a component, or of a tenant within it. */
  with(component: string, tenant?: string): Log;
}

/** Background work. Runs in one worker at a time; must be safe to repeat and to lose half-way. */
export type Job = {
  readonly name: string;
  readonly everySeconds: number;
  run(signal: AbortSignal): Promise<void>;
};

/** One finding of an invariant check: what is wrong and where. */
export type CheckFinding = {
  readonly where: string;
  readonly problem: string;
  /** worth knowing, but breaks nothing and may have been so since an earlier version */
  readonly isNote?: true;
};
