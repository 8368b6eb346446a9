// Checks servers of etcd for a shared store: their version, and the limit of their transactions.
import { setTimeout } from 'node:timers/promises';
import type { EtcdClient } from './client.ts';
import { read } from './messages.ts';
import { EtcdError } from './outcome.ts';
import { status } from './status.ts';

/**
 * The first version of each line without the known faults: lost watch events (before 3.4.31 and 3.5.13), renewals and linearizable reads that
 * were stale (before 3.6.9), certificate revocation bypassed, unbounded reads on the peer port (before 3.6.14).
 */
const leastPatches: Readonly<Record<string, number>> = { '3.5': 33, '3.6': 14, '3.7': 1 };
const newestKnownMinor = 7;

/** Reason for which a version is refused; undefined if it is accepted. */
export function versionProblem(version: string): string | undefined {
  const [, major, minor, patch, pre] = /^(\d+)\.(\d+)\.(\d+)(-.+)?$/.exec(version) ?? [];
  const least = leastPatches[`${major}.${minor}`];
  const isNewer = major === '3' && Number(minor) > newestKnownMinor;
  if (pre === undefined && (isNewer || (least !== undefined && Number(patch) >= least))) return undefined;
  return `etcd ${version} is too old: it loses watch events or answers stale reads; use 3.6.14 or later (or 3.5.33, or 3.7.1)`;
}

/** Deadline longer than that of other calls: it is requested once, at a start, when the machine is busy. */
const statusDeadlineMs = 5_000;
const againMs = 500;

/** Thrown if no member of etcd answers, which may pass: after a power failure etcd starts later, or the network is not up yet. */
class EtcdSilent extends Error {
  override readonly name = 'EtcdSilent';
}

export type Wanted = {
  /** required operations in a transaction, and the number beyond which more is useless */
  readonly least: number;
  readonly most: number;
};

/**
 * Asks every endpoint for its version and for the limit of its transactions; at least one must answer. Resolves with the operations that all
 * that answer accept in one. Throws an Error that names the endpoint and the reason: too old, limit too low, or certificate not accepted.
 */
export async function requireFitServers(client: EtcdClient, { least, most }: Wanted = { least: 1, most: 1 }): Promise<number> {
  const { endpoints } = client;
  const answers = await Promise.allSettled(endpoints.map((endpoint) => examine(client, endpoint, { least, most })));
  const taken: number[] = [];
  const silent: string[] = [];
  for (const [index, answer] of answers.entries()) {
    const place = `etcd at ${endpoints[index]}`;
    if (answer.status === 'rejected') silent.push(`${place}: ${describe(answer.reason)}`);
    else if ('problem' in answer.value) throw new Error(`${place}: ${answer.value.problem}`);
    else taken.push(answer.value.operations);
  }
  if (taken.length === 0) throw new EtcdSilent(silent[0]);
  return Math.min(...taken);
}

/** As requireFitServers, repeated until one answers. `tell` receives the reason for the delay. */
export async function awaitFitServers(
  client: EtcdClient,
  wanted: Wanted,
  patienceMs: number,
  tell: (reason: string) => void,
): Promise<number> {
  for (const begunMs = performance.now(); ; await setTimeout(againMs)) {
    try {
      return await requireFitServers(client, wanted);
    } catch (error) {
      if (!(error instanceof EtcdSilent) || performance.now() - begunMs > patienceMs) throw error;
      tell(error.message);
    }
  }
}

type Examined = { readonly operations: number } | { readonly problem: string };

async function examine(client: EtcdClient, endpoint: string, wanted: Wanted): Promise<Examined> {
  const { version } = await client.status(endpoint, statusDeadlineMs);
  const problem = versionProblem(version);
  if (problem !== undefined) return { problem };
  const operations = await measureOperations(client, endpoint, wanted);
  if (operations !== undefined) return { operations };
  const { least } = wanted;
  return { problem: `it refuses transactions of ${least} operations: start all its members with --max-txn-ops=${least}, or more` };
}

/** Finds the largest half, quarter and so on of `most` that a member accepts; only a try reveals its --max-txn-ops. */
async function measureOperations(client: EtcdClient, endpoint: string, { least, most }: Wanted): Promise<number | undefined> {
  for (let operations = most; operations >= least; operations = nextBelow(operations, least)) {
    const one = read({ key: absentKey });
    const request = { compare: [], success: Array.from({ length: operations }, () => one), failure: [] };
    try {
      await client.readTxnAt(endpoint, request, statusDeadlineMs);
      return operations;
    } catch (error) {
      if (!(error instanceof EtcdError && error.isRefused)) throw error;
    }
  }
  return undefined;
}

/** A key that nobody writes. */
const absentKey = Buffer.from('keystored/none');

function nextBelow(operations: number, least: number): number {
  return operations > least ? Math.max(least, Math.floor(operations / 2)) : 0;
}

function describe(error: unknown): string {
  if (!(error instanceof EtcdError)) return String(error);
  return error.code === status.DEADLINE_EXCEEDED ? 'it does not answer' : error.message;
}
