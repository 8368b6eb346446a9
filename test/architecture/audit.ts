// npm run audit: whether the registry has signed what is installed, and what is known to be wrong with it. A wrong signature is a failure;
// where the registry cannot be asked, or signs nothing, that is said and is none.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { judgeSignatures, summarizeAdvisories, type Verdict } from './audit-report.ts';

const root = resolve(import.meta.dirname, '../..');
/** A registry that does not answer is not waited for. */
const network = ['--fetch-retries=1', '--fetch-timeout=30000'];
const limitMs = 90_000;

const verdicts: readonly Verdict[] = [
  judgeSignatures(npm('audit', 'signatures', '--json', ...network)),
  summarizeAdvisories(npm('audit', '--omit=dev', '--json', ...network)),
];
for (const { text } of verdicts) console.log(text);
process.exitCode = verdicts.every(({ good }) => good) ? 0 : 1;

/** What npm prints; empty when it did not end in time. */
function npm(...args: readonly string[]): string {
  const { stdout } = spawnSync('npm', args, { cwd: root, encoding: 'utf8', timeout: limitMs, stdio: ['ignore', 'pipe', 'ignore'] });
  return stdout ?? '';
}
