// Messages of the appliance's jobs for the status screen: one file per job, in /run/keystored-os/notices.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const directory = (root: string): string => join(root, 'run/keystored-os/notices');

/** Replaces the message of a job; undefined removes it. */
export function writeNotice(root: string, job: string, text: string | undefined): void {
  mkdirSync(directory(root), { recursive: true, mode: 0o755 });
  const file = join(directory(root), job);
  if (text === undefined) rmSync(file, { force: true });
  else writeFileSync(file, `${text}\n`, { mode: 0o644 });
}

/** The current messages, sorted by job. */
export function readNotices(root: string): readonly string[] {
  try {
    return readdirSync(directory(root))
      .sort()
      .map((job) => readFileSync(join(directory(root), job), 'utf8').trim());
  } catch {
    return [];
  }
}
