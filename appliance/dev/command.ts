// `npm run dev`: the appliance from its sources, started again at a change, with its addresses and its certificate on the terminal.
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { loadConfiguration } from '../configuration.ts';
import { ApplianceProcess } from './appliance-process.ts';
import { openLanding } from './landing.ts';
import { type Changed, watchSources } from './source-changes.ts';

const root = resolve(import.meta.dirname, '../..');
const isOpening = process.argv.includes('--open');
const args = process.argv.slice(2).filter((word) => word !== '--open');

if (args.includes('--help')) {
  console.log(
    'Usage: npm run dev -- [--open] [options of npm start]\n\n  --open  opens the console in the browser once the appliance is up',
  );
  process.exit(0);
}

const appliance = new ApplianceProcess(args);
const landing = await openLanding(appliance, resolve(loadConfiguration(args).data));
let shown: string | undefined;

async function start(): Promise<void> {
  const began = performance.now();
  const started = await appliance.start();
  if (started === 'ended') return console.error('dev: the appliance is down until the next change of a source');
  console.log(`dev: up after ${Math.round(performance.now() - began)} ms`);
  // Once, and again where a change of the configuration has moved it.
  if (shown !== started.url) await landing.show((shown = started.url));
}

async function restart(changed: Changed): Promise<void> {
  console.log(`dev: ${changed === 'console' ? 'building the console' : 'restarting'}`);
  if (changed === 'console' && !(await buildConsole())) return console.error('dev: the console was not built, and is served as it was');
  await start();
}

/** With a stamp that is that of no sources, so that the next `npm start` builds it again. */
function buildConsole(): Promise<boolean> {
  const build = spawn(process.execPath, [resolve(root, 'plugins/console/build.ts'), 'dev'], { stdio: ['ignore', 'inherit', 'inherit'] });
  return new Promise((done) => void build.once('exit', (code) => done(code === 0)));
}

let queue = start();
const unwatch = watchSources(root, (changed) => {
  // A start that never gets ready, such as one with a mistake, does not hold up the next one.
  const ended = changed === 'console' ? undefined : appliance.stop();
  queue = Promise.all([queue, ended]).then(() => restart(changed));
});
if (isOpening) await landing.open();

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void stop());

async function stop(): Promise<void> {
  unwatch();
  await appliance.stop();
  await landing.close();
  process.exit(0);
}
