// Which versions of etcd keep the promises that a shared store needs.
import { status } from '@grpc/grpc-js';
import type { EtcdClient } from './client.ts';
import { EtcdError } from './outcome.ts';

/**
 * The first version of each line without the known faults: lost watch events (before 3.4.31 and 3.5.13), renewals and linearizable reads that
 * were stale (before 3.6.9), certificate revocation bypassed, unbounded reads on the peer port (before 3.6.14).
 */
const leastPatches: Readonly<Record<string, number>> = { '3.5': 33, '3.6': 14, '3.7': 1 };
const newestKnownMinor = 7;

/** Why a version is refused; undefined when it is fit. */
export function versionProblem(version: string): string | undefined {
  const [, major, minor, patch, pre] = /^(\d+)\.(\d+)\.(\d+)(-.+)?$/.exec(version) ?? [];
  const least = leastPatches[`${major}.${minor}`];
  const isNewer = major === '3' && Number(minor) > newestKnownMinor;
  if (pre === undefined && (isNewer || (least !== undefined && Number(patch) >= least))) return undefined;
  return `etcd ${version} is too old: it loses watch events or answers stale reads; use 3.6.14 or later (or 3.5.33, or 3.7.1)`;
}

/** Longer than other calls take: it is asked once, at a start, when the machine has much to do. */
const statusDeadlineMs = 5_000;

/**
 * Asks every endpoint that answers for its version, at least one. Throws an Error that names the endpoint and the reason: too old, or no
 * certificate that it takes.
 */
export async function requireFitServers(client: EtcdClient): Promise<void> {
  const { endpoints } = client;
  const answers = await Promise.allSettled(endpoints.map((endpoint) => client.status(endpoint, statusDeadlineMs)));
  const problems = answers.map((answer, index) => {
    if (answer.status === 'rejected') return { endpoint: endpoints[index], fatal: false, text: describe(answer.reason) };
    const text = versionProblem(answer.value.version);
    return text === undefined ? undefined : { endpoint: endpoints[index], fatal: true, text };
  });
  const refused = problems.find((problem) => problem?.fatal === true) ?? (problems.every(Boolean) ? problems[0] : undefined);
  if (refused !== undefined) throw new Error(`etcd at ${refused.endpoint}: ${refused.text}`);
}

function describe(error: unknown): string {
  if (!(error instanceof EtcdError)) return String(error);
  return error.code === status.DEADLINE_EXCEEDED ? 'it does not answer' : error.message;
}
