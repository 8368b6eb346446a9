// Use of a version in the token: planned without waiting, then run alone, or together with the others of a batch.
import { ServiceError, fail as coreFail } from '../../../core/base/errors.ts';
import { HsmError, type KeyUse, type UseOutcome } from '../../../hsm/api.ts';
import type { Transit } from '../context.ts';
import { fail } from '../errors.ts';
import type { Key, Version } from '../records/keyring.ts';
import type { UsedKey } from './used-key.ts';

/** A planned use: everything that can be checked before the token is asked has been checked. */
export type TokenUse<Answer> = {
  readonly version: Version;
  /** number of uses it counts as, before it happens (UsageMeters.take); undefined for one that is noted when it has happened */
  readonly counts: number | undefined;
  readonly use: KeyUse;
  /** a use of the second private key of the version, of one that has two */
  readonly beside?: KeyUse;
  /** The answer made of the token's octets, which are valid during this call. */
  answer(octets: Uint8Array, beside?: Uint8Array): Answer;
};

/** Plan of an action for one input: one use of the token, or its own steps. */
export type Plan<Answer> = TokenUse<Answer> | { readonly steps: Promise<Answer> };

/** Runs one plan. Rejects with the refusals of UsageMeters.take, with `decryption-failed`, or with HsmError. */
export function runPlan<Answer>(used: UsedKey, plan: Plan<Answer>): Promise<Answer> {
  return 'steps' in plan ? plan.steps : runAlone(used, plan);
}

/** Runs one use, as runPlan. */
export async function runAlone<Answer>(
  { transit, key, now }: Pick<UsedKey, 'transit' | 'key' | 'now'>,
  planned: TokenUse<Answer>,
): Promise<Answer> {
  const { version, counts, use, beside } = planned;
  const reserving = counts === undefined ? undefined : transit.usage.take(key, version, counts, now);
  if (reserving !== undefined) await reserving;
  let octets: Uint8Array;
  let second: Uint8Array | undefined;
  try {
    [octets, second] = beside === undefined ? [await transit.hsm.use(use)] : bothOf(await transit.hsm.useAll([use, beside]));
  } catch (error) {
    throw refusalOf(error);
  }
  if (counts === undefined) transit.usage.note(key, version, now);
  return planned.answer(octets, second);
}

/** The octets of two uses; throws what one of them has failed with, and zeroes the secret of the other. */
function bothOf([one, other]: readonly UseOutcome[]): [Uint8Array, Uint8Array] {
  if (isDone(one) && isDone(other)) return [one, other];
  for (const octets of [one, other]) if (isDone(octets)) octets.fill(0);
  throw isDone(one) ? other : one;
}

/** Outcome of one of several uses: its answer, or the error. */
export type Outcome<Answer> = { readonly answer: Answer } | { readonly error: unknown };

/** Runs uses together: one reservation for each version, one job of the token for each key. The outcomes are in their order; never rejects. */
export async function runTogether<Answer>(used: UsedKey, planned: readonly TokenUse<Answer>[]): Promise<readonly Outcome<Answer>[]> {
  const { transit, key, now } = used;
  const refused = await takeAll(used, planned);
  const running = refused.size === 0 ? planned : planned.filter((one) => !refused.has(one));
  const octets = (await transit.hsm.useAll(running.flatMap(({ use, beside }) => (beside === undefined ? [use] : [use, beside])))).values();
  const done = new Set<Version>();
  const outcomes = planned.map((one): Outcome<Answer> => {
    if (refused.has(one)) return { error: refused.get(one) };
    const found = octets.next().value;
    const second = one.beside === undefined ? undefined : octets.next().value;
    let both: readonly [Uint8Array, Uint8Array?];
    try {
      both = one.beside === undefined ? [doneOf(found)] : bothOf([found, second] as UseOutcome[]);
    } catch (error) {
      return { error: refusalOf(error) };
    }
    if (one.counts === undefined) done.add(one.version);
    try {
      return { answer: one.answer(...both) };
    } catch (error) {
      return { error };
    }
  });
  for (const version of done) transit.usage.note(key, version, now);
  return outcomes;
}

/** The error that a caller gets whose key, or a version of it, was removed while the token was asked for it. */
export function explained(transit: Transit, key: Key, error: unknown): unknown {
  if (!(error instanceof HsmError)) return error;
  // Token objects are destroyed with the record of their key, even while a request is about to use them; the request then gets not-found.
  try {
    transit.store.refresh();
    transit.keyring.requireUnchanged(key);
  } catch (gone) {
    return gone;
  }
  return error.kind === 'key-missing' ? coreFail('key-object-missing', { cause: error }) : error;
}

/** Counts the uses before they happen; what it returns may not happen, and why. */
async function takeAll<Answer>(
  { transit, key, now }: UsedKey,
  planned: readonly TokenUse<Answer>[],
): Promise<ReadonlyMap<TokenUse<Answer>, unknown>> {
  const refused = new Map<TokenUse<Answer>, unknown>();
  const perVersion = new Map<Version, number>();
  for (const { version, counts } of planned) {
    if (counts !== undefined) perVersion.set(version, (perVersion.get(version) ?? 0) + counts);
  }
  const take = async (version: Version, count: number): Promise<void> => {
    const counted = planned.filter((one) => one.version === version && one.counts !== undefined);
    try {
      await transit.usage.take(key, version, count, now);
    } catch (error) {
      // The rest of the reserve may do for some of them.
      if (!isExhausted(error) || counted.length === 1) return counted.forEach((one) => refused.set(one, error));
      for (const one of counted) {
        try {
          await transit.usage.take(key, version, one.counts ?? 0, now);
        } catch (reason) {
          refused.set(one, reason);
        }
      }
    }
  };
  await Promise.all([...perVersion].map(([version, count]) => take(version, count)));
  return refused;
}

function isExhausted(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'version-exhausted';
}

function doneOf(outcome: UseOutcome | undefined): Uint8Array {
  if (isDone(outcome)) return outcome;
  throw outcome;
}

function isDone(outcome: UseOutcome | undefined): outcome is Uint8Array {
  return outcome instanceof Uint8Array;
}

/** Gives one answer for every reason for which a ciphertext does not open. */
function refusalOf(error: unknown): unknown {
  return error instanceof HsmError && error.kind === 'decryption-failed' ? fail('decryption-failed') : error;
}
