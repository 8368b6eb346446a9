// What systemd is told (sd_notify): ready, stopping, and alive only while every worker gets real answers from its tokens.
import { writeSync } from 'node:fs';
import { findDescriptor } from './inherited-sockets.ts';

/** Where messages to the service manager go; undefined when nobody listens. */
export type Notify = (message: string) => void;

/** What the watch asks: one sentence for every worker that is not fit now, none when all are. */
export type Examine = () => Promise<readonly string[]>;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The way to the service manager, undefined outside systemd. The unit hands the socket over as an open descriptor named `notify`
 * (`OpenFile=`, systemd 253), because Node.js has no datagram sockets of the Unix family; older ones are reached through libsystemd.
 */
export async function openNotify(environment: Environment = process.env): Promise<Notify | undefined> {
  if (environment['NOTIFY_SOCKET'] === undefined) return undefined;
  const descriptor = findDescriptor(environment, 'notify');
  if (descriptor !== undefined) return (message) => tell(descriptor, message);
  const { dlopen } = await import('node:ffi');
  const { functions } = dlopen('libsystemd.so.0', { sd_notify: { arguments: ['i32', 'string'], return: 'i32' } });
  return (message) => void functions.sd_notify(0, message);
}

function tell(descriptor: number, message: string): void {
  try {
    writeSync(descriptor, message);
  } catch (error) {
    // No reason to end what serves: if nobody hears us for long, the watchdog starts us afresh.
    console.error(`keystored: systemd could not be told (${(error as NodeJS.ErrnoException).code})`);
  }
}

/**
 * Says READY once every worker has passed an examination, and WATCHDOG after each one that all of them pass, three times within
 * the time the unit allows. After a failure it keeps silent and shows the reason as the status, so that systemd starts us afresh
 * when the appliance does not recover. Returns what says STOPPING and ends the watch.
 */
export async function keepWatch(notify: Notify, examine: Examine, environment: Environment = process.env): Promise<() => void> {
  let examining = false;
  const round = async (): Promise<void> => {
    if (examining) return;
    examining = true;
    // A rejection here would end the supervisor; what cannot be examined is not fit.
    const unfit = await examine().catch((error: unknown) => [`the workers could not be examined: ${String(error)}`]);
    examining = false;
    notify(unfit.length === 0 ? 'READY=1\nWATCHDOG=1\nSTATUS=serving' : `STATUS=${unfit.join('; ').replaceAll('\n', ' ')}`);
  };
  await round();
  const timer = setInterval(() => void round(), watchdogMs(environment) / 3);
  return () => {
    clearInterval(timer);
    notify('STOPPING=1\nSTATUS=letting running requests finish');
  };
}

/** What the unit's WatchdogSec= says; without one the status is kept fresh at the same pace. */
function watchdogMs(environment: Environment): number {
  const text = environment['WATCHDOG_USEC'] ?? '';
  const microseconds = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : 90_000_000;
  // A timer of Node counts to 2^31 - 1 and takes anything beyond for 1.
  return Math.min(Math.max(microseconds / 1000, 30), 2 ** 31 - 1);
}
