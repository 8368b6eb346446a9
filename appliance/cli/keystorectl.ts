// Entry point of keystorectl: connects the process's streams, environment and exit code.
import { runKeystorectl } from './main.ts';

// A reader that closes the pipe (`keystorectl … | head`) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.exitCode = await runKeystorectl(process.argv.slice(2), {
  environment: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
});
