// Certificates of all authorities as devices: what is of one identity below one authority is one device, whose newest certificate counts.
import { lifeOf } from '../../charts/life.ts';
import { commonNameOf } from '../authorities/common-name.ts';
import type { CertificateState } from '../authorities/state.ts';

/** A certificate with the authority that issued it. */
export type Issued = Pick<CertificateState, 'serial' | 'subject' | 'names' | 'not-before' | 'not-after' | 'via' | 'status'> & {
  readonly authority: string;
  /** serial number of the first of its line; absent for the first itself */
  readonly line?: string;
};

/** `late` and `due`: a tenth and a third of the life are left, and nothing has replaced it. */
export const deviceStates = ['late', 'due', 'fresh', 'ended', 'revoked'] as const;
export type DeviceState = (typeof deviceStates)[number];

export type Device = {
  readonly key: string;
  /** the certificate that counts: the valid one that ends last, or else the last one */
  readonly current: Issued;
  /** all others, the newest first: those that it has replaced, and those of enrolments apart, which may be valid still */
  readonly others: readonly Issued[];
  readonly state: DeviceState;
};

/** Devices, those that need a person first, and among these the one with the least left. */
export function devicesOf(all: readonly Issued[], nowMs: number): readonly Device[] {
  const groups = new Map<string, Issued[]>();
  for (const one of all) {
    const key = keyOf(one);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  const devices = [...groups].flatMap(([key, group]) => deviceOf(key, group, nowMs) ?? []);
  const rank = ({ state }: Device): number => deviceStates.indexOf(state);
  return devices.toSorted(
    (left, right) =>
      rank(left) - rank(right) || left.current['not-after'].localeCompare(right.current['not-after']) || left.key.localeCompare(right.key),
  );
}

/** Number of devices in each state. */
export function countStates(devices: readonly Device[]): Readonly<Record<DeviceState, number>> {
  const counts = { late: 0, due: 0, fresh: 0, ended: 0, revoked: 0 };
  for (const { state } of devices) counts[state] += 1;
  return counts;
}

/** A name for people: the common name, or the subject where it has none or several, or the first other name, or the serial number. */
export function titleOfDevice({ current: { subject, names, serial } }: Device): string {
  return commonNameOf(subject) ?? (subject === '' ? (names[0] ?? serial) : subject);
}

/** First certificate of its line: what renewals connect. */
export const lineOf = ({ line, serial }: Issued): string => line ?? serial;

/** A certificate of each line in which one is valid, and that which counts: their lines are all that the device has to show. */
export function lastOfLines({ key, current }: Device, all: readonly Issued[]): readonly Issued[] {
  const lines = new Map<string, Issued>([[lineOf(current), current]]);
  for (const one of all) {
    const line = lineOf(one);
    if (keyOf(one) === key && one.status === 'valid' && !lines.has(line)) lines.set(line, one);
  }
  return [...lines.values()];
}

/** Identity below an authority. Without names a certificate is known by its line alone. */
function keyOf(issued: Issued): string {
  const { authority, subject, names } = issued;
  const identity = subject === '' && names.length === 0 ? lineOf(issued) : [subject, ...names.toSorted()].join('\n');
  return `${authority}\n${identity}`;
}

function deviceOf(key: string, group: readonly Issued[], nowMs: number): Device | undefined {
  const newestFirst = group.toSorted((left, right) => right['not-after'].localeCompare(left['not-after']));
  const current = newestFirst.find(({ status }) => status === 'valid') ?? newestFirst[0];
  if (current === undefined) return undefined;
  return { key, current, others: newestFirst.filter((one) => one !== current), state: stateOf(current, nowMs) };
}

function stateOf(current: Issued, nowMs: number): DeviceState {
  if (current.status === 'revoked') return 'revoked';
  if (current.status === 'expired') return 'ended';
  const { tone } = lifeOf(current, nowMs);
  return tone === 'bad' ? 'late' : tone === 'warn' ? 'due' : 'fresh';
}
