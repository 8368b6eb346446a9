// The status screen: reads the state every two seconds and writes it to the screen and the serial line when it has changed.
import { closeSync, constants, existsSync, openSync, readFileSync, writeSync } from 'node:fs';
import { hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { BootstrapCredential } from '../../../provisioning/bootstrap.ts';
import { paths } from '../../../data-directory/paths.ts';
import { readCaFingerprint, readDaemonState } from './daemon-state.ts';
import { readNotices } from './notices.ts';
import { formatScreen, type Facts } from './screen.ts';
import { readVersion } from './version.ts';

const lookEveryMs = 2_000;

/** A page replaces the screen; on the serial line, which may be recorded, pages follow each other. */
const terminals = [
  { path: '/dev/tty1', before: '\u001B[H\u001B[2J\u001B[3J' },
  { path: '/dev/ttyS0', before: '\n' },
] as const;

/** The current facts, from the files below `root` and the daemon at `port`. */
export async function readFacts(root: string, port = 4646): Promise<Facts> {
  return {
    version: readVersion(root),
    hostname: hostname(),
    addresses: Object.values(networkInterfaces())
      .flatMap((one) => one ?? [])
      .filter(({ internal, address }) => !internal && !/^fe80:/i.test(address))
      .map(({ address }) => address),
    daemon: await readDaemonState(root, port),
    caFingerprint: readCaFingerprint(root),
    clockIsSynchronized: existsSync(join(root, 'run/systemd/timesync/synchronized')),
    refusal: attempt(() => readFileSync(join(root, 'run/keystored/refusal'), 'utf8')),
    credential: attempt(() => JSON.parse(readFileSync(join(root, 'run/keystored/bootstrap'), 'utf8')) as BootstrapCredential),
    unsealCode: attempt(() => readFileSync(paths.unsealCode(join(root, 'var/lib/keystored')), 'utf8').trim()),
    notices: readNotices(root),
  };
}

/** Undefined when it cannot be read yet. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Skips terminals that do not exist or are not connected. */
async function show(page: string): Promise<void> {
  for (const { path, before } of terminals) await write(path, `${before}${page}`).catch(() => undefined);
}

/** Drops the rest after two seconds, when nothing reads the line. */
async function write(path: string, text: string): Promise<void> {
  const terminal = openSync(path, constants.O_WRONLY | constants.O_NOCTTY | constants.O_NONBLOCK);
  try {
    let rest = Buffer.from(text);
    for (const deadline = performance.now() + 2_000; rest.length > 0 && performance.now() < deadline;) {
      const written = attempt(() => writeSync(terminal, rest)) ?? 0;
      rest = rest.subarray(written);
      if (written === 0) await setTimeout(50);
    }
  } finally {
    closeSync(terminal);
  }
}

async function watch(): Promise<never> {
  for (let shown = ''; ; await setTimeout(lookEveryMs)) {
    const page = formatScreen(await readFacts('/'));
    if (page !== shown) await show(page);
    shown = page;
  }
}

if (import.meta.main) await watch();
