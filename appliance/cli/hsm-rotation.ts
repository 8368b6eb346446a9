// hsm rotate-wrapping-key: begins the rotation and shows how far it is until it has ended.
import { setTimeout } from 'node:timers/promises';
import type { WrappingState } from '../wrapping-record.ts';
import type { Client } from './client.ts';
import type { ConnectionOptions } from './connection.ts';
import { CommandFailed, exitCodes } from './failure.ts';
import type { Io } from './io.ts';
import { openProgress } from './progress.ts';

export type RotationOptions = ConnectionOptions & { name?: string; wait: boolean };

const lookEveryMs = 500;

/** What the wrapping key is like at the end, or at the beginning without `wait`. Fails with `no` when some keys could not be wrapped anew. */
export async function rotateWrappingKey(
  client: Client,
  paths: { readonly begin: string; readonly watch: string },
  { name, wait }: RotationOptions,
  io: Io,
): Promise<WrappingState> {
  const body = name === undefined ? {} : { token: name };
  const begun = (await client.json({ method: 'POST', path: paths.begin, body })) as WrappingState;
  if (!wait) return begun;
  const progress = openProgress(io);
  let now = begun;
  while (now.state === 'rewrapping') {
    progress.show(now.done, now.total === 0 ? undefined : now.done / now.total);
    await setTimeout(lookEveryMs);
    now = await look(client, paths.watch, name);
  }
  progress.clear();
  if (now.state === 'incomplete') {
    throw new CommandFailed(
      exitCodes.no,
      `${now.failed} keys could not be wrapped anew; system:logs names them, and the old wrapping key is kept`,
    );
  }
  return now;
}

async function look(client: Client, path: string, name: string | undefined): Promise<WrappingState> {
  const { tokens } = (await client.json({ method: 'GET', path })) as {
    tokens: readonly { readonly name: string; readonly 'wrapping-key': WrappingState }[];
  };
  const found = name === undefined ? tokens[0] : tokens.find((token) => token.name === name);
  if (found === undefined) throw new CommandFailed(exitCodes.fault, 'the appliance does not tell about that token any more');
  return found['wrapping-key'];
}
