// Failures of a command, and the exit codes that scripts rely on.

/** Documented in appliance/docs/use/keystorectl.md; a number never changes its meaning. */
export const exitCodes = {
  /** done */
  ok: 0,
  /** the command line, a file or the profile is wrong: nothing was sent */
  usage: 1,
  /** 400, 405, 413, 415: the request itself is wrong */
  refused: 2,
  /** 401, 403: not authenticated, or denied by policy */
  denied: 3,
  /** 404 */
  notFound: 4,
  /** 409, 412: the present state forbids it */
  conflict: 5,
  /** 429, 502, 503, 504, or no answer: try again later */
  unavailable: 6,
  /** done, and the answer is no: a signature is not valid, a check found something, a part of a batch failed */
  no: 7,
  /** 500, or an unexpected answer */
  fault: 8,
  /** done, but the answer could not be written */
  undelivered: 9,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Ends the command; each line of the message is written to standard error. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
  readonly exitCode: ExitCode;
  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The end of another program that ran in place of this one: it has said what there was to say. */
export class OtherProgramFailed extends CommandFailed {
  constructor(code: number) {
    super(code as ExitCode, '');
  }
}

/** An error in typed or written input of the user. */
export function usageError(message: string): CommandFailed {
  return new CommandFailed(exitCodes.usage, message);
}

/** Thrown when the output of a command failed. After a change the catcher names the result. */
export class OutputFailed extends CommandFailed {
  /** The reader of a pipe that has gone has seen enough: no failure of a command that changed nothing. */
  readonly isReaderGone: boolean;
  constructor(target: string, { code = 'failed' }: NodeJS.ErrnoException) {
    const isReaderGone = code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED';
    super(isReaderGone ? exitCodes.ok : exitCodes.usage, isReaderGone ? '' : `${target} cannot be written (${code})`);
    this.isReaderGone = isReaderGone;
  }
}

/** The same failure after a change: `made` names the result that could not be shown. */
export function undelivered({ isReaderGone, message }: OutputFailed, made: string): CommandFailed {
  const why = isReaderGone ? 'standard output no longer has a reader' : message;
  return new CommandFailed(exitCodes.undelivered, `${why}: the request was done, and its answer is lost${made === '' ? '' : `: ${made}`}`);
}

/** The exit code of an HTTP status. */
export function exitCodeOf(status: number): ExitCode {
  if (status === 401 || status === 403) return exitCodes.denied;
  if (status === 404) return exitCodes.notFound;
  if (status === 409 || status === 412) return exitCodes.conflict;
  if (status === 429 || (status > 500 && status < 600)) return exitCodes.unavailable;
  return status >= 400 && status < 500 ? exitCodes.refused : exitCodes.fault;
}
