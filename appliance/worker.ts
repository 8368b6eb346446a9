// A serving process: waits for its orders, opens token and store, serves, and stops on request of the supervisor.
import { flushCompileCache } from 'node:module';
import { warnOnStandardError } from '../core/log/journal.ts';
import { StartError } from '../core/plugin/registry.ts';
import { loadConfiguration } from './configuration.ts';
import { openToServe } from './composition/opening.ts';
import { serve } from './composition/serve.ts';
import { plugins } from './plugins.ts';
import type { Configuration } from '../core/config/config.ts';
import { HsmError } from '../hsm/api.ts';
import { openChannel } from './processes/channel.ts';
import { listenOn } from './processes/inherited-sockets.ts';
import { supervisorPort, supervisorRequests, type WorkerHandlers, workerRequests } from './processes/messages.ts';
import type { Serving } from './processes/serving.ts';
import { serveSealed } from './seal/sealed-server.ts';
import { paths } from './data-directory/paths.ts';
import { expectLockFile } from './data-directory/lock-file.ts';
import { requireSharedLock } from './data-directory/store-files.ts';
import { refusalFor, StartRefused } from './start-refused.ts';

// Signals of the terminal reach every process of the group; only the supervisor decides when this one ends.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
// Without a supervisor nothing stops or replaces this process, so it ends at once. By a kill, and before node:cluster exits: an exit
// waits for the thread that writes to the store, which may be waiting for this one. Neither would end, and the port would stay taken.
process.prependListener('disconnect', () => process.kill(process.pid, 'SIGKILL'));

const number = Number(process.env['KEYSTORED_WORKER'] ?? 1);
let serving: Serving | undefined;
/** From then on parts are closed on purpose: what they report is not their health. */
let isEnding = false;
let data: string | undefined;
type Begin = Parameters<WorkerHandlers['begin']>[0];
const begun = Promise.withResolvers<Begin>();
type Answer = Awaited<ReturnType<WorkerHandlers['begin']>>;
const started = Promise.withResolvers<Answer>();
let serials: Answer['serials'];
const alone = Promise.withResolvers<void>();

const handlers: WorkerHandlers = {
  begin(orders) {
    begun.resolve(orders);
    return started.promise;
  },
  examine,
  take: ({ listener }, connection) => serving?.take(listener, connection) ?? 'none',
  handshakes: ({ listener }) => serving?.handshakes(listener),
  metrics: () => serving?.metrics() ?? [],
  health: () => (isEnding ? undefined : serving?.health()),
  async renewTicketKeys({ ticketKeys }) {
    await started.promise;
    serving?.renewTicketKeys(Buffer.from(ticketKeys, 'hex'));
  },
  renewLockFile: ({ lockFile }) => expectLock(lockFile),
  showCommits: () => serving?.showCommits(),
  seal() {
    // A worker that is still starting would go on to open its tokens.
    if (serving === undefined) process.kill(process.pid, 'SIGKILL');
    isEnding = true;
    return serving?.seal();
  },
  retire: () => serving?.retire(),
  alone: () => alone.resolve(),
  async stop() {
    isEnding = true;
    await serving?.stop();
    process.exit(0);
  },
};

const channel = openChannel({
  ...{ port: supervisorPort, asks: supervisorRequests, serves: workerRequests, handlers },
  report: (line) => warnOnStandardError(`worker ${number}: ${line}`),
});

try {
  // Loaded while the supervisor prepares the orders.
  for (const plugin of plugins) void plugin.preload?.();
  const orders = await begun.promise;
  const configuration = listenOn(loadConfiguration(process.argv.slice(2)), orders.sockets);
  ({ data } = configuration);
  expectLock(orders.lockFile);
  serving = await (orders.sealed ? serveSealed(configuration, channel) : serveOpened(configuration, orders));
  started.resolve({ serials });
  // A killed process would not keep its compiled code for the next start.
  flushCompileCache();
} catch (thrown) {
  const error = data === undefined ? thrown : (refusalFor(thrown, data) ?? thrown);
  const { message, cause, stack } = error as Error;
  // An unforeseen error: its message goes to the starter of the appliance.
  if (!(error instanceof StartRefused) && !(error instanceof StartError)) warnOnStandardError(`worker ${number}: ${stack ?? message}`);
  started.resolve({ refused: message, ...(cause instanceof HsmError ? { hsm: cause.kind } : {}) });
}

function expectLock(lockFile: string | undefined): void {
  if (data !== undefined && lockFile !== undefined) expectLockFile(data, lockFile);
}

async function serveOpened(configuration: Configuration, orders: Begin): Promise<Serving> {
  requireSharedLock(paths.store(configuration.data), orders.storeLock);
  const opened = await openToServe(configuration, number, orders);
  serials = Object.fromEntries(opened.runtime.hsm.status().flatMap(({ name, serial }) => (serial === '' ? [] : [[name, serial]])));
  // The others may begin: they do not need the following steps.
  if (orders.provisions === true) await channel.request('provisioned', { announcement: opened.announcement });
  return serve({
    ...{ configuration, number, channel, opened, alone: alone.promise },
    ticketKeys: Buffer.from(orders.ticketKeys, 'hex'),
  });
}

/** Answered by this thread after a call to every token: no answer means that one of them hangs. */
async function examine(): Promise<{ readonly fault?: string }> {
  if (serving === undefined) return { fault: 'is starting' };
  try {
    await serving.examine();
    return {};
  } catch (error) {
    return { fault: `is not fit: ${(error as Error).message}` };
  }
}
