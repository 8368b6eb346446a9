// Keeps a process running beside the workers: starts it, starts it again when it ends, later each time, and stops it last. Ends a process.
import { type ChildProcess, fork } from 'node:child_process';
import { warnOnStandardError } from '../../core/log/journal.ts';
import { type Channel, openChannel, type RequestTable } from './channel.ts';
import { memoryEnvironment } from './memory.ts';
import { nothingAsked, workerPort } from './messages.ts';

export type KeepOptions<Asks extends RequestTable> = {
  /** for messages */
  readonly name: string;
  readonly program: URL;
  readonly args?: readonly string[];
  readonly asks: Asks;
  /**
   * First request to the process, at each start. If it rejects, the process is ended, and started again like one that has ended by itself.
   */
  readonly begin?: (channel: Channel<Asks>) => Promise<void>;
  /** Working time after which a process is started again with the first delay; others later each time. */
  readonly calmMs: number;
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
  /** The request to end. */
  readonly askToStop: (channel: Channel<Asks>) => Promise<unknown>;
  /** It is killed when it takes longer. */
  readonly stopMs: number;
};

export type KeptProcess<Asks extends RequestTable> = {
  /** The process of the moment, and the way to it. */
  readonly current: { readonly child: ChildProcess; readonly channel: Channel<Asks> } | undefined;
  /** Resolves when it has begun; rejects with the error of `begin`, and goes on trying until `stop`. */
  start(): Promise<void>;
  stop(): Promise<void>;
};

/** The process reads our environment. */
export function keepProcess<Asks extends RequestTable>(options: KeepOptions<Asks>): KeptProcess<Asks> {
  const { name, program, args = [], asks, begin, calmMs, firstDelayMs, longestDelayMs, askToStop, stopMs } = options;
  let isStopping = false;
  let delayMs = firstDelayMs;
  let current: KeptProcess<Asks>['current'];

  const start = async (): Promise<void> => {
    if (isStopping) return;
    const child = fork(program, [...args], { env: { ...process.env, ...memoryEnvironment() } });
    const channel = openChannel({
      ...{ port: workerPort(child), asks, serves: nothingAsked, handlers: {} },
      report: warnOnStandardError,
    });
    current = { child, channel };
    let begunMs = Number.POSITIVE_INFINITY;
    let hasEnded = false;
    const ended = (how: string): void => {
      if (hasEnded) return;
      hasEnded = true;
      current = undefined;
      if (isStopping) return;
      warnOnStandardError(`the ${name} ended (${how}); starting it again`);
      delayMs = performance.now() - begunMs >= calmMs ? firstDelayMs : Math.min(2 * delayMs, longestDelayMs);
      setTimeout(() => {
        start().catch((error: Error) => warnOnStandardError(`the ${name} cannot start again: ${error.message}`));
      }, delayMs);
    };
    child.once('exit', (code, signal) => ended(signal ?? `exit code ${code}`));
    // A machine that cannot start another process, or a message to one that has just ended.
    child.on('error', (error) => {
      if (child.pid === undefined) ended(error.message);
    });
    try {
      await begin?.(channel);
      begunMs = performance.now();
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
  };

  return {
    get current() {
      return current;
    },
    start,
    async stop() {
      isStopping = true;
      const last = current;
      await endProcess(last?.child, () => (last === undefined ? undefined : askToStop(last.channel)), stopMs);
    },
  };
}

/**
 * Resolves when the process has ended; at once when none was started. `ask` sends the request to stop; its failure is not waited for, and
 * the process is killed when it takes too long. Without `ask` it is killed at once.
 */
export async function endProcess(
  child: ChildProcess | undefined,
  ask?: () => Promise<unknown> | undefined,
  graceMs: number = 0,
): Promise<void> {
  if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  if (ask === undefined) child.kill('SIGKILL');
  else ask()?.catch(() => undefined);
  const late = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await gone;
  clearTimeout(late);
}
