// What the jobs of the appliance have to say to whoever looks at the screen: one file per job, below /run/keystored-os/notices.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const directory = (root: string): string => join(root, 'run/keystored-os/notices');

/** Replaces what a job has said; undefined: nothing any more. */
export function writeNotice(root: string, job: string, text: string | undefined): void {
  mkdirSync(directory(root), { recursive: true, mode: 0o755 });
  const file = join(directory(root), job);
  if (text === undefined) rmSync(file, { force: true });
  else writeFileSync(file, `${text}\n`, { mode: 0o644 });
}

/** What they say now, in the order of their names. */
export function readNotices(root: string): readonly string[] {
  try {
    return readdirSync(directory(root))
      .sort()
      .map((job) => readFileSync(join(directory(root), job), 'utf8').trim());
  } catch {
    return [];
  }
}
