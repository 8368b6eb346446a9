// The process that ships the audit trail and the logs: one pipeline for each destination. It holds no key and is in the path of no request.
import { fail } from '../core/base/errors.ts';
import { systemClock } from '../core/base/time.ts';
import { catchStrayErrors } from '../core/base/async/last-resort.ts';
import { describeFault } from '../core/http/response/problem.ts';
import { warnOnStandardError } from '../core/log/journal.ts';
import { openLog } from '../core/log/log.ts';
import { loadConfiguration } from './configuration.ts';
import { openChannel } from './processes/channel.ts';
import { nothingAsked, type ShipperHandlers, shipperRequests, supervisorPort } from './processes/messages.ts';
import { prepareCursors } from './shipping/cursor.ts';
import { Pipeline } from './shipping/pipeline.ts';
import { sendTestEvent } from './shipping/test-event.ts';
import { paths } from './data-directory/paths.ts';

/** Limit for the confirmation of sent records. */
const stopGraceMs = 5_000;

// Signals of the terminal reach every process of the group; only the supervisor decides when this one ends.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
process.once('disconnect', () => process.exit(0));

const configuration = loadConfiguration(process.argv.slice(2));
const { data, logLevel: level, logs, hosts, shipping } = configuration;
const host = hosts[0] ?? 'localhost';
const log = openLog({ directory: paths.logs(data), stream: 'shipper', level, clock: systemClock, ...logs });
catchStrayErrors({ tell: end, give: end });

prepareCursors(data);
const pipelines = shipping.destinations.map((destination) => new Pipeline({ data, destination, host, clock: systemClock, log }));
const running = Promise.all(pipelines.map((pipeline) => pipeline.run()));

const handlers: ShipperHandlers = {
  state: () => pipelines.map(({ state }) => state),
  async test({ destination: name }) {
    const destination = shipping.destinations.find((one) => one.name === name);
    if (destination === undefined) throw fail('not-found');
    const result = await sendTestEvent(destination, host, systemClock);
    if (result.accepted) pipelines.find(({ state }) => state.name === name)?.retryNow();
    return result;
  },
  async stop() {
    for (const pipeline of pipelines) pipeline.stop();
    setTimeout(() => process.exit(0), stopGraceMs);
    await running;
    await log.close();
    process.exit(0);
  },
};

openChannel({
  ...{ port: supervisorPort, asks: nothingAsked, serves: shipperRequests, handlers },
  report: (line) => warnOnStandardError(`shipper: ${line}`),
});

/** The supervisor starts another one, which goes on at the last place that was kept. */
function end(error: unknown): void {
  log.error('an error outside every promise ended the shipper', describeFault(error));
  void endProcess();
}

async function endProcess(): Promise<void> {
  await log.close();
  process.exit(1);
}
