// Supervises the host process of one token: batches jobs, enforces deadlines, replaces a host that died, hangs or has grown, and never
// retries a refused PIN.
import { HsmError, type HsmConfig, type SessionCounts, type TokenConfig, type TokenStatus, type UseOutcome } from '../api.ts';
import { joinCalls, readOutcomes } from '../protocol/call-lists.ts';
import { type Proven, readCounts, unknownToken, withKnownTypes } from '../protocol/host-answers.ts';
import { Growth } from './growth.ts';
import { JobBook, type Job } from './job-book.ts';
import { Latencies } from './latencies.ts';
import { control, controlId, type OpenHost, startHost } from './host-start.ts';
import type { Link } from './link.ts';
import type { HsmEvent, HsmOptions } from './options.ts';
import { RetiringHosts } from './retiring.ts';
import { call, type Call } from '../protocol/operations.ts';
import { findTokenFiles, ownKeysGone, requireSameToken, tokenAway, type TokenFiles } from '../files/softhsm.ts';
import { asHsmError, decodeError } from '../protocol/error-coding.ts';
import { resultError, resultOk, type ReceivedMessage } from '../protocol/wire.ts';

/** State of a token. `replacing`: the host has just died, jobs wait for the next one. `down`: jobs are refused at once. */
type State = 'starting' | 'up' | 'replacing' | 'down' | 'pin-refused' | 'closed';

const watchMilliseconds = 250;
const inspectMilliseconds = 2_000;
const closeMilliseconds = 2_000;
const firstBackoffMilliseconds = 100;
const lastBackoffMilliseconds = 10_000;
/** Time after which a host counts as healthy, and earlier failures no longer count. */
const steadyMilliseconds = 30_000;
/** Number of hosts in a row that may die before jobs no longer wait for the next one. */
const quickReplacements = 3;

export class TokenSupervisor {
  readonly config: TokenConfig;
  readonly #settings: HsmConfig;
  readonly #options: HsmOptions;
  readonly #latencies = new Latencies();
  readonly #jobs = new JobBook();
  readonly #watch: NodeJS.Timeout;
  #state: State = 'starting';
  #reason = 'it is being opened';
  #description = unknownToken;
  #loadedKeys = 0;
  #sessions: SessionCounts = { size: 0, busy: 0, waiting: 0 };
  #link: Link | undefined;
  /** true while a host that has reported a broken module is ending: jobs wait for the next one */
  #isEnding = false;
  /** a host that is still opening the token */
  #candidate: Link | undefined;
  readonly #retiring: RetiringHosts;
  readonly #running = new Set<Link>();
  readonly #growth = new Growth();
  #flushing = false;
  #failures = 0;
  #upSince = 0;
  #lastAnswer = 0;
  #pingSince: number | undefined;
  #suspected = false;
  #inspectedAt = 0;
  #inspecting = false;
  #damage: string | undefined;
  #files: TokenFiles | undefined;
  #restart: NodeJS.Timeout | undefined;
  #ended: (() => void) | undefined;

  constructor(config: TokenConfig, settings: HsmConfig, options: HsmOptions) {
    this.config = config;
    this.#settings = settings;
    this.#options = options;
    this.#retiring = new RetiringHosts(this.#jobs, settings.jobTimeoutSeconds);
    this.#watch = setInterval(() => this.#checkAnswers(), watchMilliseconds).unref();
  }

  get proven(): Proven {
    return this.#description;
  }

  /** Name in stored keys. */
  get name(): string {
    return this.config.group ?? this.config.name;
  }

  get up(): boolean {
    return this.#state === 'up';
  }

  /** True if jobs are accepted now: they run at once, or as soon as the next host is ready. */
  get takesWork(): boolean {
    return this.#state === 'up' || this.#state === 'replacing';
  }

  /** True if its first start failed for a reason that may pass. */
  get neverUp(): boolean {
    return this.#state === 'down' && this.#upSince === 0 && this.#candidate === undefined;
  }

  /** Number of jobs that run or wait. */
  get waiting(): number {
    return this.#jobs.count;
  }

  /** Starts the first host. Rejects if that fails; later hosts are started without a caller. */
  async start(): Promise<void> {
    await this.#open();
  }

  /** Sends a call to the host with the batch of this turn. Rejects at once when the token is down or its queue is full. */
  submit<T>(call: Call, unpack: (result: ReceivedMessage) => T): Promise<T> {
    if (this.#state !== 'up' && this.#state !== 'replacing') return Promise.reject(this.#refusal());
    if (this.#jobs.isFullFor(call.owner))
      return Promise.reject(new HsmError('unavailable', `token ${this.config.name} has more work than it can do`));
    const result = this.#jobs.add(call, unpack);
    this.#flushSoon();
    return result;
  }

  /** Submits calls, those of one key as one job. The outcomes are in the order of the calls; never rejects. */
  async submitAll(calls: readonly Call[]): Promise<readonly UseOutcome[]> {
    const outcomes: UseOutcome[] = [];
    const joined = this.#description.isRemote ? calls.map((one, place) => ({ call: one, places: [place] })) : joinCalls(calls);
    await Promise.all(
      joined.map(async ({ call: one, places }) => {
        const found = await this.#outcomesOf(one);
        for (let at = 0; at < places.length; at++) outcomes[places[at] as number] = found[at] as UseOutcome;
      }),
    );
    return outcomes;
  }

  async #outcomesOf(one: Call): Promise<readonly UseOutcome[]> {
    const { calls } = one;
    try {
      return await this.submit(one, (result) => (calls === undefined ? [result.part(0)] : readOutcomes(result, calls)));
    } catch (error) {
      return Array.from({ length: calls ?? 1 }, () => asHsmError(error));
    }
  }

  status(): TokenStatus {
    const { name, module } = this.config;
    const counts = { loadedKeys: this.#loadedKeys, sessions: this.#sessions };
    const { isRemote: _, ...description } = this.#description;
    const common = { name, module, ...description, ...counts, latencies: this.#latencies.summary() };
    const damage = this.damage();
    if (this.#state !== 'up') return { ...common, state: this.#state === 'pin-refused' ? 'pin-refused' : 'down', reason: this.#reason };
    if (damage === undefined) return { ...common, state: 'up' };
    if (damage === tokenAway) return { ...common, state: 'down', reason: damage };
    return { ...common, state: 'damaged', reason: `${damage}, and do not restart before` };
  }

  /** As Hsm.damage. */
  damage(): string | undefined {
    return this.#files?.damage() ?? this.#damage;
  }

  /** Closes the token; kills a host that does not end in time. Resolves when the host is gone. */
  async close(patienceMs = closeMilliseconds): Promise<void> {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#reason = 'it was closed';
    clearInterval(this.#watch);
    clearTimeout(this.#restart);
    this.#jobs.rejectAll(this.#refusal());
    if (this.#running.size === 0) return;
    const ended = new Promise<void>((resolve) => (this.#ended = resolve));
    // A host that is still opening is closed afterwards: killing it during a login could damage the token's file.
    for (const link of this.#running) if (link !== this.#candidate) link.send([control('close')]);
    const patience = setTimeout(() => this.#running.forEach((link) => link.kill()), patienceMs);
    await ended;
    clearTimeout(patience);
  }

  #refusal(): HsmError {
    return new HsmError(
      this.#state === 'pin-refused' ? 'pin-refused' : 'unavailable',
      `token ${this.config.name} is down: ${this.#reason}`,
    );
  }

  #flushSoon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    // nextTick batches all calls of this turn; setImmediate would cost another round of the event loop.
    process.nextTick(() => {
      this.#flushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#link === undefined || this.#isEnding || this.#state !== 'up') return;
    const batch = this.#jobs.takeBatch(this.#link);
    if (batch.length === 0) return;
    try {
      this.#link.send(batch);
    } catch (error) {
      // Out of memory for this batch: its jobs are rejected, later ones may fit.
      const refusal = new HsmError('unavailable', `token ${this.config.name} cannot be sent its work`, { cause: error });
      for (const { id } of batch) this.#jobs.settle(id)?.reject(refusal);
    }
    for (const job of batch) job.wipe?.fill(0);
  }

  #take(link: Link, results: readonly ReceivedMessage[]): void {
    if (this.#state === 'closed') return;
    if (link === this.#link) this.#lastAnswer = performance.now();
    for (const result of results) {
      if (result.id === controlId) {
        if (link === this.#link) this.#takePing(result);
        continue;
      }
      const job = this.#jobs.settle(result.id);
      if (job === undefined) continue;
      this.#latencies.add(job.name, result.micros, job.calls);
      if (job.owner.tenant !== undefined) this.#options.onTime?.(job.owner.tenant, result.micros);
      try {
        this.#settle(link, job, result);
      } catch (error) {
        // The link kills the host. Without this rejection the caller would wait forever.
        job.reject(new HsmError('unavailable', `token ${this.config.name} sent an answer that cannot be read`, { cause: error }));
        throw error;
      }
    }
  }

  #settle(link: Link, job: Job, result: ReceivedMessage): void {
    if (result.code === resultOk) job.resolve(result);
    else if (result.code === resultError) {
      const error = decodeError(result.part(0));
      if (error.kind === 'pin-refused') this.#latch(error);
      job.reject(error);
    } else {
      if (link === this.#link) this.#isEnding = true;
      const { message } = result.json<{ message: string }>(0);
      this.#jobs.retryOrReject(job, new HsmError('unavailable', `the module of token ${this.config.name} is being replaced: ${message}`));
    }
  }

  #takePing(result: ReceivedMessage): void {
    this.#pingSince = undefined;
    const { loadedKeys, sessions, memory } = readCounts(result);
    this.#loadedKeys = loadedKeys;
    this.#sessions = sessions;
    if (this.#options.inline !== true && this.#growth.isTooMuch(memory, loadedKeys, performance.now())) void this.#replaceGrown(memory);
  }

  /**
   * Pings the host, and kills it when it has not answered for longer than the limit of a job. Two checks in a row must agree: after a pause
   * of this process the first check runs before the answers that have arrived.
   */
  #checkAnswers(): void {
    this.#retiring.endAnswered();
    if (this.#state !== 'up' || this.#link === undefined) return;
    const now = performance.now();
    if (now - this.#inspectedAt > inspectMilliseconds) void this.#inspect(now);
    if (this.#pingSince === undefined) {
      this.#pingSince = now;
      this.#link.send([control('ping')]);
      return;
    }
    const overdue = now - Math.max(this.#pingSince, this.#lastAnswer) > this.#settings.jobTimeoutSeconds * 1_000;
    if (overdue && this.#suspected) this.#link.kill();
    this.#suspected = overdue;
  }

  /** Asks whether the token still has its own keys. No other call would notice, because their session copies continue to work. */
  async #inspect(now: number): Promise<void> {
    if (this.#inspecting) return;
    this.#inspecting = true;
    this.#inspectedAt = now;
    const reason = await this.submit(call.inspect(), () => undefined).catch((error: HsmError) => error.message);
    this.#inspecting = false;
    // Every other reason is a fault of the host, which the state shows.
    if (reason === undefined || reason === ownKeysGone || reason === tokenAway) this.#damage = reason;
  }

  /** Starts a host that opens the token, and passes the jobs to it. */
  async #open(): Promise<void> {
    const opened = await this.#openHost().catch((error: HsmError) => {
      this.#failed(error);
      throw error;
    });
    this.#adopt(opened, `token ${this.config.name} is up`);
  }

  /** Passes new jobs to another host; the grown one ends when it has answered its own. */
  async #replaceGrown(memory: number): Promise<void> {
    if (this.#candidate !== undefined || this.#retiring.areThere) return;
    const grown = `the host process of token ${this.config.name} had grown to ${Math.ceil(memory / 2 ** 20)} MiB`;
    try {
      this.#adopt(await this.#openHost(), `${grown} and was replaced`);
    } catch (error) {
      const { kind, message } = error as HsmError;
      // A PIN is never tried twice; otherwise the next attempt follows when the host has grown as much again.
      this.#growth.begin(kind === 'pin-refused' ? Infinity : performance.now());
      this.#report('not-replaced', `${grown} and could not be replaced: ${message}`);
    }
  }

  /** Resolves with a host that has opened the token. */
  async #openHost(): Promise<OpenHost> {
    const token = requireSameToken({ ...this.config, knownSerial: this.#description.serial || this.config.knownSerial });
    const { link, opened } = startHost(token, this.#settings, this.#options, {
      onResults: (results) => this.#take(link, results),
      onExit: (reason) => {
        if (this.#candidate === link) this.#candidate = undefined;
        this.#running.delete(link);
        this.#lost(link, reason);
      },
    });
    this.#candidate = link;
    this.#running.add(link);
    const host = await opened;
    if (this.#candidate === link) this.#candidate = undefined;
    return host;
  }

  #adopt({ link, description }: OpenHost, message: string): void {
    if (this.#state === 'closed') return link.send([control('close')]);
    // The old host died while its replacement was opening, or has grown.
    if (this.#link !== undefined) this.#retiring.add(this.#link);
    this.#link = link;
    this.#description = withKnownTypes(description, this.proven.keyTypes);
    this.#isEnding = false;
    this.#state = 'up';
    this.#damage = undefined;
    this.#files = findTokenFiles(this.config);
    this.#upSince = performance.now();
    this.#growth.begin(this.#upSince);
    this.#lastAnswer = this.#upSince;
    this.#pingSince = undefined;
    this.#suspected = false;
    this.#report('token-up', message, link.pid);
    this.#flush();
  }

  #failed(error: HsmError): void {
    if (error.kind === 'pin-refused') return this.#latch(error);
    if (this.#state === 'closed' || this.#state === 'up') return;
    this.#state = 'down';
    this.#reason = error.message;
    this.#report('token-down', error.message);
    this.#jobs.rejectAll(this.#refusal());
  }

  /** A refused PIN is never tried again: hardware tokens lock themselves after a few tries. */
  #latch(error: HsmError): void {
    if (this.#state === 'pin-refused' || this.#state === 'closed') return;
    this.#state = 'pin-refused';
    this.#reason = error.message;
    clearTimeout(this.#restart);
    this.#link?.kill();
    this.#report('pin-refused', error.message);
    this.#jobs.rejectAll(this.#refusal());
  }

  /** The host is gone: repeatable jobs wait for the next one, the others are rejected. */
  #lost(link: Link, reason: string): void {
    if (this.#state === 'closed' && this.#running.size === 0) this.#ended?.();
    if (this.#state === 'closed') return;
    if (this.#retiring.remove(link)) this.#lostRetiring(link);
    if (this.#link !== link) return;
    this.#link = undefined;
    if (this.#state === 'pin-refused') return;
    this.#reason = `the host process ${reason} and is being replaced`;
    this.#report('token-down', `token ${this.config.name}: ${this.#reason}`, link.pid);
    if (performance.now() - this.#upSince > steadyMilliseconds) this.#failures = 0;
    this.#state = this.#failures < quickReplacements ? 'replacing' : 'down';
    for (const job of this.#jobs.loseInFlight(link)) {
      const error = this.#lossOf(job);
      if (error.kind === 'timeout' || this.#state === 'down') job.reject(error);
      else this.#jobs.retryOrReject(job, error);
    }
    if (this.#state === 'down') this.#jobs.rejectAll(this.#refusal());
    this.#openLater();
  }

  #lostRetiring(link: Link): void {
    for (const job of this.#jobs.loseInFlight(link)) this.#jobs.retryOrReject(job, this.#lossOf(job));
    this.#flush();
  }

  #lossOf(job: Job): HsmError {
    const late = performance.now() - job.since > this.#settings.jobTimeoutSeconds * 1_000;
    if (late) return new HsmError('timeout', `token ${this.config.name} did not answer in time; its host process is being replaced`);
    return new HsmError('unavailable', `the host process of token ${this.config.name} ended while the job ran`);
  }

  #openLater(): void {
    const delay = this.#failures === 0 ? 0 : Math.min(lastBackoffMilliseconds, firstBackoffMilliseconds * 2 ** (this.#failures - 1));
    this.#failures++;
    this.#restart = setTimeout(() => {
      this.#open().catch(() => {
        if (this.#state === 'down') this.#openLater();
      });
    }, delay);
  }

  #report(kind: HsmEvent['kind'], message: string, pid?: number): void {
    this.#options.onEvent?.({ kind, token: this.config.name, message, ...(pid === undefined ? {} : { pid }) });
  }
}
