// A serving process: opens token and store, composes the request handler, listens, and stops when the supervisor says so.
import { flushCompileCache } from 'node:module';
import { StartError } from '../core/plugin/registry.ts';
import type { Orders, SupervisorMessage, WorkerMessage } from './processes/supervisor.ts';
import { loadConfiguration } from './composition/configuration.ts';
import { openWorkerChannel } from './processes/worker-channel.ts';
import { type HandedSockets, listenOn } from './processes/inherited-sockets.ts';
import { serveSealed } from './seal/sealed-server.ts';
import { serve } from './composition/serve.ts';
import type { Serving } from './processes/serving.ts';
import { StartRefused } from './state/start-refused.ts';

// Signals of the terminal reach every process of the group; only the supervisor decides when this one ends.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
// Without a supervisor nobody would stop or replace this process: end at once. By a kill, and before node:cluster exits: an exit waits
// for the thread that writes to the store, and that may be waiting for this one. Then neither ends, and the port stays taken.
process.prependListener('disconnect', () => process.kill(process.pid, 'SIGKILL'));

const number = Number(process.env['KEYSTORED_WORKER'] ?? 1);
let serving: Serving | undefined;

const channel = openWorkerChannel((question) => {
  // One that is still starting has nobody to answer, and would go on to open its tokens.
  if (question === 'seal' && serving === undefined) process.kill(process.pid, 'SIGKILL');
  return serving?.[question]();
});
const begun = Promise.withResolvers<Orders & { readonly sockets: HandedSockets }>();
const alone = Promise.withResolvers<void>();

process.on('message', (message: SupervisorMessage) => {
  if (message.type === 'begin') begun.resolve(message);
  if (message.type === 'stop') void stop();
  if (message.type === 'alone') alone.resolve();
  if (message.type === 'examine') void examine();
});

try {
  const { sealed, pins, sockets } = await begun.promise;
  const configuration = listenOn(loadConfiguration(process.argv.slice(2)), sockets);
  serving = sealed ? await serveSealed(configuration, channel) : await serve(configuration, number, channel, pins, alone.promise);
  tell({ type: 'ready' });
  // A process that is killed would not keep what it has compiled for the next start.
  flushCompileCache();
} catch (error) {
  if (!(error instanceof StartRefused) && !(error instanceof StartError)) throw error;
  tell({ type: 'refused', reason: error.message });
}

async function stop(): Promise<void> {
  await serving?.stop();
  process.exit(0);
}

/** The answer comes from this thread and from the tokens: silence means that one of them hangs. */
async function examine(): Promise<void> {
  try {
    if (serving === undefined) return tell({ type: 'examined', fault: 'is starting' });
    await serving.examine();
    tell({ type: 'examined' });
  } catch (error) {
    tell({ type: 'examined', fault: `is not fit: ${(error as Error).message}` });
  }
}

function tell(message: WorkerMessage): void {
  process.send?.(message);
}
