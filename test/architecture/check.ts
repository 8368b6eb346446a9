// npm run check: the client libraries generated, then types, lint, format, unused code and the layer rule; the exit code tells.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';

type Step = readonly [name: string, command: readonly string[]];

const clients: Step = ['clients', ['appliance/clients/provide.ts']];
const types: Step = ['types', ['node_modules/typescript/bin/tsc', '-p', '.']];
const others: readonly Step[] = [
  ['lint', ['node_modules/oxlint/bin/oxlint', '--type-aware', '--deny-warnings', '.']],
  ['format', ['node_modules/oxfmt/bin/oxfmt', '--check', '.']],
  ['unused', ['node_modules/knip/bin/knip.js']],
  ['used by tests alone', ['node_modules/knip/bin/knip.js', '--production', '--config', withoutTests()]],
  ['architecture', ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts', 'test/architecture']],
];

/** Configuration of the search without tests. An export that its own file uses is one that a test may use as well. */
function withoutTests(): string {
  const file = 'node_modules/.cache/knip-production.json';
  mkdirSync('node_modules/.cache', { recursive: true });
  const { entry, ignoreDependencies, ...rest } = JSON.parse(readFileSync('.knip.json', 'utf8')) as Record<string, string[]>;
  // The scripts of package.json, and the program that they run, are not looked at here.
  const started = { entry: [...(entry ?? []), 'appliance/setup.mjs!'], ignoreDependencies: [...(ignoreDependencies ?? []), 'node'] };
  writeFileSync(file, JSON.stringify({ ...rest, ...started, ignoreExportsUsedInFile: true }));
  return file;
}

/** One after the other, each with its output in one piece. Resolves with the names of those that failed. */
async function run(steps: readonly Step[]): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const [name, command] of steps) {
    const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'] });
    const [output, errors, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    process.stdout.write(output);
    process.stderr.write(errors);
    console.log(`${name}: ${status === 0 ? 'clean' : 'FAILED'}`);
    if (status !== 0) failed.push(name);
  }
  return failed;
}

const ofClients = await run([clients]);
// The compiler has one thread, and takes as long as all the others together.
const failed = [...ofClients, ...(await Promise.all([run([types]), run(others)])).flat()];
console.log(`${2 + others.length - failed.length} passed, ${failed.length} failed`);
process.exitCode = failed.length === 0 ? 0 : 1;
