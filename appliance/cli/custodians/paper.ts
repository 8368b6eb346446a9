// Shares on paper: each is shown to its custodian alone, as text and as a QR code, until its last letters prove that it was written down.
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { encodeQR } from 'qr';
import { revealSecret, type Secret } from '../../../core/base/secret.ts';
import { usageError } from '../terminal/failure.ts';
import type { Io } from '../terminal/io.ts';

/** Clears what a terminal shows, and what it would scroll back to. */
const cleared = '\u001b[2J\u001b[3J\u001b[H';

/** Signals that end the command, by a key of the terminal or otherwise: a share must not stay on the screen. */
const endings = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP'] as const;

/** Time in which the lines that were typed too early arrive. */
const typedAheadMs = 100;

/** Shows each share in its turn. Throws a usage error when the input ends before all are written down: nothing has changed then. Returns where they are. */
export async function showOnPaper(shares: readonly Secret<string>[], { stdin, stderr }: Io): Promise<string> {
  const lines = createInterface({ input: stdin });
  let isOver = false;
  /** undefined: nothing is asked, and what is typed is dropped */
  let take: ((line: string | undefined) => void) | undefined;
  lines.on('line', (line) => take?.(line));
  lines.on('close', () => {
    isOver = true;
    take?.(undefined);
  });
  const ask = async (question: string): Promise<string> => {
    const answer = await new Promise<string | undefined>((resolve) => {
      take = resolve;
      stderr.write(question);
      if (isOver) resolve(undefined);
    });
    take = undefined;
    if (answer === undefined) throw usageError('the shares are not written down: nothing was done');
    return answer.trim().toLowerCase();
  };
  const stop = (signal: NodeJS.Signals): void => {
    stderr.write(cleared);
    for (const one of endings) process.removeListener(one, stop);
    process.kill(process.pid, signal);
  };
  for (const one of endings) process.on(one, stop);
  try {
    for (const [at, share] of shares.entries()) {
      const text = revealSecret(share);
      // A terminal hands over one line at a time: what was typed before the question must not answer it.
      stderr.write(cleared);
      await setTimeout(typedAheadMs);
      await ask(`Share ${at + 1} of ${shares.length} is for one custodian. Let nobody else look, and press Enter.\n`);
      // Its letters are the same in either case, and capitals make a smaller code.
      const code = encodeQR(text.toUpperCase(), 'ascii').trimEnd();
      stderr.write(`${cleared}Share ${at + 1} of ${shares.length}. Write it down, or scan it:\n\n  ${text}\n\n${code}\n\n`);
      while ((await ask('Its last four letters, from what is written down: ')) !== text.slice(-4)) stderr.write('Not these. ');
    }
  } finally {
    stderr.write(cleared);
    lines.close();
    for (const one of endings) process.removeListener(one, stop);
  }
  return 'Each custodian has a share on paper.';
}
