// The question before an irreversible action: asked of a person at a terminal, never of a script.
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { usageError } from './failure.ts';
import type { Io } from './io.ts';

/** Tells whether a person can be asked: both the question and the answer are at a terminal. */
export function canAsk({ stdin, stderr }: Io): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/** Asks on standard error, and throws a usage error unless the answer is `y` or `yes`. Without a terminal nothing is asked. */
export async function confirm(question: string, io: Io): Promise<void> {
  if (!canAsk(io)) return;
  io.stderr.write(`${question} [y/N] `);
  const lines = createInterface({ input: io.stdin });
  try {
    const [answer = ''] = (await Promise.race([once(lines, 'line'), once(lines, 'close')])) as [string?];
    if (/^y(es)?$/i.test(answer.trim())) return;
  } finally {
    lines.close();
  }
  io.stderr.write('\n');
  throw usageError('nothing was done');
}
