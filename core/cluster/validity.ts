// Until when this appliance may answer: counted from the sending of its last sign of life, on clocks that no one sets.
import { z } from 'zod';
import { firstLevel, type Levels } from '../store/records/level.ts';

/**
 * Milliseconds. An appliance answers for so long after it sent the last sign of life that was committed; a member that waits longer declares
 * it out. Longer than elections of etcd take (0.6 to 1.1 s), because no sign is committed during one; shorter than the two seconds in which
 * the others must go on.
 */
export const validMs = 1_500;
/** Those who wait count so much more: a tenth for clocks that run at different rates, and the pause between a check and its answer. */
export const waitMsFor = (member: { readonly validMs: number }): number => member.validMs * 1.1 + 100;
export const waitMs = waitMsFor({ validMs });
/** A sign of life is sent this often when nothing else is. */
export const signEveryMs = 300;

/** A moment on two clocks, in milliseconds. */
export type Moment = {
  /** CLOCK_MONOTONIC, the same in all processes of a machine. It stands still while the machine is suspended. */
  readonly monotonicMs: number;
  /** the clock on the wall, which goes on then but can be set */
  readonly wallMs: number;
};

export const machineMoment = (): Moment => ({ monotonicMs: Number(process.hrtime.bigint() / 1_000n) / 1_000, wallMs: Date.now() });

/**
 * Whether an appliance that sent its last committed sign at `sent` may answer at `now`. A machine that was suspended sees it on the wall
 * clock. A wall clock that is set forward ends the validity until the next sign; one that is set back changes nothing. `forMs`: for uses of keys, what
 * the administrator allows.
 */
export function isValid(sent: Moment | undefined, now: Moment, forMs = validMs): boolean {
  if (sent === undefined) return false;
  return now.monotonicMs - sent.monotonicMs < forMs && now.wallMs - sent.wallMs < forMs;
}

const memberStates = ['in', 'expelled', 'out', 'removing', 'removed'] as const;
export type MemberState = (typeof memberStates)[number];

/** What a member has last written about itself, or another member about it. */
export type MemberSign = {
  readonly name: string;
  /** of the program */
  readonly version: string;
  /** of the records that it can work with */
  readonly levels: Levels;
  /** `validMs` of its program: those who wait for it go by that */
  readonly validMs: number;
  /** drawn at each start of the appliance: a copy of its data directory that runs beside it has another one */
  readonly run: string;
  /** URL that its certificates and links name; absent: its program does not say that */
  readonly publicUrl?: string | undefined;
  /**
   * `in`: may answer, and is waited for. `expelled`: it did not apply what it should; its signs lose, so that it soon counts as silent.
   * `out`: it answers no more, and nobody waits for it. `removing`: it was removed while it gave signs, which lose from then on. `removed`: it is
   * out for ever; the key stays, so that neither it nor its name comes in again.
   */
  readonly state: MemberState;
  /** everything up to this revision is in its store */
  readonly applied: number;
  /** what its clock on the wall showed when it sent this; absent: its program does not say that */
  readonly wallMs?: number | undefined;
};

/** What every sign of an appliance says of it. */
export type MemberSelf = Pick<MemberSign, 'name' | 'version' | 'levels' | 'run' | 'publicUrl'>;

/** A member as this appliance sees it. */
export type SeenMember = MemberSign & {
  /** of the key, for the compare that declares it out */
  readonly revision: number;
  /** when that was seen here */
  readonly seenMs: number;
};

/** Whether a member may still answer, so that changes wait for it. */
export function isWaitedFor({ state }: Pick<MemberSign, 'state'>): boolean {
  return state !== 'out' && state !== 'removed';
}

/** Whether a member was removed for ever, or is about to be. */
export function wasRemoved({ state }: Pick<MemberSign, 'state'>): boolean {
  return state === 'removing' || state === 'removed';
}

/** Who has to have applied a revision before it may be acknowledged. */
export class Members {
  readonly #own: string;
  readonly #seen = new Map<string, SeenMember>();

  constructor(own: string) {
    this.#own = own;
  }

  /** `sign`: undefined when the member was removed. What is older than what was seen before is left out. */
  see(id: string, sign: MemberSign | undefined, revision: number, nowMs: number): void {
    if (revision <= (this.#seen.get(id)?.revision ?? 0)) return;
    if (sign === undefined) this.#seen.delete(id);
    else this.#seen.set(id, { ...sign, revision, seenMs: nowMs });
  }

  get all(): ReadonlyMap<string, SeenMember> {
    return this.#seen;
  }

  /** The other members that may answer and have not said that they applied a revision. Asked when this appliance has applied it. */
  behind(revision: number): [id: string, member: SeenMember][] {
    return this.#waitedFor().filter(([, { applied }]) => applied < revision);
  }

  /** Up to where `behind` is empty, when this appliance has applied everything up to `position`. */
  settled(position: number): number {
    return Math.min(position, ...this.#waitedFor().map(([, { applied }]) => applied));
  }

  /** Those of `behind` that may not answer any more, because their last sign is too old: they are to be declared out. */
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
  // Programs that came before there were levels do not say these.
  levels: z.object({ oldest: z.int(), newest: z.int() }).default({ oldest: firstLevel, newest: firstLevel }),
  validMs: z.number().positive().default(validMs),
  run: z.string(),
  publicUrl: z.string().optional(),
  state: z.enum(memberStates),
  applied: z.int(),
  wallMs: z.number().optional(),
});

/** Throws on anything else: what cannot be read must not be taken for "out". Fields of later versions are left out. */
export function decodeSign(value: Buffer): MemberSign {
  return memberSign.parse(JSON.parse(value.toString('utf8')));
}
