// Puts manual pages and completion where Debian looks for them.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { HelpReader } from './help-reader.ts';
import type { PageFile } from './roff.ts';

/** Below the share folder of a stage; compressed as policy 12.1 wants it. */
export function installPages(pages: readonly PageFile[], stage: string): void {
  for (const { path, text } of pages) write(join(stage, 'usr/share/man', `${path}.gz`), compress(text));
}

const completionFiles = {
  bash: 'bash-completion/completions/keystorectl',
  zsh: 'zsh/vendor-completions/_keystorectl',
  fish: 'fish/vendor_completions.d/keystorectl.fish',
} as const;

/** The scripts that `keystorectl completion` prints. */
export async function installCompletion(stage: string): Promise<void> {
  for (const [shell, path] of Object.entries(completionFiles)) {
    write(join(stage, 'usr/share', path), await HelpReader.output(['completion', shell]));
  }
}

/** The date of a page: the day of the commit. */
export function dayOf(epochSeconds: number): string {
  return new Date(epochSeconds * 1_000).toISOString().slice(0, 10);
}

function write(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** Without a name and a time. By gzip itself: the output of the zlib of Node.js depends on the instructions of the processor. */
function compress(text: string): Uint8Array {
  const { status, stdout, stderr, error } = spawnSync('gzip', ['--best', '--no-name'], { input: text });
  if (status !== 0) throw new Error(`gzip: ${error?.message ?? String(stderr)}`);
  return stdout;
}
