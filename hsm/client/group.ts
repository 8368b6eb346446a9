// A group of tokens with the same own keys, used as one token: work goes to the least busy one, and to the next one when it fails there.
// Every use of a wrapped key can be repeated, and so can the making of a key that was not returned yet.
import { HsmError, type OwnKeyName, type TokenStatus, type UseOutcome } from '../api.ts';
import { parseBlob } from '../protocol/blob-format.ts';
import { asHsmError } from '../protocol/error-coding.ts';
import { decodeKeyReference } from '../protocol/key-encoding.ts';
import { call, type Call, type OperationName } from '../protocol/operations.ts';
import type { ReceivedMessage } from '../protocol/wire.ts';
import type { HsmEvent } from './options.ts';
import type { Proven } from '../protocol/host-answers.ts';
import type { TokenSupervisor } from './supervisor.ts';

/** Interface of a token, or of a group, for the router. */
export type TokenWay = Pick<TokenSupervisor, 'name' | 'proven' | 'up' | 'start' | 'submit' | 'submitAll' | 'damage' | 'close'>;

/** Operations whose first part is the reference of a key. */
const usesKey: ReadonlySet<OperationName> = new Set<OperationName>([
  ...([
    'encrypt',
    'decrypt',
    'sign',
    'hmac',
    'decryptOaep',
    'decryptPkcs1',
    'agree',
    'decapsulate',
    'rewrap',
    'evidence',
    'export',
    'destroy',
    'forget',
  ] as const),
]);
/** Errors after which another token is tried. The others concern the request. */
const passing: ReadonlySet<HsmError['kind']> = new Set([
  'unavailable',
  'timeout',
  'pin-refused',
  'key-missing',
  'key-not-usable',
  'unsupported',
]);
/** Errors that only a token with the key can judge. */
const doubtful: ReadonlySet<HsmError['kind']> = new Set(['key-missing', 'key-not-usable']);
const watchMilliseconds = 1_000;
const lookAgainMilliseconds = 500;

/** A token of the group. `names`: the wrapping keys that it had when it was last asked. */
class Member {
  readonly token: TokenSupervisor;
  names: ReadonlyMap<number, OwnKeyName> = new Map();
  #lookedAt = -Infinity;
  #looking: Promise<void> | undefined;

  constructor(token: TokenSupervisor) {
    this.token = token;
  }

  /** Lists the wrapping keys of the token, unless it was asked a moment ago. */
  look(isUrgent: boolean): Promise<void> {
    if (!this.token.up || (!isUrgent && performance.now() - this.#lookedAt < lookAgainMilliseconds)) return Promise.resolve();
    this.#looking ??= this.#ask().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #ask(): Promise<void> {
    try {
      const names = await this.token.submit(call.wrappingKeys(), (result) => result.json<OwnKeyName[]>(0));
      this.names = new Map(names.map((name) => [name.number, name]));
      this.#lookedAt = performance.now();
    } catch {
      // It is asked again; a token that does not answer is not up for long.
    }
  }
}

/** Tells whether it made a wrapping key for itself: only the first token of a group did. */
function isOrigin({ names }: Member): boolean {
  return [...names.values()].some(({ carrying }) => carrying === undefined);
}

export class TokenGroup implements TokenWay {
  readonly name: string;
  readonly #members: readonly Member[];
  readonly #inUse: () => OwnKeyName | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #report: (event: HsmEvent) => void;
  /** next member in turn among equally busy ones */
  #turn = 0;

  /** `inUse`: the wrapping key in use; undefined if it is not followed. */
  constructor(name: string, tokens: readonly TokenSupervisor[], inUse: () => OwnKeyName | undefined, report: (event: HsmEvent) => void) {
    this.name = name;
    this.#report = report;
    this.#members = tokens.map((token) => new Member(token));
    this.#inUse = inUse;
    this.#timer = setInterval(() => this.#watch(), watchMilliseconds);
    this.#timer.unref();
  }

  get tokens(): readonly TokenSupervisor[] {
    return this.#members.map(({ token }) => token);
  }

  get up(): boolean {
    return this.#members.some(({ token }) => token.up);
  }

  /** Key types that all members offer: a key opens in each. Ways of signing that one of them has. */
  get proven(): Proven {
    const known = this.#members.map(({ token }) => token.proven).filter(({ keyTypes }) => keyTypes.length > 0);
    return {
      keyTypes: (known[0]?.keyTypes ?? []).filter((type) => known.every(({ keyTypes }) => keyTypes.includes(type))),
      signatureVariants: known.flatMap(({ signatureVariants }) => signatureVariants),
    };
  }

  /** Starts all members. Rejects if none starts; one that does not start is tried again. */
  async start(): Promise<void> {
    const outcomes = await Promise.allSettled(this.#members.map(({ token }) => token.start()));
    const failed = outcomes.filter((outcome) => outcome.status === 'rejected');
    if (failed.length === outcomes.length) throw failed[0]?.reason;
    await this.refresh();
    const [first, ...more] = this.#members.filter(isOrigin);
    if (more.length > 0) throw new HsmError('configuration', this.#severalOrigins([first, ...more] as Member[]));
  }

  /** Opens tokens that could not be opened at the start (no keys yet, or unreachable), and looks for carried keys. */
  #watch(): void {
    for (const member of this.#members) {
      if (member.token.neverUp) void this.#startAgain(member);
      else if (!this.#mayHold(member)) void member.look(false);
    }
  }

  /** Tells whether a member has the wrapping key in use; true while that key is unknown: an error in a timer would end the process. */
  #mayHold(member: Member): boolean {
    try {
      return this.#holds(member, this.#inUse());
    } catch {
      return true;
    }
  }

  async #startAgain(member: Member): Promise<void> {
    await member.token.start().catch(() => undefined);
    await member.look(true);
    this.#dropForeign(member);
  }

  #dropForeign(member: Member): void {
    const others = this.#members.filter((other) => other !== member && isOrigin(other));
    if (!isOrigin(member) || others.length === 0) return;
    this.#report({ kind: 'token-down', token: member.token.config.name, message: this.#severalOrigins([member, ...others]) });
    void member.token.close();
  }

  #severalOrigins(members: readonly Member[]): string {
    const names = members.map(({ token }) => token.config.name).join(' and ');
    return `tokens ${names} of group ${this.name} each made keys for themselves: initialise the new one again, or remove it from the group`;
  }

  /** Lists the wrapping keys of every token again. */
  async refresh(): Promise<void> {
    await Promise.all(this.#members.map((member) => member.look(true)));
  }

  /** State of each token; `has` is the wrapping key in use. */
  status(): readonly TokenStatus[] {
    return this.#members.map((member) => {
      const status = member.token.status();
      const isIn = status.state === 'up' && this.#holds(member, this.#inUse());
      return { ...status, group: { name: this.name, opensKeys: isIn } };
    });
  }

  /** Reason for which keys that it wraps would be unusable after a restart: only if every token with the wrapping key in use has one. */
  damage(): string | undefined {
    const holders = this.#members.filter((member) => this.#holds(member, this.#inUse()));
    const damages = holders.map(({ token }) => token.damage());
    return damages.length === 0 || damages.some((damage) => damage === undefined) ? undefined : damages[0];
  }

  /** Numbers of the wrapping keys of all tokens that are up, up to the one in use, ascending. */
  async list(): Promise<number[]> {
    await this.refresh();
    if (!this.up) throw this.#allDown();
    const inUse = this.#inUse();
    const numbers = this.#members.flatMap(({ token, names }) => (token.up ? [...names.keys()] : []));
    return [...new Set(numbers)].filter((number) => inUse === undefined || number <= inUse.number).sort((a, b) => a - b);
  }

  /** Destroys an old wrapping key in every token that has the one in use. The others lose it once they have that one. */
  async destroyWrappingKey(number: number): Promise<void> {
    await this.refresh();
    const inUse = this.#inUse();
    const holders = this.#members.filter((member) => member.token.up && member.names.has(number) && this.#holds(member, inUse));
    if (holders.length === 0 && !this.up) throw this.#allDown();
    if (inUse === undefined || number >= inUse.number) throw new HsmError('refused', 'the newest wrapping key is in use');
    await Promise.all(holders.map(({ token }) => token.submit(call.destroyWrappingKey(number), () => undefined)));
    await this.refresh();
  }

  /** As TokenSupervisor.submit, in one token after another until one succeeds. */
  async submit<T>(one: Call, unpack: (result: ReceivedMessage) => T): Promise<T> {
    const { wipe } = one;
    try {
      if (one.name === 'destroy' || one.name === 'forget') return await this.#everywhere(one, unpack);
      return await this.#somewhere(one, unpack);
    } finally {
      wipe?.fill(0);
    }
  }

  async #somewhere<T>(one: Call, unpack: (result: ReceivedMessage) => T): Promise<T> {
    const number = this.#numberOf(one);
    const tried = new Set<Member>();
    const errors: HsmError[] = [];
    for (;;) {
      const member = await this.#choose(one, number, tried);
      if (member === undefined) throw this.#verdict(errors, tried, number);
      tried.add(member);
      try {
        return await member.token.submit(fresh(one), unpack);
      } catch (error) {
        const failure = asHsmError(error);
        if (!passing.has(failure.kind)) throw failure;
        errors.push(failure);
        if (failure.kind === 'key-missing') await member.look(false);
      }
    }
  }

  /** Runs a call in all tokens; succeeds if one of them had the key. */
  async #everywhere<T>(one: Call, unpack: (result: ReceivedMessage) => T): Promise<T> {
    const tried = new Set(this.#members.filter(({ token }) => token.up));
    const outcomes = await Promise.allSettled([...tried].map(({ token }) => token.submit(fresh(one), unpack)));
    const done = outcomes.find((outcome) => outcome.status === 'fulfilled');
    if (done !== undefined) return done.value;
    throw this.#verdict(
      outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [asHsmError(outcome.reason)] : [])),
      tried,
      undefined,
    );
  }

  /** As TokenSupervisor.submitAll: all in one token; calls that fail there are tried one by one in the others. */
  async submitAll(calls: readonly Call[]): Promise<readonly UseOutcome[]> {
    const places = new Map<Member | undefined, number[]>();
    for (let place = 0; place < calls.length; place++) {
      const one = calls[place] as Call;
      const chosen = this.#quickest(this.#fitting(one, this.#numberOf(one)), [...places.keys()]);
      places.set(chosen, [...(places.get(chosen) ?? []), place]);
    }
    const outcomes: UseOutcome[] = [];
    await Promise.all(
      [...places].map(async ([member, at]) => {
        const found = await member?.token.submitAll(at.map((place) => calls[place] as Call));
        await Promise.all(
          at.map(async (place, index) => {
            const outcome = found?.[index];
            const isDone = outcome !== undefined && (outcome instanceof Uint8Array || !passing.has(outcome.kind));
            outcomes[place] = isDone ? outcome : await this.#somewhere(calls[place] as Call, (result) => result.copy(0)).catch(asHsmError);
          }),
        );
      }),
    );
    return outcomes;
  }

  async close(patienceMs?: number): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#members.map(({ token }) => token.close(patienceMs)));
  }

  /** Number of the wrapping key that a call needs; undefined if every token can run it. */
  #numberOf(one: Call): number | undefined {
    if (one.name === 'generate' || one.name === 'import') return this.#inUse()?.number;
    const [reference] = one.parts;
    if (!usesKey.has(one.name) || reference === undefined) return undefined;
    const known = numbers.get(reference);
    if (known !== undefined) return known;
    const { custody, blob } = decodeKeyReference(Buffer.from(reference.buffer, reference.byteOffset, reference.byteLength));
    const number = custody === 'wrapped' ? parseBlob(blob).number : anyToken;
    numbers.set(reference, number);
    return number;
  }

  #holds({ names }: Member, wanted: OwnKeyName | undefined): boolean {
    if (wanted === undefined) return names.size > 0;
    const name = names.get(wanted.number);
    return name !== undefined && name.carrying === wanted.carrying;
  }

  /** Tokens that take work now and have the wrapping key with this number. */
  #fitting(one: Call, number: number | undefined): Member[] {
    const inUse = this.#inUse();
    const needs = number === undefined || number === anyToken ? undefined : number;
    const makes = one.name === 'generate' || one.name === 'import' || one.name === 'rewrap';
    return this.#members.filter((member) => {
      if (!member.token.takesWork) return false;
      if (makes && (!this.#holds(member, inUse) || member.token.damage() !== undefined)) return false;
      if (needs === undefined) return true;
      return needs === inUse?.number ? this.#holds(member, inUse) : member.names.has(needs);
    });
  }

  async #choose(one: Call, number: number | undefined, tried: ReadonlySet<Member>): Promise<Member | undefined> {
    const left = (): Member[] => this.#fitting(one, number).filter((member) => !tried.has(member));
    if (left().length === 0) await Promise.all(this.#members.map((member) => member.look(false)));
    return this.#quickest(left());
  }

  /** The least busy member; among equals one that this batch goes to already, or the next in turn. */
  #quickest(members: readonly Member[], preferred: readonly (Member | undefined)[] = []): Member | undefined {
    const up = members.filter(({ token }) => token.up);
    const candidates = up.length > 0 ? up : members;
    const least = Math.min(...candidates.map(({ token }) => token.waiting));
    const idle = candidates.filter(({ token }) => token.waiting === least);
    return idle.find((member) => preferred.includes(member)) ?? idle[this.#turn++ % Math.max(1, idle.length)];
  }

  /** Error to report when no token succeeded: it concerns the key only if every token that may have the key was asked. */
  #verdict(errors: readonly HsmError[], tried: ReadonlySet<Member>, number: number | undefined): HsmError {
    const said = errors.find(({ kind }) => !doubtful.has(kind)) ?? errors[0];
    const away = this.#members.find((member) => !tried.has(member) && !member.token.up);
    if (away !== undefined && (said === undefined || doubtful.has(said.kind))) {
      const { name, reason } = away.token.status();
      return new HsmError(
        'unavailable',
        `token ${name} of group ${this.name}, which may have the key, is not up: ${reason ?? 'it is starting'}`,
      );
    }
    if (said !== undefined) return said;
    const which = number === undefined || number === anyToken ? '' : ` with wrapping key ${number}`;
    return new HsmError('key-missing', `no token of group ${this.name} is up${which}`);
  }

  #allDown(): HsmError {
    return new HsmError('unavailable', `no token of group ${this.name} is up`);
  }
}

/** Stands for a key in token custody, which any token may have. */
const anyToken = 0;
const numbers = new WeakMap<Uint8Array, number>();

/** A call that may be sent again: its octets are wiped when they have been sent. */
function fresh(one: Call): Call {
  const { wipe } = one;
  if (wipe === undefined) return one;
  const copy = Uint8Array.from(wipe);
  return { ...one, wipe: copy, parts: one.parts.map((part) => (part === wipe ? copy : part)) };
}
