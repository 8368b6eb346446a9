// Entry point of keystorectl: connects the process's streams, environment and exit code.
import { setImmediate } from 'node:timers/promises';
import { runKeystorectl } from './main.ts';

// Commands learn of it where they wait for their output; help is written without waiting.
let broken: NodeJS.ErrnoException | undefined;
process.stdout.on('error', (error) => (broken ??= error));

const code = await runKeystorectl(process.argv.slice(2), {
  environment: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
});
await setImmediate();
// A reader that closes the pipe (`keystorectl … | head`) is not an error.
const isLost = code === 0 && broken !== undefined && broken.code !== 'EPIPE';
if (isLost) process.stderr.write(`keystorectl: standard output cannot be written (${broken?.code})\n`);
process.exitCode = isLost ? 1 : code;
