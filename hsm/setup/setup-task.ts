// A short-lived child process that runs one administrative task, so that module and environment never enter the service's own process.
import { writeSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { closeTransportHere, giveOwnKeysHere, openTransportHere, presentKeysHere, takeOwnKeysHere } from './carry.ts';
import { changePinHere } from './change-pin.ts';
import { describeModuleHere } from './describe.ts';
import { initialiseTokenHere } from './initialise.ts';
import { decodeWithPins } from '../protocol/pins.ts';
import { encodeError } from '../protocol/error-coding.ts';
import { prepareTokenHere } from './prepare.ts';
import { findKeptAsSeedsHere, surveyTokenHere } from './survey.ts';

const tasks = {
  prepare: prepareTokenHere,
  initialise: initialiseTokenHere,
  changePin: changePinHere,
  describe: describeModuleHere,
  survey: surveyTokenHere,
  findKeptAsSeeds: findKeptAsSeedsHere,
  presentKeys: presentKeysHere,
  openTransport: openTransportHere,
  closeTransport: closeTransportHere,
  giveOwnKeys: giveOwnKeysHere,
  takeOwnKeys: takeOwnKeysHere,
};

export type Tasks = typeof tasks;

// One that a signal ends has begun nothing, and is started again.
process.on('SIGINT', () => undefined);
const { task, input } = decodeWithPins<{ task: keyof Tasks; input: never }>(await text(process.stdin));
try {
  writeSync(3, JSON.stringify({ output: tasks[task](input) ?? null }));
} catch (error) {
  writeSync(3, JSON.stringify({ error: encodeError(error).toString('utf8') }));
}
// No C_Finalize: ending the process is the only way to close a module that every library survives.
process.exit(0);
