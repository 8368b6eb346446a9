// Checks once for each state of the tokens whether the stored keys open: a token that works and has lost keys looks like any other.
import { setImmediate } from 'node:timers/promises';
import type { Clock, Job } from '../../core/base/context.ts';
import type { Store } from '../../core/store/store.ts';
import { type Hsm, isKeyLost, type KeyReference, lacksWrappingKey } from '../../hsm/api.ts';
import { describeKey, type WrappingRotation } from '../wrapping-keys/rotation.ts';
import { findFinding, recordFinding, withdrawFinding } from './findings.ts';

export type LostKeysParts = {
  readonly store: Store;
  readonly hsm: Hsm;
  readonly clock: Clock;
  readonly rotation: Pick<WrappingRotation, 'state'>;
  /** every stored key of the plugins */
  readonly keys: () => Iterable<KeyReference>;
};

const lookEverySeconds = 10;
/** Keys looked at before other work gets its turn. */
const lookedAtOnce = 200;
/** Keys under one wrapping key that are opened: when none of them does, it is another wrapping key, or the binding key is. */
const triedOfEach = 3;

/** Runs in one process. A token that is down, or being rotated, says nothing about keys: it is looked at when that is over. */
export function lostKeysJob(parts: LostKeysParts): Job {
  let lookedAt: string | undefined;
  return {
    name: 'lost-keys',
    everySeconds: lookEverySeconds,
    whileClockInDoubt: true,
    isOfEach: true,
    async run(signal) {
      parts.store.refresh();
      const tokens = await stateOfTokens(parts);
      if (tokens === undefined || tokens.fingerprint === lookedAt) return;
      const first = await findLost(parts, tokens, signal);
      // A key that was deleted or rewrapped meanwhile is not lost.
      const lost = first.keys.size === 0 ? first : await findLost(parts, tokens, signal, first.keys);
      if (signal.aborted || (await stateOfTokens(parts))?.fingerprint !== tokens.fingerprint) return;
      await settle(parts, tokens, lost);
      lookedAt = tokens.fingerprint;
    },
  };
}

/**
 * Records at a start, before it serves, that a token lacks the wrapping key that the store uses: one call to each token, however many keys
 * are stored. The job then counts them.
 */
export async function noteUnusableTokens(parts: Omit<LostKeysParts, 'keys'>): Promise<void> {
  const { store, clock } = parts;
  // A token that does not answer is a part of health of its own.
  const tokens = await stateOfTokens(parts).catch(() => undefined);
  const message = tokens === undefined ? '' : unusableIn(tokens).join('; ');
  if (message === '') return;
  // With the numbers of the job, and perhaps answered.
  if (findFinding(store, 'keys-lost')?.message.includes(message) === true) return;
  await recordFinding(store, clock, { name: 'keys-lost', message, hinders: true });
}

/** Sentences about tokens without the wrapping key in use. */
function unusableIn({ byName }: Tokens): readonly string[] {
  return [...byName]
    .filter(([, { present, inUse }]) => !present.includes(inUse))
    .map(([name, { inUse }]) => lacksWrappingKey(`token ${name}`, inUse));
}

/** The wrapping keys that each token or group has, and which one the store uses. */
type Tokens = {
  readonly fingerprint: string;
  readonly byName: ReadonlyMap<string, { readonly present: readonly number[]; readonly inUse: number }>;
  readonly configured: ReadonlySet<string>;
};

async function stateOfTokens({ hsm, rotation }: Omit<LostKeysParts, 'keys'>): Promise<Tokens | undefined> {
  const tokens = hsm.status();
  if (tokens.some(({ state }) => state !== 'up')) return undefined;
  const names = [...new Set(tokens.map(({ name, group }) => group?.name ?? name))];
  const states = await Promise.all(
    names.map(async (name) => [name, { present: await hsm.wrappingKeys.list(name), inUse: rotation.state(name).number }] as const),
  );
  // A rotation begins with a wrapping key that the token has: without it, the token is another one, and the rotation would never end.
  const isRotating = states.some(([name, { present, inUse }]) => rotation.state(name).state === 'rewrapping' && present.includes(inUse));
  if (isRotating) return undefined;
  return { fingerprint: JSON.stringify(states), byName: new Map(states), configured: new Set(names) };
}

/** Number of keys of each sort that do not open, by the sentence about the sort; and their names. */
type Lost = { readonly counts: Map<string, number>; readonly keys: Set<string>; total: number };

/** `among`: of these alone. Rejects when a token does not answer. */
async function findLost(parts: LostKeysParts, tokens: Tokens, signal: AbortSignal, among?: ReadonlySet<string>): Promise<Lost> {
  const lost: Lost = { counts: new Map(), keys: new Set(), total: 0 };
  const tried = new Map<string, { readonly keys: string[]; opened: boolean }>();
  for (const key of parts.keys()) {
    if (++lost.total % lookedAtOnce === 0) await setImmediate();
    if (signal.aborted) return lost;
    const id = describeKey(key.binding);
    if (among?.has(id) === false) continue;
    const { custody, token } = key.stored;
    const number = parts.hsm.wrappingKeys.numberOf(key.stored);
    const state = tokens.byName.get(token);
    if (state === undefined) note(lost, id, `in token ${token}, which is not configured`);
    else if (custody === 'token') {
      if (!(await opens(parts.hsm, key))) note(lost, id, `that token ${token} had as objects and has no more`);
    } else if (number !== undefined && !state.present.includes(number)) {
      note(lost, id, `under wrapping key ${number} of token ${token}, which it does not have`);
    } else {
      const sort = `under wrapping key ${number} of token ${token}, whose own keys are others`;
      const trial = tried.get(sort) ?? { keys: [], opened: false };
      tried.set(sort, trial);
      if (!trial.opened && trial.keys.length < triedOfEach) trial.opened = await opens(parts.hsm, key);
      trial.keys.push(id);
    }
  }
  for (const [sort, { keys, opened }] of tried) if (!opened) for (const id of keys) note(lost, id, sort);
  return lost;
}

function note({ counts, keys }: Lost, id: string, sort: string): void {
  counts.set(sort, (counts.get(sort) ?? 0) + 1);
  keys.add(id);
}

async function opens(hsm: Hsm, key: KeyReference): Promise<boolean> {
  try {
    await hsm.evidence(key);
    return true;
  } catch (error) {
    if (isKeyLost(error)) return false;
    throw error;
  }
}

/** Records the finding; without the wrapping key in use nothing can be made, which hinders every creation, too. */
async function settle({ store, clock }: LostKeysParts, tokens: Tokens, { counts, keys, total }: Lost): Promise<void> {
  const none = unusableIn(tokens);
  if (keys.size === 0 && none.length === 0) return withdrawFinding(store, 'keys-lost');
  const sorts = [...counts].map(([sort, count]) => `${count} ${sort}`).join(', ');
  const lost = keys.size === 0 ? [] : [`${keys.size} of ${total} stored keys do not open: ${sorts}`];
  const isAll = keys.size > 0 && keys.size === total;
  await recordFinding(store, clock, {
    name: 'keys-lost',
    message: [...lost, ...none].join('; '),
    ...(none.length > 0 || isAll ? { hinders: true as const } : {}),
  });
}
