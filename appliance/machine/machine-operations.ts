// Reboot, power off and factory reset: sends one word to the privileged program, over a Unix socket that exists on appliances only.
import { createConnection } from 'node:net';
import { fail } from '../../core/base/errors.ts';

export const operations = ['reboot', 'power-off', 'factory-reset'] as const;
export type Operation = (typeof operations)[number];

const timeoutMs = 30_000;

/**
 * Resolves when the machine has begun the operation. Throws operation-refused with its reason, and machine-unavailable without an answer.
 */
export async function operate(socket: string, operation: Operation): Promise<void> {
  const answer = await ask(socket, operation).catch((cause: unknown) => {
    throw fail('machine-unavailable', { cause, retryAfterSeconds: 30 });
  });
  if (answer === 'done\n') return;
  const [, reason] = /^refused: ([\x20-\x7e]{1,256})\n$/.exec(answer) ?? [];
  if (reason === undefined)
    throw fail('machine-unavailable', { cause: new Error(`it answered ${answer.slice(0, 256)}`), retryAfterSeconds: 30 });
  throw fail('operation-refused', { detail: `The operation "${operation}" was not begun, and nothing was changed: ${reason}.` });
}

async function ask(socket: string, operation: Operation): Promise<string> {
  const connection = createConnection({ path: socket, signal: AbortSignal.timeout(timeoutMs) });
  connection.end(`${operation}\n`);
  let answer = '';
  for await (const chunk of connection.setEncoding('utf8')) answer += chunk as string;
  return answer;
}
