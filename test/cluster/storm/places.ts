// The machines of the drill: in each one appliance after another, with a disk, a clock, a way to the HSM and a network of its own.
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Answer, ask as send } from '../../harness/client.ts';
import type { Daemon } from '../../harness/daemon.ts';
import { mountSmallDisk } from '../../harness/small-disk.ts';
import { ShiftedClock } from '../../harness/steady/shifted-clock.ts';
import type { OwnMembers, Site } from '../own-members.ts';
import type { Spaces } from './network/spaces.ts';
import type { MachineToken } from './tokens.ts';

const diskKibibytes = 1_500_000;
const answerMs = 60_000;
const againMs = 300;
/** A start is given up and tried again after that, as a service manager does. */
const startMs = 300_000;
const patienceMs = 900_000;
/** Of etcd, the same on every machine. */
export const [clientPort, peerPort] = [2379, 2380];
/** Clocks of appliances are behind that of the callers, who would refuse a certificate that has not begun. */
export const clockSeconds = -3_600;

export class Place {
  readonly index: number;
  /** of the appliance that is there now */
  name: string;
  daemon: Daemon | undefined;
  /** the one that ran last */
  last: Daemon | undefined;
  /** something is being done to its processes or its disk as a whole */
  isBusy = false;
  /** what is started; undefined: the present sources */
  program: string | undefined;
  readonly token: MachineToken;
  /** ends of its processes that nobody has asked for, and starts that failed: what was said last */
  readonly surprises: string[] = [];
  readonly #clock: ShiftedClock;
  readonly #path: (...names: string[]) => string;
  readonly #spaces: Spaces;
  readonly #environment: Record<string, string>;
  #clockIsRight = Promise.resolve();
  #generation = 0;
  #isOver = false;
  #unmount: (() => void) | undefined;

  private constructor(
    index: number,
    spaces: Spaces,
    path: (...names: string[]) => string,
    clock: ShiftedClock,
    environment: Record<string, string>,
    tokenIn: (data: () => string) => MachineToken,
  ) {
    this.index = index;
    this.name = 'abc'.charAt(index);
    [this.#spaces, this.#path, this.#clock, this.#environment] = [spaces, path, clock, environment];
    this.token = tokenIn(() => this.data);
  }

  /** `tokenIn` is asked for the token, and may use the data directory that the appliance there has at a time. */
  static async make(
    index: number,
    spaces: Spaces,
    path: (...names: string[]) => string,
    tokenIn: (data: () => string) => MachineToken,
  ): Promise<Place> {
    mkdirSync(path(), { recursive: true });
    const clock = new ShiftedClock(path('clock'));
    clock.set(clockSeconds);
    const place = new Place(index, spaces, path, clock, await clock.environment(), tokenIn);
    place.#newDisk();
    return place;
  }

  /** For the appliance there. */
  get site(): Site {
    const { index } = this;
    return {
      ...{ within: this.#spaces.within(index), address: this.#spaces.address(index), environment: this.#environment, data: this.data },
      ports: [clientPort, peerPort],
    };
  }

  get data(): string {
    return join(this.#disk, `data-${this.name}`);
  }

  /** Where the audit trails of appliances are that were there before, as an operator keeps them elsewhere. */
  get formerTrails(): readonly string[] {
    const kept = this.#path('trails');
    return existsSync(kept) ? readdirSync(kept).map((name) => join(kept, name)) : [];
  }

  /** For one look at how that ends. */
  startOnce(members: OwnMembers): Promise<Daemon> {
    return members.start(this.name, this.#options());
  }

  /** Starts it, again and again until it serves, and again whenever it ends by itself. */
  async start(members: OwnMembers, begin = (): Promise<Daemon> => this.startOnce(members)): Promise<void> {
    for (const untilMs = performance.now() + patienceMs; !this.#isOver;) {
      if (performance.now() > untilMs) throw new Error(`${this.name} cannot be started: ${this.surprises.at(-1)}`);
      const daemon = await begin().catch((error: unknown) => this.#note(`a start failed: ${String(error)}`));
      if (daemon === undefined) {
        await setTimeout(againMs);
        continue;
      }
      this.last = this.daemon = daemon;
      void this.#watch(daemon, members);
      return;
    }
  }

  /** Starts it again when it ends by itself. */
  async #watch(daemon: Daemon, members: OwnMembers): Promise<void> {
    const code = await daemon.ended;
    if (this.daemon !== daemon || this.#isOver) return;
    this.daemon = undefined;
    this.#note(`ended by itself with ${code}: ${daemon.output()}`);
    await this.start(members).catch((error: unknown) => this.#note(String(error)));
  }

  /** Starts one that another appliance has invited. */
  async join(members: OwnMembers, inviting: Daemon): Promise<void> {
    const invitation = await members.invitationBy(inviting, this.name);
    await this.start(members, () => members.start(this.name, { ...this.#options(), invitation }));
  }

  async kill(): Promise<void> {
    const { daemon } = this;
    this.daemon = undefined;
    await daemon?.kill().catch(() => undefined);
  }

  async stop(): Promise<number | null | undefined> {
    const { daemon } = this;
    this.daemon = undefined;
    return daemon?.stop();
  }

  /** After a kill: nothing is left on it but what an operator keeps elsewhere. */
  loseDisk(): void {
    const trail = join(this.data, 'audit');
    const kept = this.#path('trails', `${this.name}-${this.formerTrails.length}`);
    if (existsSync(trail)) {
      mkdirSync(kept, { recursive: true });
      for (const name of readdirSync(trail)) copyFileSync(join(trail, name), join(kept, name));
    }
    this.#unmount?.();
    this.#newDisk();
  }

  /** What the appliance there has logged, for a person who looks for a cause. */
  keepLogs(directory: string): void {
    for (const part of ['logs', 'audit'])
      if (existsSync(join(this.data, part))) cpSync(join(this.data, part), join(directory, this.name, part), { recursive: true });
  }

  /** The appliance there is another one from now on, with another token where it has its own. */
  async replace(): Promise<void> {
    this.name = `${'abc'.charAt(this.index)}-${++this.#generation}`;
    await this.token.renew();
  }

  /** Takes all space that is left; answers how to give it back. */
  fillDisk(): () => void {
    const file = join(this.#disk, 'ballast');
    const { bavail, bsize } = statfsSync(this.#disk);
    if (bavail > 0) spawnSync('fallocate', ['--length', String(bavail * bsize), file]);
    return () => rmSync(file, { force: true });
  }

  /**
   * Its clock is wrong by `seconds` for so long, then right, and `accept` is awaited. One after another: a wrong clock that is accepted is what
   * the appliance goes by, while no two others are there that outvote it.
   */
  async withClock(seconds: number, forMs: number, accept: () => Promise<void>): Promise<void> {
    const before = this.#clockIsRight;
    const done = Promise.withResolvers<void>();
    this.#clockIsRight = done.promise;
    await before;
    try {
      this.#clock.set(seconds + clockSeconds);
      await setTimeout(forMs);
      this.#clock.set(clockSeconds);
      await accept();
    } finally {
      done.resolve();
    }
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.kill();
    this.#unmount?.();
  }

  get #disk(): string {
    return this.#path('disk');
  }

  #options(): { program?: string; abandonAfterMs: number } {
    return { abandonAfterMs: startMs, ...(this.program === undefined ? {} : { program: this.program }) };
  }

  #newDisk(): void {
    this.#unmount = mountSmallDisk(this.#disk, diskKibibytes);
  }

  #note(text: string): undefined {
    this.surprises.push(`${this.name} ${text.slice(-2_000)}`);
  }
}

/** Undefined while nothing runs there, and when no answer came in time. Without `token` it is the root token; null: none. */
export async function ask(
  { daemon }: Place,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
  token: string | null | undefined = daemon?.rootToken,
): Promise<Answer | undefined> {
  if (daemon === undefined) return undefined;
  const late = new AbortController();
  const answer = send(daemon.url, path, { method, body, token, headers, ca: daemon.caPem }).catch(() => undefined);
  const end = setTimeout(answerMs, undefined, { signal: late.signal }).catch(() => undefined);
  return Promise.race([answer, end]).finally(() => late.abort());
}
