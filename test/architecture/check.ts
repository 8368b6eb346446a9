// npm run check: the client libraries generated, types, lint, format, unused code and the layer rule, one after the other; the exit code tells.
import { spawnSync } from 'node:child_process';

const steps: readonly (readonly [name: string, command: readonly string[]])[] = [
  ['clients', ['appliance/clients/provide.ts']],
  ['types', ['node_modules/typescript/bin/tsc', '-p', '.']],
  ['lint', ['node_modules/oxlint/bin/oxlint', '--type-aware', '--deny-warnings', '.']],
  ['format', ['node_modules/oxfmt/bin/oxfmt', '--check', '.']],
  ['unused', ['node_modules/knip/bin/knip.js']],
  ['architecture', ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts', 'test/architecture']],
];

let failed = 0;
for (const [name, command] of steps) {
  const { status } = spawnSync(process.execPath, command, { stdio: 'inherit' });
  console.log(`${name}: ${status === 0 ? 'clean' : 'FAILED'}`);
  if (status !== 0) failed += 1;
}
console.log(`${steps.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
