// npm run build reproduce [-- package etcd keystorectl oci image]: builds the committed tree twice, as on two machines, and says what
// differs in the results. With --against FOLDER it is built once and compared with what somebody else has built.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { artefacts } from '../artefacts.ts';
import { sha256Of } from '../bill/write.ts';
import { compareFiles, pairUp } from './differences.ts';
import { firstMachine, type Machine, secondMachine } from './machines.ts';

const repository = resolve(import.meta.dirname, '../../..');
const mostLines = 200;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** folder with the files that somebody else has built */
    against: { type: 'string' },
    /** leaves the builds where they are */
    keep: { type: 'boolean', default: false },
  },
});
const isRoot = process.getuid?.() === 0;
// The image takes long and brings its own tools: it is built when it is named.
const wanted = positionals.length > 0 ? positionals : ['package', 'keystorectl', ...(isRoot ? ['oci'] : [])];
const problem = problemOf(wanted, values.against);
if (problem !== undefined) {
  console.error(`${problem}\nUsage: npm run build reproduce -- [--against FOLDER] [--keep] [${[...artefacts.keys()].join('] [')}]`);
  process.exit(2);
}

// Not below the home of this user, where another user has no access, and not in memory.
const work = mkdtempSync('/var/tmp/keystored-reproduce-');
try {
  chmodSync(work, 0o755);
  const against = values.against === undefined ? undefined : resolve(values.against);
  const machines = [...(against === undefined ? [firstMachine(repository, work)] : []), secondMachine(repository, work)];
  tellProperties(machines);
  // Root comes last: it leaves files of its own in the tree.
  const order = [...artefacts.keys()].filter((name) => wanted.includes(name));
  for (const machine of machines) {
    for (const name of order) {
      console.error(`${name} on the ${machine.name} machine …`);
      machine.run(name, artefacts.get(name)?.asRoot === true);
    }
  }
  const builds = machines.map((machine) => resultsOf(machine, order));
  const [one = [], other = []] = against === undefined ? builds : [filesOf(against), ...builds];
  process.exitCode = tellDifferences(one, other, against !== undefined) ? 1 : 0;
} finally {
  if (values.keep) console.error(`the builds are in ${work}`);
  else rmSync(work, { recursive: true });
}

function problemOf(names: readonly string[], against: string | undefined): string | undefined {
  if (against !== undefined && !existsSync(against)) return `There is no folder ${against}.`;
  const unknown = names.filter((name) => !artefacts.has(name));
  if (unknown.length > 0) return `${unknown.join(', ')} cannot be built.`;
  const hasKeys = process.env['KEYSTORED_IMAGE_KEYS'] !== undefined || process.env['KEYSTORED_IMAGE_CACHE'] !== undefined;
  if (names.includes('image') && !hasKeys)
    return 'Without KEYSTORED_IMAGE_KEYS or KEYSTORED_IMAGE_CACHE each machine signs with keys of its own.';
  const forRoot = isRoot ? [] : names.filter((name) => artefacts.get(name)?.asRoot === true);
  return forRoot.length > 0 ? `Only root can build ${forRoot.join(', ')}.` : undefined;
}

/** A file, and the name by which it is compared. */
type Result = { readonly name: string; readonly path: string };

function resultsOf({ tree }: Machine, names: readonly string[]): readonly Result[] {
  const folders = new Set(names.map((name) => join(tree, 'dist', artefacts.get(name)?.folder ?? '')));
  return [...folders].flatMap(filesOf);
}

function filesOf(folder: string): readonly Result[] {
  const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.map(({ name }) => ({ name, path: join(folder, name) })).sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Prints the differences; tells whether there are any. `partly`: the first may have more. */
function tellDifferences(first: readonly Result[], second: readonly Result[], partly: boolean): boolean {
  const { pairs, alone } = pairUp(first, second);
  const different = pairs.filter(([one, other]) => tellPair(one, other));
  const missing = alone.filter(({ where }) => !partly || where === 'second');
  for (const { name, where } of missing) console.log(`differs  ${name}\n  only in the ${where} build`);
  const [same, others] = [pairs.length - different.length, different.length + missing.length];
  console.log(`${same} the same, ${others} not`);
  return others > 0 || same === 0;
}

function tellPair(one: Result, other: Result): boolean {
  const found = [...(one.name === other.name ? [] : [`its name: ${one.name} | ${other.name}`]), ...compareFiles(one.path, other.path)];
  if (found.length === 0) {
    console.log(`same     ${sha256Of(one.path)}  ${one.name}`);
    return false;
  }
  console.log([`differs  ${one.name}`, ...found.slice(0, mostLines)].join('\n  '));
  if (found.length > mostLines) console.log(`  and ${found.length - mostLines} more`);
  // Diffoscope is used if it is installed: it knows many more formats.
  if (spawnSync('diffoscope', ['--version']).status === 0) spawnSync('diffoscope', [one.path, other.path], { stdio: 'inherit' });
  return true;
}

function tellProperties(machines: readonly Machine[]): void {
  for (const name of Object.keys(machines[0]?.properties ?? {})) {
    const values = machines.map(({ properties }) => properties[name] ?? '');
    const shown = values.map((value) => (value.startsWith(work) ? relative(work, value) : value));
    console.error(`${name.padEnd(12)}${shown.join(' | ')}`);
  }
}
