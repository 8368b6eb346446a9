// npm run soak -- steady: two hours of mixed load beside rotations of the wrapping key, backups, rotated logs and audit files, a new generation of
// the CA that the listeners' certificate is of, and a clock that is set forward and back, after which nothing may have grown. Samples and a picture are in dist/soak/steady-<seed>.{json,svg}. STEADY_MINUTES chooses how long, STEADY_SEED the seed.
import { randomInt } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { expect, test } from 'vitest';
import type { DrillFigures } from '../../appliance/docs/drills.ts';
import { startDaemon } from '../harness/daemon.ts';
import { keepResult, sumOf } from '../harness/drill-result.ts';
import { Connection, persist } from '../harness/kills/connection.ts';
import { copyPrepared } from '../harness/kills/prepared.ts';
import { Storm } from '../harness/kills/storm.ts';
import { requireWhole } from '../harness/kills/whole-check.ts';
import { measure, memoryOfTokenProcesses, sizeOfLogs, sizeOfStore, strayObjects } from '../harness/steady/measure.ts';
import { drawSamples } from '../harness/steady/picture.ts';
import { ShiftedClock } from '../harness/steady/shifted-clock.ts';
import { type Sample, slopeOf } from '../harness/steady/slope.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { serviceUnderTest } from '../harness/service-program.ts';

const minutes = Number(process.env['STEADY_MINUTES'] ?? 120);
const seed = Number(process.env['STEADY_SEED'] ?? randomInt(2 ** 32));
const results = resolve(import.meta.dirname, '../../dist/soak');
const path = temporaryDirectory();
const dayMs = 86_400_000;
const workers = 2;

const sampleSeconds = 10;
/** Caches fill and code is compiled before that. */
const shareOfWarmUp = 0.25;
const rotationMinutes = 10;
/** The same pace whatever the machine does beside: what a process keeps depends on it. Other work has to leave the drill the processors (nice 19). */
const laneEveryMs = 100;
/** The listeners take a certificate of the new generation within the hour. */
const renewalMinutes = 50;
const clockMinutes = 0.75;
/** The clock of the appliance is behind that of the test, so that the test refuses no certificate as one that has not begun. */
const behindSeconds = 4 * 3_600;
/** What the clock is set to, one after another, in seconds from where it would be: steps of a time server, and hours. */
const clockSteps = [2, 0, 90, 0, -200, 0, 3 * 3_600, 0] as const;
/**
 * Loaded keys stay until their place is needed: few places, so that all are taken soon. Files of logs and trail are small, so that they are
 * rotated; none of the trail is removed, because every acknowledged request is looked up in it.
 */
const configuration =
  'hsm: { cache-keys: 300 }\naudit: { max-file-bytes: 2000000, retain-files: 1000 }\nlogs: { max-file-bytes: 100000, retain-files: 3 }\n';
/** Caches of a run that is shorter fill all the time: its slopes are printed and not judged. */
const judgedMinutes = 60;
/** What a day may add, as a share of the mean, with 95 % confidence that it is at least as much. */
const mostPerDay = 0.1;
/** Of one token process: 90 MiB with its caches full, and what it may grow by, doubled once. */
const mostOfTokenProcess = 240;
/** What a day may add however little there is: the storm moves objects while they are counted, and there is hardly a line in the logs. */
const mostOfFewPerDay: Readonly<Record<string, number>> = { [strayObjects]: 50, [sizeOfLogs]: 1 };

test(
  'memory, descriptors, threads, store, token objects and latency stay as they are under hours of mixed load',
  () => keepResult({ name: 'steady', command: `STEADY_SEED=${seed} STEADY_MINUTES=${minutes} npm run soak -- steady`, seed }, rage),
  dayMs,
);

/** With three digits, for the page. */
const short = (value: number): number => Number(value.toPrecision(3));

/** Fills in the figures when the load has ended. */
async function rage(figures: DrillFigures): Promise<void> {
  const directory = path('data');
  const program = await serviceUnderTest();
  const fixtures = await copyPrepared(directory, program);
  const recipient = await identityToRecipient(await generateX25519Identity());
  const storm = new Storm({ seed, fixtures, recipient, everyMs: laneEveryMs, isBounded: true });
  writeFileSync(path('configuration'), configuration);
  const clock = new ShiftedClock(path('clock'));
  clock.set(-behindSeconds);
  const environment = await clock.environment();
  const daemon = await startDaemon({ directory, program, workers, environment, args: ['--config', path('configuration')] });
  const series = new Map<string, Sample[]>();
  mkdirSync(results, { recursive: true });
  const samplesFile = join(results, `steady-${seed}.json`);
  const raging = storm.rage(daemon);
  const connection = new Connection(daemon, new Map());
  const began = performance.now();
  const elapsed = (): number => (performance.now() - began) / 60_000;
  const setClock = async (seconds: number): Promise<void> => {
    clock.set(seconds - behindSeconds);
    await persist(() => connection.do('POST', '/v1/state/system/accept-clock', {}));
  };
  await setClock(0);
  let [rotations, renewals, steps] = [0, 0, 0];
  while (elapsed() < minutes) {
    await Promise.race([setTimeout(sampleSeconds * 1_000), raging.done]);
    const [probe] = fixtures.ballast[0] ?? [''];
    const measured = await measure(daemon, directory, probe, () => storm.objects);
    for (const [name, value] of Object.entries(measured)) series.set(name, [...(series.get(name) ?? []), { hours: elapsed() / 60, value }]);
    // Also of a run that ends before its time.
    writeFileSync(samplesFile, JSON.stringify({ minutes, seed, tally: storm.tally, series: [...series] }));
    if (elapsed() > (rotations + 1) * rotationMinutes) {
      rotations++;
      await persist(() => connection.do('POST', '/v1/state/system/rotate-wrapping-key', {}));
    }
    if (elapsed() > (renewals + 1) * renewalMinutes) {
      renewals++;
      await persist(() => connection.do('POST', '/v1/state/keystore/tls/ca/appliance/renew', {}));
    }
    if (elapsed() > (steps + 1) * clockMinutes) await setClock(clockSteps[steps++ % clockSteps.length] ?? 0);
  }
  raging.over();
  Object.assign(figures, { minutes, changes: sumOf(storm.tally.changes), uses: storm.tally.uses, rotations, renewals });
  Object.assign(figures, { 'steps of the clock': steps });
  await raging.done;
  // What was dated while the clock was ahead does not hold before that, nor what rests on keys that were made for the test before it began.
  await setClock(behindSeconds);
  await storm.prove(daemon, 'everything');
  connection.close();
  expect(await daemon.stop()).toBe(0);
  await requireWhole(directory, storm.acknowledged);

  writeFileSync(join(results, `steady-${seed}.svg`), drawSamples(`${minutes} minutes of mixed load, seed ${seed}`, series));
  const slopes = [...series].map(([name, samples]) => {
    const warm = samples.filter(({ hours }) => hours * 60 > minutes * shareOfWarmUp);
    return { name, ...slopeOf(warm) };
  });
  console.log(`seed ${seed}, ${JSON.stringify({ ...storm.tally, rotations, renewals, steps })}`);
  for (const { name, mean, perHour, low, high } of slopes)
    console.log(`${name}: ${mean.toPrecision(4)}, ${perHour.toPrecision(2)} in an hour (${low.toPrecision(2)} to ${high.toPrecision(2)})`);
  for (const { name, mean, perHour } of slopes)
    Object.assign(figures, { [name]: short(mean), [`${name}, more in an hour`]: short(perHour) });
  if (minutes < judgedMinutes) return;
  const tokenProcesses = (series.get(memoryOfTokenProcesses) ?? []).map(({ value }) => value);
  expect(Math.max(...tokenProcesses)).toBeLessThan(workers * mostOfTokenProcess);
  const steady = slopes.filter(({ name }) => name !== memoryOfTokenProcesses && name !== sizeOfStore);
  expect(steady.filter(({ name, mean, low }) => low * 24 > Math.max(mean * mostPerDay, mostOfFewPerDay[name] ?? 0))).toEqual([]);
}
