// What `health` answers: each part of the appliance with its state and, when it is not well, the reason; and alarms when that changes.
import type { Audit } from '../../core/audit/record.ts';
import type { Clock, Log } from '../../core/base/context.ts';
import type { Health } from '../../core/platform/system/health-endpoint.ts';
import { describeFault } from '../../core/http/response/problem.ts';
import type { Hsm } from '../../hsm/api.ts';
import { readDisk } from '../state/disk.ts';
import type { WrappingState } from '../wrapping-keys/record.ts';

export type HealthParts = {
  readonly hsm: Hsm;
  readonly audit: Audit;
  readonly clock: Clock;
  /** where the wrapping key of a token stands */
  readonly wrapping: (token: string) => WrappingState;
  /** undefined: the disk is not looked at */
  readonly directory?: string | undefined;
};

/** `reason`: one sentence for people. `hinders`: requests fail because of it, so the answer is 503. */
type Part = { readonly state: string; readonly reason?: string; readonly hinders?: true };

/**
 * `ok`: all is well. `degraded` (200): requests are served, and a person should act. `down` (503): some requests cannot be served.
 * No call to a token is made.
 */
export function reportHealth(parts: HealthParts): Health {
  const tokens = parts.hsm.status().map(({ name, state, reason }) => ({ name, ...tokenPart(state, reason, parts.wrapping(name)) }));
  const others = { audit: auditPart(parts.audit), disk: diskPart(parts.directory), clock: clockPart(parts.clock) };
  const all: readonly Part[] = [...tokens, ...Object.values(others)];
  const hindered = all.some(({ hinders }) => hinders === true);
  const status = hindered ? 'down' : all.some(({ reason }) => reason !== undefined) ? 'degraded' : 'ok';
  return {
    healthy: !hindered,
    report: {
      status,
      hsm: { tokens: tokens.map(shown) },
      ...Object.fromEntries(Object.entries(others).map(([name, part]) => [name, shown(part)])),
    },
  };
}

/** What of a part is told. */
function shown<P extends Part>({ hinders: _hinders, ...told }: P): Omit<P, 'hinders'> {
  return told;
}

function tokenPart(state: string, reason = 'the token does not work', wrapping: WrappingState): Part {
  if (state !== 'up') return { state, reason, hinders: true };
  return wrapping.state === 'incomplete' ? { state, reason: incompleteRotation } : { state };
}

const incompleteRotation =
  'some keys could not be wrapped anew, so the old wrapping key is kept: system:logs names them; the next start tries again';

function auditPart(audit: Audit): Part {
  if (audit.writable) return { state: 'up' };
  // Behind a comma the system names paths, which are nobody's business.
  const why = audit.problem === undefined ? '' : ` (${audit.problem.split(',')[0] ?? ''})`;
  return { state: 'down', reason: `the audit trail cannot be written${why}, so changes and uses of keys are refused`, hinders: true };
}

function diskPart(directory: string | undefined): Part {
  if (directory === undefined) return { state: 'up' };
  try {
    return readDisk(directory).isLow
      ? { state: 'low', reason: 'the disk of the data directory is nearly full: make room, or changes will be refused' }
      : { state: 'up' };
  } catch {
    return { state: 'down', reason: 'the data directory cannot be read', hinders: true };
  }
}

function clockPart({ doubt }: Clock): Part {
  return doubt === undefined ? { state: 'up' } : { state: 'implausible', reason: doubt };
}

/** How often alarms are looked for. */
const lookEveryMs = 2_000;

/** Writes a warning to system:logs when a part stops being well, once, and a line when it is well again. Answers how to end that. */
export function watchHealth(parts: HealthParts, log: Log): () => void {
  let before = new Map<string, string>();
  const look = (): void => {
    const now = problemsOf(reportHealth(parts));
    for (const [part, reason] of now) {
      if (withoutTimes(before.get(part)) !== withoutTimes(reason)) log.warn(`alarm: ${part}: ${reason}`, { part });
    }
    for (const part of before.keys()) if (!now.has(part)) log.info(`well again: ${part}`, { part });
    before = now;
  };
  look();
  const timer = setInterval(() => withoutThrowing(look, log), lookEveryMs).unref();
  return () => clearInterval(timer);
}

/** What a timer throws would end the process; a store that cannot be read now can be later. */
function withoutThrowing(look: () => void, log: Log): void {
  try {
    look();
  } catch (error) {
    log.warn('the state of the appliance could not be looked at', describeFault(error));
  }
}

/** Times inside a reason would make each look a new alarm. */
function withoutTimes(reason: string | undefined): string | undefined {
  return reason?.replace(/\d{4}-\S+Z/g, '');
}

/** Reason by part. */
function problemsOf({ report }: Health): Map<string, string> {
  const { tokens } = report['hsm'] as { tokens: readonly { name: string; reason?: string }[] };
  const others = Object.entries(report).filter(([name]) => name !== 'hsm' && name !== 'status') as [string, Part][];
  const named: (readonly [string, string | undefined])[] = [
    ...tokens.map(({ name, reason }) => [`token ${name}`, reason] as const),
    ...others.map(([name, { reason }]) => [name, reason] as const),
  ];
  return new Map(named.flatMap(([part, reason]) => (reason === undefined ? [] : [[part, reason]])));
}
