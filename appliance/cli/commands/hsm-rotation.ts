// hsm rotate-wrapping-key: begins the rotation and shows its progress until it has ended.
import { setTimeout } from 'node:timers/promises';
import { defined } from '../../../core/base/defined.ts';
import type { WrappingState } from '../../wrapping-keys/record.ts';
import type { Client } from '../client.ts';
import type { ConnectionOptions } from '../connection-options.ts';
import { CommandFailed, exitCodes } from '../terminal/failure.ts';
import type { Io } from '../terminal/io.ts';
import { openProgress } from '../terminal/progress.ts';

export type RotationOptions = ConnectionOptions & { name?: string; wait: boolean; yes?: boolean; output?: string };

const lookEveryMs = 500;

/** The state of the wrapping key at the end, or at the beginning without `wait`. Fails with `no` when some keys could not be rewrapped. */
export async function rotateWrappingKey(
  client: Pick<Client, 'json'>,
  paths: { readonly begin: string; readonly watch: string },
  { name, wait, output }: RotationOptions,
  io: Io,
): Promise<WrappingState> {
  const body = defined({ token: name });
  // A program that asks for JSON may read both streams as one.
  const tell = output === 'json' && io.stderr.isTTY !== true ? () => undefined : tellerTo(io);
  tell('making a new wrapping key, which may take half a minute');
  const begun = (await client.json({ method: 'POST', path: paths.begin, body })) as WrappingState;
  if (!wait) return begun;
  tell(`rewrapping every key under wrapping key ${begun.number}`);
  const progress = openProgress(io, 'keys');
  let now = begun;
  while (now.state === 'rewrapping') {
    if (now.total === 0 || now.done < now.total) progress.show(now.done, now.total === 0 ? undefined : now.done / now.total);
    else {
      progress.clear();
      tell('every key is rewrapped; waiting until no process can need the old wrapping key');
    }
    await setTimeout(lookEveryMs);
    now = await look(client, paths.watch, name);
  }
  progress.clear();
  if (now.state === 'incomplete') {
    throw new CommandFailed(
      exitCodes.no,
      `${now.failed} keys could not be rewrapped; system:logs names them, and the old wrapping key is kept`,
    );
  }
  return now;
}

/** Writes each step to standard error once. */
function tellerTo({ stderr }: Io): (text: string) => void {
  let told = '';
  return (text) => {
    if (text !== told) stderr.write(`keystorectl: ${text} …\n`);
    told = text;
  };
}

async function look(client: Pick<Client, 'json'>, path: string, name: string | undefined): Promise<WrappingState> {
  const { tokens } = (await client.json({ method: 'GET', path })) as {
    tokens: readonly { readonly name: string; readonly 'wrapping-key': WrappingState }[];
  };
  const found = name === undefined ? tokens[0] : tokens.find((token) => token.name === name);
  if (found === undefined) throw new CommandFailed(exitCodes.fault, 'the appliance no longer reports that token');
  return found['wrapping-key'];
}
