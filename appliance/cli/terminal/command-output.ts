// Sends commander's output to the streams of the command, with errors in our format.
import type { OutputConfiguration } from 'commander';
import type { Io } from './io.ts';

/** For configureOutput of every command. */
export function outputOf({ stdout, stderr }: Io): OutputConfiguration {
  return {
    writeOut: (text) => stdout.write(text),
    writeErr: (text) => stderr.write(text),
    outputError: (text, write) => write(text.replace(/^error: /, 'keystorectl: ')),
    getOutHelpWidth: () => stdout.columns ?? 120,
    getErrHelpWidth: () => stderr.columns ?? 120,
    getOutHasColors: () => false,
    getErrHasColors: () => false,
  };
}
