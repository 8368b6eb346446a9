// Results of long drills as data: an entry of one file for each, with seed, commit and figures, also of a drill that ends with a find.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type DrillFigures, type DrillName, type DrillResult, formatDrills, parseDrills } from '../../appliance/docs/drills.ts';

const root = resolve(import.meta.dirname, '../..');

/** Returns the path of the file that drills write: DRILL_RESULTS, relative to the root of the tree, or that of `dist`. */
const resultsFile = (): string => resolve(root, process.env['DRILL_RESULTS'] ?? 'dist/soak/results.json');

/** `command` repeats the drill; `seed` is absent where nothing is drawn. */
export type Drilled = { readonly name: DrillName; readonly command: string; readonly seed?: number };

/** Runs the drill, which fills in its figures as they come, and keeps them. Rejects with what the drill rejects with, which is kept, too. */
export async function keepResult({ name, ...drilled }: Drilled, drill: (figures: DrillFigures) => Promise<void>): Promise<void> {
  const figures: DrillFigures = {};
  try {
    await drill(figures);
  } catch (error) {
    const [found = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    keep(name, { ...drilled, ...circumstances(), found: found === '' ? 'an error without a message' : found, figures });
    throw error;
  }
  keep(name, { ...drilled, ...circumstances(), figures });
}

/** Returns the sum of the counts of a report. */
export function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** Names counts by HTTP status so that the page can show them. */
export function byStatus(counts: Readonly<Record<string, number>>): DrillFigures {
  return Object.fromEntries(Object.entries(counts).map(([status, count]) => [`status ${status}`, count]));
}

function circumstances(): Pick<DrillResult, 'commit' | 'on'> {
  const commit = execFileSync('git', ['describe', '--always', '--dirty', '--exclude=*'], { cwd: root, encoding: 'utf8' }).trim();
  return { commit, on: new Date().toISOString().slice(0, 10) };
}

function keep(name: DrillName, result: DrillResult): void {
  const file = resultsFile();
  mkdirSync(dirname(file), { recursive: true });
  const kept = existsSync(file) ? parseDrills(readFileSync(file, 'utf8')) : {};
  writeFileSync(`${file}.new`, formatDrills({ ...kept, [name]: result }));
  renameSync(`${file}.new`, file);
}
