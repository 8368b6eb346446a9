// Entry point of keystorectl: connects the process's streams, environment and exit code. The compile cache halves the start time.
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

const { XDG_CACHE_HOME: cache = join(homedir(), '.cache') } = process.env;
enableCompileCache(join(cache, 'keystored', 'compiled'));

// A reader that closes the pipe (`keystorectl … | head`) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const { runKeystorectl } = await import('./main.ts');
process.exitCode = await runKeystorectl(process.argv.slice(2), {
  environment: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
});
