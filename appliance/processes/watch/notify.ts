// Notifies systemd (sd_notify): ready, stopping, and alive only while every worker gets answers from its tokens.
import { writeSync } from 'node:fs';
import { findDescriptor } from '../inherited-sockets.ts';

/** Sends a message to the service manager. */
export type Notify = (message: string) => void;

/**
 * Examines every worker: one sentence for each that cannot do its work, empty if all can. `instead`: activity of the appliance while it has
 * no workers on purpose.
 */
export type Examine = () => Promise<readonly string[] | { readonly instead: string }>;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Undefined outside systemd. The unit passes the socket as an open descriptor named `notify` (`OpenFile=`, systemd 253), because Node.js
 * has no Unix datagram sockets; older versions are reached through libsystemd.
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
    // No reason to stop serving: without messages the watchdog restarts the service.
    console.error(`keystored: systemd could not be notified (${(error as NodeJS.ErrnoException).code})`);
  }
}

/**
 * Sends READY once every worker has passed an examination, and WATCHDOG after each examination that all pass, three times within the time
 * of the unit; also while the appliance has none on purpose, which may take longer than that. After a failure it sends only the reason as
 * the status, so that systemd restarts the service when it does not recover. Returns a function that sends STOPPING and ends the watch.
 */
export async function keepWatch(notify: Notify, examine: Examine, environment: Environment = process.env): Promise<() => void> {
  let examining = false;
  const round = async (): Promise<void> => {
    if (examining) return;
    examining = true;
    // A rejection here would end the supervisor; workers that cannot be examined count as unfit.
    const found = await examine().catch((error: unknown) => [`the workers could not be examined: ${String(error)}`]);
    examining = false;
    notify(messageOf(found));
  };
  await round();
  const timer = setInterval(() => void round(), watchdogMs(environment) / 3);
  return () => {
    clearInterval(timer);
    notify('STOPPING=1\nSTATUS=letting running requests finish');
  };
}

function messageOf(found: Awaited<ReturnType<Examine>>): string {
  if ('instead' in found) return `WATCHDOG=1\nSTATUS=${found.instead}`;
  return found.length === 0 ? 'READY=1\nWATCHDOG=1\nSTATUS=serving' : `STATUS=${found.join('; ').replaceAll('\n', ' ')}`;
}

/** WatchdogSec= of the unit; without one the status is updated every 30 seconds. */
function watchdogMs(environment: Environment): number {
  const text = environment['WATCHDOG_USEC'] ?? '';
  const microseconds = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : 90_000_000;
  // A timer of Node.js takes anything above 2^31 - 1 for 1.
  return Math.min(Math.max(microseconds / 1000, 30), 2 ** 31 - 1);
}
