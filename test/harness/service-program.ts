// The program that tests start: the bundle of the present sources, as `npm start` has it, which is up in half of the time that the sources take.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { madeOnce } from './once.ts';

/** Path of the program: what KEYSTORED_TEST_PROGRAM names; without that the bundle, made by the first test of a run that starts a daemon. */
export async function serviceUnderTest(): Promise<string> {
  return process.env['KEYSTORED_TEST_PROGRAM'] ?? readFileSync(join(await madeOnce('service', bundle), 'program'), 'utf8');
}

async function bundle(directory: string): Promise<void> {
  // The bundler is loaded only where something is started.
  const { provideService } = await import('../../appliance/packaging/service/provide.ts');
  writeFileSync(join(directory, 'program'), await provideService());
}
