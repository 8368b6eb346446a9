// The wait of `login oidc`: a person approves in the browser while we ask every few seconds (RFC 8628 in spirit).
import { setTimeout as sleep } from 'node:timers/promises';
import { Refused, type Client } from '../client.ts';
import { CommandFailed, exitCodes } from '../terminal/failure.ts';
import type { Io } from '../terminal/io.ts';

/** The answer to a request for a sign-in. */
export type Asked = {
  readonly 'login-url'?: string;
  readonly 'user-code'?: string;
  readonly 'poll-token'?: string;
  readonly interval?: number;
  readonly 'expires-in'?: number;
};

/** RFC 8628 section 3.5. */
const slowDownSeconds = 5;
/** Without answers the pauses double up to this. */
const longestPauseSeconds = 15;
/** A poll is answered immediately; after this time it is taken as lost. */
const answerMs = 20_000;

/**
 * Polls for the token. A lost connection, 429 and 502 to 504 do not end the wait before the sign-in expires: the person may be approving
 * it at that moment. Throws CommandFailed when it was denied or has expired.
 */
export async function waitForApproval(client: Client, path: string, asked: Asked, io: Io): Promise<unknown> {
  const { 'poll-token': pollToken, interval = 2, 'expires-in': expiresInSeconds = 600 } = asked;
  const deadlineMs = performance.now() + expiresInSeconds * 1000;
  const secondsLeft = (): number => Math.max(0, (deadlineMs - performance.now()) / 1000);
  let usualSeconds = interval;
  let pauseSeconds = interval;
  let lost: CommandFailed | undefined;
  let isTold = false;
  while (secondsLeft() > 0) {
    await sleep(Math.min(pauseSeconds, secondsLeft()) * 1000);
    try {
      return await client.json({ method: 'POST', path, body: { 'poll-token': pollToken }, answerMs });
    } catch (error) {
      if (!(error instanceof CommandFailed)) throw error;
      if (error.exitCode === exitCodes.unavailable) {
        lost = error;
        if (!isTold)
          io.stderr.write(`${error.message}\nasking again until the sign-in expires, in ${Math.round(secondsLeft() / 60)} minutes …\n`);
        isTold = true;
        pauseSeconds = Math.max(retryAfterOf(error), Math.min(pauseSeconds * 2, longestPauseSeconds));
        continue;
      }
      if (!(error instanceof Refused) || error.answer.status >= 500) throw error;
      // The protocol answers 400 in all other cases: denied, too late, delivered already.
      if (error.code !== 'authorization-pending' && error.code !== 'slow-down') throw new CommandFailed(exitCodes.denied, error.message);
      lost = undefined;
      if (error.code === 'slow-down') usualSeconds += slowDownSeconds;
      pauseSeconds = usualSeconds;
    }
  }
  if (lost === undefined) throw new CommandFailed(exitCodes.denied, 'the sign-in was not confirmed in time');
  throw new CommandFailed(exitCodes.unavailable, `no answer until the sign-in expired; last error: ${lost.message}`);
}

function retryAfterOf(error: CommandFailed): number {
  return error instanceof Refused ? (error.answer.retryAfterSeconds ?? 0) : 0;
}
