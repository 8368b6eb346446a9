// npm run bench (-- PART… --json FILE): runs the parts one after another, says before how long that takes, and ends with the table of aims.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Circumstances, type Figures, parseFigures, type PartName, partSchemas } from '../../appliance/docs/performance/figures.ts';
import { formatFigures } from '../harness/figures.ts';
import { provideService } from '../../appliance/packaging/service/provide.ts';
import { endChildren } from '../harness/children.ts';
import { softhsmModule } from '../harness/token/softhsm.ts';
import { formatAims } from './aims.ts';
import type { Bench, Part } from './measure/bench.ts';
import { fileSystemOf } from './neighbours/disk.ts';
import { openBaoVersion } from './neighbours/openbao.ts';
import { actions } from './parts/actions.ts';
import { cluster } from './parts/cluster.ts';
import { creation } from './parts/creation.ts';
import { vault } from './parts/vault.ts';
import { enrolment } from './parts/enrolment.ts';
import { est } from './parts/est.ts';
import { guard } from './parts/guard.ts';
import { identity } from './parts/identity.ts';
import { keys } from './parts/keys.ts';
import { kmip } from './parts/kmip.ts';
import { large } from './parts/large.ts';
import { login } from './parts/login.ts';
import { memory } from './parts/memory.ts';
import { scale } from './parts/scale.ts';
import { start } from './parts/start.ts';

const parts: { readonly [Name in PartName]: Part<Name> } = {
  ...{ actions, guard, keys, creation, login, vault, identity, est, enrolment, large, kmip, memory, start, scale, cluster },
};
const names = Object.keys(partSchemas) as readonly PartName[];

/** A run ends by itself at this time: on a machine that is busy, what is not measured takes longer. */
const limitOf = (expectedSeconds: number): number => 2 * expectedSeconds + 120;

const openBao = process.env['BENCH_BAO'];
const lengths = { rounds: Number(process.env['BENCH_ROUNDS'] ?? 3), seconds: Number(process.env['BENCH_SECONDS'] ?? 1), openBao };
const { chosen, file } = parseCommand();
const directory = mkdtempSync(join(tmpdir(), 'keystored-bench-'));
process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
// As `npm start` runs it.
process.env['KEYSTORED_TEST_PROGRAM'] ??= await provideService();
await runParts();

/** Names of parts, and `--json FILE`. Ends the process with a usage line when they are wrong. */
function parseCommand(): { readonly chosen: readonly PartName[]; readonly file: string | undefined } {
  try {
    const { positionals, values } = parseArgs({ allowPositionals: true, options: { json: { type: 'string' } } });
    const unknown = positionals.find((name) => !(names as readonly string[]).includes(name));
    if (unknown !== undefined) throw new Error(`there is no part ${unknown}`);
    if (!(lengths.rounds >= 1 && Number.isInteger(lengths.seconds) && lengths.seconds >= 1)) {
      throw new Error('BENCH_ROUNDS and BENCH_SECONDS are whole numbers from 1');
    }
    const wanted = positionals as PartName[];
    return { chosen: wanted.length > 0 ? wanted : names.filter((name) => parts[name].onRequest !== true), file: values.json };
  } catch (error) {
    const usage = names.map(
      (name) => `  ${name.padEnd(9)} ${parts[name].measures}${parts[name].onRequest === true ? '; only when named' : ''}`,
    );
    console.error(`${(error as Error).message}\nnpm run bench -- [PART…] [--json FILE]\n${usage.join('\n')}`);
    return process.exit(2);
  }
}

async function runParts(): Promise<void> {
  const version = openBao === undefined ? undefined : openBaoVersion(openBao);
  const expected = chosen.reduce((sum, name) => sum + parts[name].seconds(lengths), 0);
  console.log(`${chosen.join(', ')}: about ${minutes(expected)} on a quiet machine, ended after ${minutes(limitOf(expected))}.`);
  console.log(version === undefined ? 'Without OpenBao: BENCH_BAO names its program.' : `Beside OpenBao ${version}.`);
  if (fileSystemOf(directory).includes('memory')) {
    console.log(`${tmpdir()} is in memory: durable writes cost nothing there. Set TMPDIR to a directory on a disk.`);
  }
  const limit = setTimeout(
    () => {
      console.error(`ended: not done after ${minutes(limitOf(expected))}`);
      endChildren();
      process.exit(1);
    },
    limitOf(expected) * 1000,
  );
  let found: Figures = {};
  const kept = file !== undefined && existsSync(file) ? parseFigures(readFileSync(file, 'utf8')) : {};
  try {
    for (const name of chosen) {
      found = { ...found, ...(await runPart(name, version)) };
      // After each part, so that one that fails does not lose the others.
      if (file !== undefined) writeFileSync(file, formatFigures({ ...kept, ...found }));
    }
  } finally {
    clearTimeout(limit);
  }
  console.log(`\n${formatAims(found).join('\n')}`);
}

async function runPart<Name extends PartName>(name: Name, version: string | undefined): Promise<Figures> {
  const part: Part<Name> = parts[name];
  const bench: Bench = { ...lengths, directory: join(directory, name) };
  mkdirSync(bench.directory);
  const circumstances = describeCircumstances(version);
  const { loadBefore, cores } = circumstances.machine;
  console.log(`\n## ${name}: ${part.measures}`);
  if (loadBefore > cores / 2) console.log(`The machine is busy (load ${loadBefore}): go by ratios and processor time.`);
  const begun = performance.now();
  const found = await part.run(bench);
  rmSync(bench.directory, { recursive: true, force: true });
  console.log(['', ...part.format(found), '', `(${minutes((performance.now() - begun) / 1000)})`].join('\n'));
  return { [name]: { ...circumstances, found } };
}

function describeCircumstances(version: string | undefined): Circumstances {
  const [processor] = cpus();
  return {
    measuredOn: Temporal.Now.plainDateISO('UTC').toString(),
    ...{ rounds: lengths.rounds, seconds: lengths.seconds },
    machine: {
      ...{ processor: processor?.model ?? 'unknown', cores: cpus().length, memoryGib: totalmem() / 2 ** 30 },
      ...{ kernel: release().split('-')[0] ?? '', fileSystem: fileSystemOf(directory), node: process.version, module: moduleVersion() },
      ...(version === undefined ? {} : { openBao: version }),
      loadBefore: loadavg()[0] ?? 0,
    },
  };
}

/** SoftHSM2 with its version, where its tool can be asked. */
function moduleVersion(): string {
  try {
    return `SoftHSM ${execFileSync('softhsm2-util', ['--version'], { encoding: 'utf8' }).trim()}`;
  } catch {
    return softhsmModule;
  }
}

function minutes(seconds: number): string {
  return seconds < 90 ? `${seconds.toFixed(0)} s` : `${(seconds / 60).toFixed(1)} min`;
}
