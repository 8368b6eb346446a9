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
/** Where no bar is drawn. */
const tellEveryMs = 5_000;

/** What the wrapping key is like at the end, or at the beginning without `wait`. Fails with `no` when some keys could not be wrapped anew. */
export async function rotateWrappingKey(
  client: Pick<Client, 'json'>,
  paths: { readonly begin: string; readonly watch: string },
  { name, wait }: RotationOptions,
  io: Io,
): Promise<WrappingState> {
  const body = name === undefined ? {} : { token: name };
  io.stderr.write('keystorectl: making a new wrapping key, which may take half a minute …\n');
  const begun = (await client.json({ method: 'POST', path: paths.begin, body })) as WrappingState;
  if (!wait) return begun;
  const tell = tellerTo(io);
  tell(`wrapping every key anew under wrapping key ${begun.number}`);
  const progress = openProgress(io, 'keys');
  let now = begun;
  while (now.state === 'rewrapping') {
    progress.show(now.done, now.total === 0 ? undefined : now.done / now.total);
    await setTimeout(lookEveryMs);
    now = await look(client, paths.watch, name);
    if (io.stderr.isTTY !== true) tell(`${now.done} of ${now.total} keys are wrapped anew`);
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

/** Writes a line on standard error, at most one every few seconds. */
function tellerTo({ stderr }: Io): (text: string) => void {
  let nextMs = 0;
  return (text) => {
    const nowMs = performance.now();
    if (nowMs < nextMs) return;
    nextMs = nowMs + tellEveryMs;
    stderr.write(`keystorectl: ${text} …\n`);
  };
}

async function look(client: Pick<Client, 'json'>, path: string, name: string | undefined): Promise<WrappingState> {
  const { tokens } = (await client.json({ method: 'GET', path })) as {
    tokens: readonly { readonly name: string; readonly 'wrapping-key': WrappingState }[];
  };
  const found = name === undefined ? tokens[0] : tokens.find((token) => token.name === name);
  if (found === undefined) throw new CommandFailed(exitCodes.fault, 'the appliance does not tell about that token any more');
  return found['wrapping-key'];
}
