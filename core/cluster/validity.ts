// Validity: the time for which this appliance may answer, counted from the sending of its last heartbeat, on clocks that cannot be set.
import { z } from 'zod';
import { firstLevel, type Levels } from '../store/records/level.ts';

/**
 * Validity in milliseconds. An appliance answers for this long after it sent its last committed heartbeat; a member that waits longer declares
 * it out. Longer than elections of etcd take (0.6 to 1.1 s), because no sign is committed during one; shorter than the two seconds in which
 * the others must continue.
 */
export const validMs = 1_500;
/** Validity as counted by waiting members: a tenth more for clocks that run at different rates, and the pause between a check and its answer. */
export const waitMsFor = (member: { readonly validMs: number }): number => member.validMs * 1.1 + 100;
export const waitMs = waitMsFor({ validMs });
/** Interval of heartbeats when nothing else is sent. */
export const signEveryMs = 300;

/** A moment on two clocks, in milliseconds. */
export type Moment = {
  /** CLOCK_MONOTONIC, the same in all processes of a machine; it stops while the machine is suspended */
  readonly monotonicMs: number;
  /** wall clock, which continues then but can be set */
  readonly wallMs: number;
};

export const machineMoment = (): Moment => ({ monotonicMs: Number(process.hrtime.bigint() / 1_000n) / 1_000, wallMs: Date.now() });

/**
 * Tells whether an appliance that sent its last committed sign at `sent` may answer at `now`. A machine that was suspended notices it by the wall
 * clock. A wall clock that is set forward ends the validity until the next sign; one that is set back changes nothing. `forMs`: for uses of
 * keys, the time that the administrator allows.
 */
export function isValid(sent: Moment | undefined, now: Moment, forMs = validMs): boolean {
  if (sent === undefined) return false;
  return now.monotonicMs - sent.monotonicMs < forMs && now.wallMs - sent.wallMs < forMs;
}

const memberStates = ['in', 'expelled', 'out', 'removing', 'removed'] as const;
export type MemberState = (typeof memberStates)[number];

/** Last sign of a member, written by itself or by another member. */
export type MemberSign = {
  readonly name: string;
  /** version of the program */
  readonly version: string;
  /** levels of records that it can work with */
  readonly levels: Levels;
  /** `validMs` of its program, used by those who wait for it */
  readonly validMs: number;
  /** drawn at each start of the appliance: a running copy of its data directory has another one */
  readonly run: string;
  /** URL in its certificates and links; absent: its program does not report it */
  readonly publicUrl?: string | undefined;
  /**
   * `in`: may answer, and is waited for. `expelled`: it did not apply changes in time; its signs lose, so that it soon counts as silent.
   * `out`: it no longer answers and is not waited for. `removing`: it was removed while it gave signs, which lose from then on. `removed`: it is
   * out permanently; the key stays, so that neither it nor its name can join again.
   */
  readonly state: MemberState;
  /** revision up to which everything is in its store */
  readonly applied: number;
  /** its wall clock when it sent this; absent: its program does not report it */
  readonly wallMs?: number | undefined;
};

/** Description of an appliance in each of its signs. */
export type MemberSelf = Pick<MemberSign, 'name' | 'version' | 'levels' | 'run' | 'publicUrl'>;

/** A member as this appliance sees it. */
export type SeenMember = MemberSign & {
  /** revision of the key, for the compare that declares it out */
  readonly revision: number;
  /** time at which this revision was seen here */
  readonly seenMs: number;
};

/** Tells whether a member may still answer, so that changes wait for it. */
export function isWaitedFor({ state }: Pick<MemberSign, 'state'>): boolean {
  return state !== 'out' && state !== 'removed';
}

/** Tells whether a member was removed, or is about to be. */
export function wasRemoved({ state }: Pick<MemberSign, 'state'>): boolean {
  return state === 'removing' || state === 'removed';
}

/** Members that must have applied a revision before it may be acknowledged. */
export class Members {
  readonly #own: string;
  readonly #seen = new Map<string, SeenMember>();

  constructor(own: string) {
    this.#own = own;
  }

  /** Records a sign. `sign`: undefined if the member was removed. A sign older than the last seen one is ignored. */
  see(id: string, sign: MemberSign | undefined, revision: number, nowMs: number): void {
    if (revision <= (this.#seen.get(id)?.revision ?? 0)) return;
    if (sign === undefined) this.#seen.delete(id);
    else this.#seen.set(id, { ...sign, revision, seenMs: nowMs });
  }

  get all(): ReadonlyMap<string, SeenMember> {
    return this.#seen;
  }

  /** Other members that may answer and have not reported that they applied a revision. Called when this appliance has applied it. */
  behind(revision: number): [id: string, member: SeenMember][] {
    return this.#waitedFor().filter(([, { applied }]) => applied < revision);
  }

  /** Revision up to which `behind` is empty, if this appliance has applied everything up to `position`. */
  settled(position: number): number {
    return Math.min(position, ...this.#waitedFor().map(([, { applied }]) => applied));
  }

  /** Members of `behind` whose last sign is too old, so that they may no longer answer: they are to be declared out. */
  overdue(revision: number, nowMs: number): [id: string, member: SeenMember][] {
    return this.behind(revision).filter(([, member]) => nowMs - member.seenMs > waitMsFor(member));
  }

  /** The other members that may answer. */
  #waitedFor(): [id: string, member: SeenMember][] {
    return [...this.#seen].filter(([id, member]) => id !== this.#own && isWaitedFor(member));
  }
}

export function encodeSign(sign: MemberSign): Buffer {
  return Buffer.from(JSON.stringify(sign));
}

const memberSign = z.object({
  name: z.string(),
  version: z.string(),
  // Programs from before the levels do not report them.
  levels: z.object({ oldest: z.int(), newest: z.int() }).default({ oldest: firstLevel, newest: firstLevel }),
  validMs: z.number().positive().default(validMs),
  run: z.string(),
  publicUrl: z.string().optional(),
  state: z.enum(memberStates),
  applied: z.int(),
  wallMs: z.number().optional(),
});

/** Decodes a sign. Throws on anything else: an unreadable one must not be taken for "out". Fields of later versions are ignored. */
export function decodeSign(value: Buffer): MemberSign {
  return memberSign.parse(JSON.parse(value.toString('utf8')));
}
