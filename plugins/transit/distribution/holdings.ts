// Appliances that hold a version of a key: each of them is asked through the shared store, opens it in its own token, and answers in a
// record.
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Job } from '../../../core/base/context.ts';
import type { ApplianceSeen, Appliances } from '../../../core/plugin/services/appliances.ts';
import type { StoreKey } from '../../../core/store/store.ts';
import { HsmError } from '../../../hsm/api.ts';
import type { Transit } from '../context.ts';
import { type Key, privatePurposes, referenceTo, type Version } from '../records/keyring.ts';
import type { DistributionQuestion, Holding } from '../records/records.ts';

export type DistributionParts = Pick<Transit, 'store' | 'tables' | 'hsm' | 'keyring'> & { readonly appliances: Appliances };

/** `silent`: it may answer requests, and has not said anything in time. `away`: it may not answer, so it was not asked. */
export type Found = {
  /** absent for an appliance that stands alone */
  readonly appliance?: ApplianceSeen;
  readonly isSelf: boolean;
  readonly holding: Holding | 'silent' | 'away';
};

const askedEverySeconds = 1;
const patienceMs = 10_000;
const lookEveryMs = 50;
/** A question that is still there then was left by an appliance that has ended. */
const leftBehindMs = 60_000;

/** Collects the answer of every appliance about a version, in at most ten seconds. Rejects with `cluster-unavailable`. */
export async function findHoldings(parts: DistributionParts, key: Key, version: Version): Promise<readonly Found[]> {
  const { store } = parts;
  const [all, own] = await Promise.all([parts.appliances.list(), holdingOf(parts, key, version)]);
  if (store.appliance === undefined) return [{ isSelf: true, holding: own }];
  const asked = all.filter(({ id, isIn }) => isIn && id !== store.appliance);
  const answers = asked.length === 0 ? new Map<string, Holding>() : await ask(parts, key, version, asked);
  return all.map((appliance) => {
    const isSelf = appliance.id === store.appliance;
    return { appliance, isSelf, holding: isSelf ? own : (answers.get(appliance.id) ?? (appliance.isIn ? 'silent' : 'away')) };
  });
}

/**
 * Answers the questions of others, in each appliance of a cluster. A question is newer than the version that it is about, so an appliance that
 * sees it has what the others have of that version.
 */
export function distributionJobs(parts: DistributionParts, nowMs = (): number => performance.now()): readonly Job[] {
  const { store, tables, keyring } = parts;
  const { appliance } = store;
  if (appliance === undefined) return [];
  const seen = new Map<string, number>();
  const job: Job = {
    name: 'transit-distribution',
    everySeconds: askedEverySeconds,
    isOfEach: true,
    async run(signal) {
      store.refresh();
      const questions = Array.from(tables.distributionQuestions.entries([]), ([[id], question]) => [String(id), question] as const);
      for (const id of seen.keys()) if (!questions.some(([other]) => other === id)) seen.delete(id);
      for (const [id, question] of questions) {
        if (signal.aborted) return;
        const since = seen.get(id) ?? nowMs();
        seen.set(id, since);
        if (nowMs() - since > leftBehindMs) await forget(parts, id);
        if (question.appliance === appliance || tables.distributionAnswers.has([id, appliance])) continue;
        const holding = await answerTo(parts, keyring.find(question.tenantId, question.name), question);
        await store.write((transaction) => {
          if (transaction.has(tables.distributionQuestions, [id])) transaction.put(tables.distributionAnswers, [id, appliance], holding);
        });
      }
    },
  };
  return [job];
}

async function ask(
  parts: DistributionParts,
  { tenantId, name, record }: Key,
  { number }: Version,
  asked: readonly ApplianceSeen[],
): Promise<ReadonlyMap<string, Holding>> {
  const { store, tables } = parts;
  const id = randomUUID();
  const question = { appliance: store.appliance ?? '', tenantId, name, keyId: record.id, version: number };
  await store.write((transaction) => transaction.put(tables.distributionQuestions, [id], question));
  try {
    for (const deadlineMs = performance.now() + patienceMs; performance.now() < deadlineMs; await setTimeout(lookEveryMs)) {
      store.refresh();
      if (asked.every((one) => tables.distributionAnswers.has([id, one.id]))) break;
    }
    return new Map(Array.from(tables.distributionAnswers.entries([id]), ([answer, holding]) => [String(answer[1]), holding]));
  } finally {
    await forget(parts, id);
  }
}

async function forget({ store, tables }: DistributionParts, id: string): Promise<void> {
  await store.write((transaction) => {
    const answers: readonly StoreKey[] = Array.from(transaction.keys(tables.distributionAnswers, [id]));
    for (const answer of answers) transaction.delete(tables.distributionAnswers, answer);
    transaction.delete(tables.distributionQuestions, [id]);
  });
}

async function answerTo(parts: DistributionParts, key: Key | undefined, { keyId, version }: DistributionQuestion): Promise<Holding> {
  const found = key?.record.id === keyId ? [...parts.keyring.versions(key)].find(({ number }) => number === version) : undefined;
  if (key === undefined || found === undefined) return { isHeld: false, reason: 'the store of the appliance does not have it' };
  return holdingOf(parts, key, found);
}

/** Opens the version in the own token, and reads from that which one it is. A version without a private part is in the store alone. */
async function holdingOf({ hsm }: DistributionParts, key: Key, version: Version): Promise<Holding> {
  const { stored } = version.record;
  if (stored === undefined) return { isHeld: true };
  try {
    const references = privatePurposes(key, version).map((purpose) => referenceTo(key, version, purpose));
    const [main] = await Promise.all(references.map((reference) => hsm.evidence(reference)));
    return { isHeld: true, ...(main === undefined ? {} : { token: { name: stored.token, serial: main.token.serial } }) };
  } catch (error) {
    if (!(error instanceof HsmError)) throw error;
    return { isHeld: false, reason: `its token ${stored.token} does not open it: ${error.message}` };
  }
}
