// Health of all workers as one: each part as the worker sees it for which it is worst, and whether every worker answers.
import type { HealthPart } from '../../core/base/context.ts';

/** Report of one worker. Without `parts` it did not report: `fault` continues a sentence that begins with its name. */
export type WorkerReport = {
  readonly worker: number;
  readonly parts?: readonly HealthPart[] | undefined;
  readonly fault?: string | undefined;
  /** it may hold connections and does not answer on them */
  readonly hangs?: true | undefined;
};

/** The parts of all workers, and the part `workers`. A reason that not every worker has names those that do. `own`: as the process that asks sees
 * them, while no worker has looked at anything, as right after an unseal. */
export function mergeHealth(reports: readonly WorkerReport[], own: () => readonly HealthPart[] = () => []): readonly HealthPart[] {
  const answers = reports.flatMap(({ worker, parts = [] }) => (parts.length === 0 ? [] : [{ worker, parts }]));
  const names = [...new Set(answers.flatMap(({ parts }) => parts.map(({ name }) => name)))];
  const seen = (name: string): readonly Seen[] =>
    answers.flatMap(({ worker, parts }) => parts.filter((part) => part.name === name).map((part) => ({ worker, part })));
  const parts = answers.length === 0 ? own() : names.map((name) => worstOf(seen(name)));
  return [...parts, workersPart(reports)];
}

type Seen = { readonly worker: number; readonly part: HealthPart };

function worstOf(seen: readonly Seen[]): HealthPart {
  const [worst] = seen.toSorted((left, right) => weight(right.part) - weight(left.part)) as [Seen];
  const { reason } = worst.part;
  const ill = seen.filter(({ part }) => part.reason !== undefined);
  if (reason === undefined || ill.length === seen.length) return worst.part;
  const workers = ill.map(({ worker }) => worker).join(', ');
  return { ...worst.part, reason: `${reason} (in worker ${workers} of ${seen.length})` };
}

function weight({ reason, hinders }: HealthPart): number {
  return hinders === true ? 2 : reason === undefined ? 0 : 1;
}

function workersPart(reports: readonly WorkerReport[]): HealthPart {
  const faults = reports.flatMap(({ worker, fault }) => (fault === undefined ? [] : [`worker ${worker} ${fault}`]));
  const hinders = reports.some(({ hangs }) => hangs === true);
  if (faults.length === 0) return { name: 'workers', state: 'up' };
  return { name: 'workers', state: 'incomplete', reason: faults.join('; '), ...(hinders ? { hinders } : {}) };
}
