// The answer of `health`: the state of each part, with the reason when it has a problem; and alarms when that changes.
import type { Audit } from '../../core/audit/record.ts';
import type { Clock, Log } from '../../core/base/context.ts';
import { defined } from '../../core/base/defined.ts';
import type { Health } from '../../core/platform/system/health-endpoint.ts';
import { describeFault } from '../../core/http/response/problem.ts';
import type { Hsm, TokenStatus } from '../../hsm/api.ts';
import type { LostCredentials } from '../membership/membership.ts';
import type { ClusterWay } from '../state/cluster-way.ts';
import { readDisk } from '../state/disk.ts';
import type { WrappingState } from '../wrapping-keys/record.ts';

export type HealthParts = {
  readonly hsm: Hsm;
  readonly audit: Audit;
  readonly clock: Clock;
  /** the state of the wrapping key of a token */
  readonly wrapping: (token: string) => WrappingState;
  /** undefined: the disk is not checked */
  readonly directory?: string | undefined;
  readonly store?: { readonly isStalled: boolean };
  /** what was done to the files of store or store key; absent: they are not looked at */
  readonly damage?: (() => string | undefined) | undefined;
  /** whether scheduled backups are made; absent, or undefined: none are scheduled */
  readonly backup?: (() => Part | undefined) | undefined;
  /** what nobody has answered yet; absent: nothing was found */
  readonly findings?: (() => readonly HealthPart[]) | undefined;
  /** why the listeners' key in a token cannot sign; absent, or undefined: it can, or is in the store */
  readonly listenerKeyFault?: (() => string | undefined) | undefined;
  /** absent: the appliance stands alone */
  readonly cluster?: SeenCluster | undefined;
  /** absent, or undefined: all have good ones */
  readonly lostCredentials?: (() => LostCredentials | undefined) | undefined;
};

type SeenCluster = Pick<ClusterWay, 'isValid' | 'isIsolated' | 'missing'>;

/** One part as a process sees it. `hinders`: requests fail because of it, so that health is 503. */
export type HealthPart = {
  /** `token main`, `audit` */
  readonly name: string;
  readonly state: string;
  /** one sentence for people, present when there is a problem */
  readonly reason?: string | undefined;
  readonly hinders?: true | undefined;
};

type Part = Omit<HealthPart, 'name'>;

/** The parts as this process sees them. No call to a token is made. */
export function examineParts(parts: HealthParts): readonly HealthPart[] {
  const others = {
    ...{ audit: auditPart(parts.audit), ...shippingPart(parts.audit), disk: diskPart(parts), clock: clockPart(parts.clock) },
    ...storePart(parts.damage?.()),
    ...listenerKeyPart(parts.listenerKeyFault?.()),
    ...defined({ backup: parts.backup?.(), cluster: parts.cluster && clusterPart(parts.cluster, parts.lostCredentials?.()) }),
  };
  const tokens = parts.hsm.status();
  return [
    ...tokens.map((token) => ({ name: tokenPrefix + token.name, ...tokenPart(token, tokens, parts.wrapping) })),
    ...Object.entries(others).map(([name, part]) => ({ name, ...part })),
    ...foundParts(parts),
  ];
}

/** What was found is in the store: where that cannot be read, its own part says so. */
function foundParts({ findings, damage }: HealthParts): readonly HealthPart[] {
  try {
    return findings?.() ?? [];
  } catch (error) {
    if (damage?.() === undefined) throw error;
    return [];
  }
}

const tokenPrefix = 'token ';

/** `ok`: all is well. `degraded` (200): requests are served, and a person should act. `down` (503): some requests cannot be served. */
export function formatHealth(parts: readonly HealthPart[]): Health {
  const hindered = parts.some(({ hinders }) => hinders === true);
  const status = hindered ? 'down' : parts.some(({ reason }) => reason !== undefined) ? 'degraded' : 'ok';
  const isToken = ({ name }: HealthPart): boolean => name.startsWith(tokenPrefix);
  return {
    healthy: !hindered,
    report: {
      status,
      hsm: { tokens: parts.filter(isToken).map(({ name, ...part }) => ({ name: name.slice(tokenPrefix.length), ...shown(part) })) },
      ...Object.fromEntries(parts.filter((part) => !isToken(part)).map(({ name, ...part }) => [name, shown(part)])),
    },
  };
}

/** The public fields of a part. */
function shown({ state, reason }: Part): object {
  return { state, ...defined({ reason }) };
}

function tokenPart(token: TokenStatus, all: readonly TokenStatus[], wrapping: HealthParts['wrapping']): Part {
  const { name, state, reason = 'the token does not work', group } = token;
  if (state !== 'up') {
    const goesOn = group !== undefined && all.some((other) => other.group?.name === group.name && other.group.opensKeys);
    return goesOn ? { state, reason: `${reason}; the other tokens of its group go on` } : { state, reason, hinders: true };
  }
  if (group?.opensKeys === false) return { state, reason: notInGroup };
  return wrapping(group?.name ?? name).state === 'incomplete' ? { state, reason: incompleteRotation } : { state };
}

const notInGroup = 'the token does not have the wrapping key of its group yet, so no key opens in it: it gets the next one';

const incompleteRotation =
  'some keys could not be rewrapped, so the old wrapping key is kept: system:logs names them; the next start tries again';

function auditPart(audit: Audit): Part {
  if (audit.writable) return { state: 'up' };
  // After the comma the message of the system has paths, which are not public.
  const why = audit.problem === undefined ? '' : ` (${audit.problem.split(',')[0] ?? ''})`;
  return { state: 'down', reason: `the audit trail cannot be written${why}, so changes and uses of keys are refused`, hinders: true };
}

/** Told only while it is a problem: most appliances ship nothing. Health is public, so the receiver is not named. */
function shippingPart({ behind }: Audit): { readonly shipping?: Part } {
  if (behind === undefined) return {};
  return {
    shipping: {
      state: 'behind',
      reason: 'a receiver of the audit trail is too far behind, so changes and uses of keys are refused',
      hinders: true,
    },
  };
}

/** Told only while it is a problem. */
function storePart(damage: string | undefined): { readonly store?: Part } {
  if (damage === undefined) return {};
  const reason = `${damage}, so changes are refused: put back what was there, and start again if it is still said then; or start again with what is there now`;
  return { store: { state: 'damaged', reason, hinders: true } };
}

/** Told only while it is a problem: by default the key is in the store. */
function listenerKeyPart(fault: string | undefined): { readonly listenerKey?: Part } {
  if (fault === undefined) return {};
  const reason = `new TLS connections fail, because the token does not sign with the key of the listeners (${fault})`;
  return { listenerKey: { state: 'down', reason, hinders: true } };
}

function diskPart({ directory, store }: Pick<HealthParts, 'directory' | 'store'>): Part {
  if (store?.isStalled === true)
    return { state: 'stalled', reason: 'the disk of the data directory does not answer, so changes wait', hinders: true };
  if (directory === undefined) return { state: 'up' };
  try {
    const { problem } = readDisk(directory);
    return problem === undefined ? { state: 'up' } : { state: 'low', reason: problem };
  } catch {
    return { state: 'down', reason: 'the data directory cannot be read', hinders: true };
  }
}

function clockPart({ doubt, correction }: Clock): Part {
  if (doubt !== undefined) return { state: 'implausible', reason: doubt };
  return correction === undefined ? { state: 'up' } : { state: 'outvoted', reason: correction };
}

/** Health is public, so nobody is named: GET /v1/state/system/cluster does that. */
function clusterPart({ isValid, isIsolated, missing }: SeenCluster, lost: LostCredentials = { own: undefined, others: [] }): Part {
  if (lost.own !== undefined) return { state: 'shut-out', reason: lost.own, ...(isValid || isIsolated ? {} : { hinders: true }) };
  if (isIsolated)
    return {
      state: 'isolated',
      reason: 'the majority of the cluster cannot be reached: keys are used from the last state, everything else is refused',
    };
  if (!isValid)
    return {
      state: 'cut-off',
      reason: 'the majority of the cluster cannot be reached, so requests are refused: ask another appliance',
      hinders: true,
    };
  if (lost.others.length > 0)
    return {
      state: 'incomplete',
      reason: `the certificates of ${countOf(lost.others)} of the cluster were revoked, so that ${lost.others.length === 1 ? 'it comes' : 'they come'} in no more: the state of the cluster says which`,
    };
  if (missing.length === 0) return { state: 'up' };
  return { state: 'incomplete', reason: `${countOf(missing)} of the cluster cannot answer: the state of the cluster says which` };
}

function countOf({ length }: readonly string[]): string {
  return length === 1 ? 'an appliance' : `${length} appliances`;
}

/** How often the state is checked for alarms. */
const lookEveryMs = 2_000;

/**
 * Looks at the parts every two seconds. Writes one warning to system:logs when a part gets a problem, and a line when it is well again.
 * Returns a function that ends the watch.
 */
export function watchHealth(examine: () => readonly HealthPart[] | Promise<readonly HealthPart[]>, log: Log): () => void {
  let before = new Map<string, string>();
  const look = async (): Promise<void> => {
    const now = problemsOf(await examine());
    for (const [part, reason] of now) {
      if (withoutTimes(before.get(part)) !== withoutTimes(reason)) log.warn(`alarm: ${part}: ${reason}`, { part });
    }
    for (const part of before.keys()) if (!now.has(part)) log.info(`well again: ${part}`, { part });
    before = now;
  };
  // A store that cannot be read now may be readable later.
  const lookSafely = (): Promise<void> =>
    look().catch((error: unknown) => log.warn('the state of the appliance could not be checked', describeFault(error)));
  let looking = lookSafely();
  const timer = setInterval(() => {
    looking = looking.then(lookSafely);
  }, lookEveryMs).unref();
  return () => clearInterval(timer);
}

/** Times in a reason would make every check a new alarm. */
function withoutTimes(reason: string | undefined): string | undefined {
  return reason?.replace(/\d{4}-\S+Z/g, '');
}

/** Reason by part. */
function problemsOf(parts: readonly HealthPart[]): Map<string, string> {
  return new Map(parts.flatMap(({ name, reason }) => (reason === undefined ? [] : [[name, reason]])));
}
