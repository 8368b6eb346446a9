// What the machine itself is to do, handed as one word to the program that may: only on an appliance, over a Unix socket.
import { createConnection } from 'node:net';

export const operations = ['reboot', 'power-off', 'factory-reset'] as const;
export type Operation = (typeof operations)[number];

const timeoutMs = 30_000;

/** Resolves when the machine has begun with it. Rejects with what it answers instead, or when nobody does. */
export async function operate(socket: string, operation: Operation): Promise<void> {
  const connection = createConnection({ path: socket, signal: AbortSignal.timeout(timeoutMs) });
  connection.end(`${operation}\n`);
  let answer = '';
  for await (const chunk of connection.setEncoding('utf8')) answer += chunk as string;
  if (answer !== 'done\n') throw new Error(`the operation ${operation} was not begun: ${answer.slice(0, 256)}`);
}
