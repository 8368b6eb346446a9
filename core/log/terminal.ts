// The log of a command: warnings and errors on standard error, nothing else.
import type { Log } from '../base/context.ts';

const silent = (): void => undefined;

export const terminalLog: Log = {
  debug: silent,
  info: silent,
  warn: (message, fields) => console.error(message, fields ?? ''),
  error: (message, fields) => console.error(message, fields ?? ''),
  with: () => terminalLog,
};
