// keystorectl's entry: the process's own streams and environment, and its exit code. Compiled code is kept, which halves the start.
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

const { XDG_CACHE_HOME: cache = join(homedir(), '.cache') } = process.env;
enableCompileCache(join(cache, 'keystored', 'compiled'));

// A reader that went away (`keystorectl … | head`) is no fault.
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
