// The token of an appliance that joins a cluster with a token in each: it gets the own keys of the others, wrapped for it alone.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import type { Log } from '../../../../core/base/context.ts';
import { writeDurably } from '../../../../core/base/durable-files.ts';
import { HsmError, type TokenConfig } from '../../../../hsm/api.ts';
import { closeTransport, openTransport, takeOwnKeys, type Transport } from '../../../../hsm/setup/setup.ts';
import { refusingHsmErrors } from '../../../tokens/hsm-config.ts';
import { memberFiles } from '../files.ts';
import type { Invitation } from '../invitation.ts';
import { askForKeys, type CarriedKeys, type Joiner, NotAdmitted } from '../inviter.ts';
import { provideRequestKey } from './admission.ts';

/** The appliance that joins: its data directory, id and name, and its token. */
export type Taking = {
  readonly data: string;
  readonly self: Pick<Joiner, 'appliance' | 'name'>;
  readonly token: TokenConfig;
  readonly log: Log;
  /** default: as long as the invitation is good */
  readonly patienceMs?: number;
};

/** Progress of the cluster with keys that it wraps again. */
export type NotReady = { readonly done: number; readonly total: number };

const askAgainMs = 1_000;

/**
 * Resolves with undefined when the token has the keys, and everything that the cluster has is wrapped under them; or how far that is when
 * the patience has ended. Cut off, or asked again, it goes on with the transport key that it has. Throws StartRefused, NotAdmitted among
 * them.
 */
export async function takeKeysOf(invitation: Invitation, taking: Taking): Promise<NotReady | undefined> {
  const { data, self, token, log, patienceMs = Infinity } = taking;
  const transport = readTransport(data) ?? (await refusingHsmErrors(() => makeTransport(taking)));
  const key = provideRequestKey(data, 'peer');
  let told: string | undefined;
  for (const untilMs = performance.now() + patienceMs; ; await setTimeout(askAgainMs)) {
    const { state, done, total, keys } = await askForKeys(invitation, { ...self, transport, key }).catch(async (error: unknown) => {
      if (error instanceof NotAdmitted && error.kind === 'refused') await refusingHsmErrors(() => forgetTransport(taking));
      throw error;
    });
    if (state === 'ready') {
      const isTaken = await refusingHsmErrors(() => take(token, transport.id, keys));
      await refusingHsmErrors(() => forgetTransport(taking));
      if (isTaken) return undefined;
      return takeKeysOf(invitation, taking);
    }
    if (state !== told) log.info('the keys of the cluster are carried to the token', { state, done, total });
    told = state;
    if (performance.now() > untilMs) return { done, total };
  }
}

/**
 * Puts the keys into the token; without keys it already has them, and was interrupted after that. False if its transport key is no longer
 * in the token.
 */
async function take(token: TokenConfig, id: string, keys: CarriedKeys | undefined): Promise<boolean> {
  if (keys === undefined) return true;
  const { parcel: wrapped, ...given } = keys;
  try {
    await takeOwnKeys(token, { id }, { ...given, parcels: [wrapped] }, 0);
    return true;
  } catch (error) {
    if (error instanceof HsmError && error.kind === 'key-missing') return false;
    throw error;
  }
}

const transportFile = z.object({
  id: z.string(),
  publicKey: z.string(),
  hashes: z.array(z.enum(['sha256', 'sha384', 'sha512', 'sha1'])),
  types: z.array(z.string()),
  present: z.array(z.object({ number: z.int(), carrying: z.string().exactOptional() })),
});

/** Reads the transport key; undefined if it is missing or incomplete: then another one is made. */
function readTransport(data: string): Transport | undefined {
  const file = memberFiles(data).transport;
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8');
  try {
    return transportFile.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The cluster has wrapped its keys for that one: with another, all keys would have to be wrapped again. */
async function makeTransport({ data, token }: Taking): Promise<Transport> {
  const transport = await openTransport(token);
  const { directory, transport: file } = memberFiles(data);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeDurably(file, `${JSON.stringify(transport)}\n`);
  return transport;
}

async function forgetTransport({ data, token }: Taking): Promise<void> {
  await closeTransport(token);
  rmSync(memberFiles(data).transport, { force: true });
}
