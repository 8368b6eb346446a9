// Rotations of the wrapping key of a cluster that are cut off at a step, on the appliance that was asked, on the one that leads the jobs, or on
// one that follows; and what has to hold after each.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { TokenConfig } from '../../hsm/api.ts';
import type { Answer } from '../harness/client.ts';
import type { Daemon } from '../harness/daemon.ts';
import { type Armed, armedFile, type Moment, struckFile, type Victim } from '../harness/kills/at-rotation-step.ts';
import { Find } from '../harness/kills/connection.ts';
import { findUnsound } from '../harness/kills/whole-check.ts';
import { numbersIn } from '../harness/token/carrying.ts';
import { ownObjects } from '../harness/token/token-objects.ts';
import { pinOf } from './daemons.ts';
import { clusterState, OwnMembers, type Site } from './own-members.ts';

type Path = (...names: string[]) => string;

/** The part of an appliance in a rotation. */
type Role = 'asked' | 'leading' | 'following';
type Step = { readonly role: Role; readonly step: string; readonly count: number };
export type Kill = Step & { readonly moment: Moment; readonly victim: Victim };

/** `itself`: the rotation went on. `again`: it had not begun, or was withdrawn, and began when it was asked for again. */
type Outcome = 'itself' | 'again' | 'not reached';

export type Shape = 'one token for all' | 'a token in each';

const keys = '/v1/config/keystore/transit-keys';
const rotate = '/v1/state/system/rotate-wrapping-key';
const of = (key: string, action: string): string => `/v1/state/keystore/transit-keys/${key}/${action}`;
const plaintext = 'aGVsbG8=';
/** More than one transaction of the rewrapping takes. */
const earlyKeys = 12;
/** One worker: another one would go on in place of one that is killed, which the storms have. */
const alone = { workers: 1 } as const;
const settledWithinMs = 300_000;
const lateForMs = 60_000;
const mostTries = 5;
const lookEveryMs = 1_000;

type Wrapping = { readonly number: number; readonly state: string };
type Seen = { readonly members: readonly { readonly name: string; readonly 'leads-jobs': boolean; readonly state: string }[] };

export class RotationDrill {
  readonly #path: Path;
  readonly #members: OwnMembers;
  readonly #names: readonly string[] = ['a', 'b', 'c'];
  readonly #daemons = new Map<string, Daemon>();
  /** what was encrypted under the keys, by their names */
  readonly #ciphertexts = new Map<string, string>();
  #made = 0;

  private constructor(path: Path, members: OwnMembers) {
    this.#path = path;
    this.#members = members;
  }

  /** Three appliances that run etcd themselves, with keys. */
  static async begin(path: Path, shape: Shape): Promise<RotationDrill> {
    const preload = `--import=${new URL('../harness/kills/at-rotation-step.ts', import.meta.url).href}`;
    const siteOf = (name: string): Site => ({
      jobTimeout: '3s',
      environment: { NODE_OPTIONS: preload, KILLS_ROTATION: path(`steps-${name}`) },
    });
    const members =
      shape === 'a token in each' ? await OwnMembers.withOwnTokens(path, siteOf) : await OwnMembers.prepare(path, undefined, siteOf);
    const drill = new RotationDrill(path, members);
    const first = await patiently(() => members.start('a', alone));
    drill.#daemons.set('a', first);
    await members.found(first);
    for (const name of drill.#names.slice(1)) {
      const invitation = await patiently(() => members.invitationBy(first, name));
      drill.#daemons.set(name, await patiently(() => members.start(name, { ...alone, invitation })));
    }
    for (let count = 0; count < earlyKeys; count++) {
      const [key, by] = [`early-${count}`, drill.#names[count % drill.#names.length] as string];
      await drill.#answerOf(by, 'POST', keys, { name: key });
      const { body } = await drill.#answerOf(by, 'POST', of(key, 'encrypt'), { plaintext });
      drill.#ciphertexts.set(key, (body as { ciphertext: string }).ciphertext);
    }
    await drill.#settled();
    return drill;
  }

  async end(): Promise<void> {
    for (const daemon of this.#daemons.values()) await daemon.stop().catch(() => undefined);
  }

  /** Everything that a rotation does, by the appliance that does it. */
  async steps(): Promise<readonly Step[]> {
    const roles = await this.#roles();
    const before = await this.#settled();
    for (const name of this.#names) writeFileSync(this.#notes(name), '');
    await this.#ask(roles.asked, before);
    await this.#settled(before);
    await this.#requireClean();
    return Object.entries(roles).flatMap(([role, name]) => this.#stepsOf(role as Role, name));
  }

  /** Cuts off a rotation, and throws Find unless everything is whole when it has ended after all. */
  async kill({ role, ...armed }: Kill): Promise<Outcome> {
    const roles = await this.#roles();
    const name = roles[role];
    const before = await this.#settled();
    const hasStruck = this.#arm(name, armed);
    const making = this.#makeMeanwhile();
    const asking = this.#ask(roles.asked, before, hasStruck);
    await Promise.all([asking, this.#comeBack(name, { role, ...armed }, { before, hasStruck, asking })]);
    const hasBegun = (await asking) || (await this.#isMade(before));
    const after = await this.#settled(hasBegun ? before : undefined);
    await making.stop();
    if (after === before) {
      await this.#ask(roles.asked, before);
      await this.#settled(before);
    }
    await this.#prove();
    await this.#requireClean();
    return !hasStruck() ? 'not reached' : after === before ? 'again' : 'itself';
  }

  /** Whether the next wrapping key is in the token that all reach: then it has to be put into use, no matter what was killed. */
  async #isMade(before: number): Promise<boolean> {
    const [token] = await this.#members.tokensOf('a');
    return token?.group === undefined && (await numbersIn(token as TokenConfig)).some((number) => number > before);
  }

  /** Waits for the kill, and starts again what was killed: before a step, when the others have gone on without it; after one, at once. */
  async #comeBack(
    name: string,
    { role, moment, victim }: Kill,
    { before, hasStruck, asking }: { readonly before: number; readonly hasStruck: () => boolean; readonly asking: Promise<boolean> },
  ): Promise<void> {
    const isOver = async (): Promise<boolean> => (await this.#isSettled(before)) && (await this.#findNeedless()) === undefined;
    await this.#until('the kill or the end of the rotation', async () => hasStruck() || (await isOver()));
    rmSync(armedFile(this.#notes(name)), { force: true });
    if (!hasStruck() || victim === 'process') return;
    await this.#daemon(name).ended;
    this.#daemons.delete(name);
    if (role !== 'asked' && moment === 'before' && (await asking)) await this.#overWithout(name, before);
    this.#daemons.set(name, await patiently(() => this.#members.start(name, alone)));
  }

  /** Throws Find unless the check of each stopped appliance is clean; they are started again. */
  async check(): Promise<void> {
    await Promise.all(this.#names.map((name) => this.#daemon(name).stop()));
    for (const name of this.#names) {
      const unsound = await findUnsound(this.#path(`data-${name}`), await this.#members.argsOf(name));
      if (unsound.length > 0) throw new Find(`${name}: ${unsound.join('\n')}`);
    }
    await Promise.all(this.#names.map(async (name) => this.#daemons.set(name, await patiently(() => this.#members.start(name, alone)))));
    await this.#prove();
  }

  #notes(name: string): string {
    return this.#path(`steps-${name}`);
  }

  #stepsOf(role: Role, name: string): readonly Step[] {
    const lines = readFileSync(this.#notes(name), 'utf8').split('\n').filter((line) => line !== ''); // prettier-ignore
    return lines.map((step, index) => ({ role, step, count: lines.slice(0, index + 1).filter((one) => one === step).length }));
  }

  /** Returns whether the kill has happened. */
  #arm(name: string, armed: Armed): () => boolean {
    const notes = this.#notes(name);
    rmSync(struckFile(notes), { force: true });
    writeFileSync(notes, '');
    writeFileSync(armedFile(notes), JSON.stringify(armed));
    return () => existsSync(struckFile(notes));
  }

  #daemon(name: string | undefined): Daemon {
    return this.#daemons.get(name ?? '') as Daemon;
  }

  async #roles(): Promise<Readonly<Record<Role, string>>> {
    let leading: string | undefined;
    await this.#until('an appliance that leads the jobs, and all of them in', async () => {
      const { members } = (await this.#answerOf('a', 'GET', clusterState)).body as Seen;
      leading = members.find((one) => one['leads-jobs'])?.name;
      return leading !== undefined && members.filter(({ state }) => state === 'in').length === this.#names.length;
    });
    const [asked = '', following = ''] = this.#names.filter((name) => name !== leading);
    return { asked, leading: leading as string, following };
  }

  /** Asks for a rotation until one begins, as one that was cut off has to be withdrawn first; `isOver`: no more. Resolves with whether one did. */
  async #ask(name: string, before: number, isOver: () => boolean = () => false): Promise<boolean> {
    let said: unknown;
    let hasBegun = false;
    await this.#until(
      'the beginning of a rotation',
      async () => {
        const answer = await this.#daemons
          .get(name)
          ?.exchange('POST', rotate, {})
          .catch(() => undefined);
        said = answer?.body;
        hasBegun = answer?.status === 200 || ((await this.#wrapping(name))?.number ?? before) > before;
        return hasBegun || isOver();
      },
      () => JSON.stringify(said),
    );
    return hasBegun;
  }

  async #wrapping(name: string): Promise<Wrapping | undefined> {
    const answer = await this.#daemons
      .get(name)
      ?.exchange('GET', '/v1/state/system/hsm')
      .catch(() => undefined);
    if (answer?.status !== 200) return undefined;
    return (answer.body as { tokens: { 'wrapping-key': Wrapping }[] }).tokens[0]?.['wrapping-key'];
  }

  async #isSettled(before?: number, some: readonly string[] = this.#names): Promise<boolean> {
    const seen = await Promise.all(some.map((name) => this.#wrapping(name)));
    return seen.every((one) => one?.state === 'in-use' && one.number === seen[0]?.number && (before === undefined || one.number > before));
  }

  /** Resolves with the number of the wrapping key in use when no rotation runs, or, with `before`, when one after it has ended. */
  async #settled(before?: number): Promise<number> {
    await this.#until('the end of the rotation at all', () => this.#isSettled(before));
    return (await this.#wrapping('a'))?.number ?? 0;
  }

  /** Waits until the others have ended the rotation, for a while: some cannot end without the one that is away. */
  async #overWithout(name: string, before: number): Promise<void> {
    const others = this.#names.filter((one) => one !== name);
    for (const deadlineMs = performance.now() + lateForMs; performance.now() < deadlineMs; await setTimeout(lookEveryMs))
      if (await this.#isSettled(before, others)) return;
  }

  async #until(what: string, holds: () => Promise<boolean>, said: () => string = () => ''): Promise<void> {
    for (const deadlineMs = performance.now() + settledWithinMs; !(await holds()); await setTimeout(lookEveryMs)) {
      if (performance.now() < deadlineMs) continue;
      const seen = await Promise.all(this.#names.map(async (name) => `${name}: ${JSON.stringify(await this.#wrapping(name))}`));
      throw new Find(`waited in vain for ${what} ${said()}\n${seen.join('\n')}`);
    }
  }

  async #make(key: string, by: Daemon): Promise<void> {
    await by.request('POST', keys, { name: key, 'deletion-allowed': true });
    const { ciphertext } = (await by.request('POST', of(key, 'encrypt'), { plaintext })) as { ciphertext: string };
    this.#ciphertexts.set(key, ciphertext);
  }

  /** Keys that are made while a rotation runs, and acknowledged, have to be there like those of before. */
  #makeMeanwhile(): { stop(): Promise<void> } {
    const over = new AbortController();
    const making = (async () => {
      for (; !over.signal.aborted; await setTimeout(lookEveryMs)) {
        const running = [...this.#daemons.values()];
        await this.#make(`made-${++this.#made}`, running[this.#made % running.length] as Daemon).catch(() => undefined);
      }
    })();
    return {
      async stop() {
        over.abort();
        await making;
      },
    };
  }

  /** Every key at every appliance; those that were made meanwhile are deleted then. */
  async #prove(): Promise<void> {
    for (const name of this.#names) {
      for (const [key, ciphertext] of this.#ciphertexts) {
        const { status, body } = await this.#answerOf(name, 'POST', of(key, 'decrypt'), { ciphertext });
        if ((body as { plaintext?: string }).plaintext !== plaintext)
          throw new Find(`${name} does not open ${key}: ${status} ${JSON.stringify(body)}`);
      }
    }
    for (const key of this.#ciphertexts.keys()) {
      if (key.startsWith('early-')) continue;
      await this.#answerOf('a', 'DELETE', `${keys}/${key}`);
      this.#ciphertexts.delete(key);
    }
  }

  /** An appliance on a busy machine is without the majority for a moment, or without its only worker after a kill. */
  async #answerOf(name: string, method: string, at: string, body?: object): Promise<Answer> {
    let answer: Answer | undefined;
    await this.#until(
      `${name} to answer`,
      async () => {
        answer = await this.#daemon(name)
          .exchange(method, at, body)
          .catch(() => undefined);
        return answer !== undefined && answer.status !== 503;
      },
      () => JSON.stringify(answer?.body),
    );
    return answer as Answer;
  }

  async #requireClean(): Promise<void> {
    let found: string | undefined;
    const look = async (): Promise<boolean> => (found = await this.#findNeedless()) === undefined;
    await this.#until('tokens with nothing but the keys in use', look, () => found ?? '');
  }

  /**
   * What is too much in a token: in the end it has the wrapping key in use, what binds under it, and the binding key of its own beginning. None
   * of them can leave it.
   */
  async #findNeedless(): Promise<string | undefined> {
    const number = (await this.#wrapping('a'))?.number;
    for (const name of this.#names) {
      const [token] = await this.#members.tokensOf(name);
      const objects = await ownObjects(token as TokenConfig, pinOf(token as TokenConfig));
      const numbersOf = (kind: string): number[] => objects.flatMap((one) => (one.label === `keystored-${kind}-key` ? [one.number] : []));
      const isSafe = objects.every(({ access }) => access.includes('sensitive') && !access.includes('extractable'));
      const isOne = numbersOf('wrapping').join() === String(number);
      const [, ...binding] = numbersOf('binding').toSorted((one, other) => one - other);
      const isBound = binding.length <= 1 && binding.every((one) => one === number);
      if (isSafe && isOne && isBound && numbersOf('transport').length === 0) continue;
      return `${name}, with wrapping key ${number} in use: ${JSON.stringify(objects)}`;
    }
    return undefined;
  }
}

/** Tries again, as a service manager or an administrator does, what a busy machine refuses because the majority is away for a moment. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let left = mostTries; ; left--) {
    try {
      return await work();
    } catch (error) {
      if (left <= 1 || !/reach the majority|cluster-unavailable|etcd: Deadline exceeded/.test(String(error))) throw error;
      await setTimeout(lookEveryMs);
    }
  }
}
