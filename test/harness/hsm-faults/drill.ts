// The drill of HSM faults: a token is used while its module goes wrong in every way, and after each fault a process without faults looks
// whether every answer was right or a fitting refusal, and whether every key that was acknowledged is still itself.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Hsm, HsmError, KeyType } from '../../../hsm/api.ts';
import { openHsm } from '../../../hsm/client/open.ts';
import type { HsmEvent } from '../../../hsm/client/options.ts';
import { Dice } from '../../fuzz/cases.ts';
import { patienceMs } from '../patience.ts';
import { type Fault, type FaultyToken, makeFaultyToken } from '../token/faulty-module.ts';
import { testHsmConfig } from '../token/softhsm.ts';
import { always, describeFault, drawFault, everyReturnValue, isWrongAnswer } from './faults.ts';
import { canLie, couldNotBeKnown, findMisfit, mayLatch } from './judging.ts';
import { prove } from './keys.ts';
import { type Bench, makeLasting, unlessMissing, type Verdict, works } from './works.ts';

export type DrillOptions = {
  readonly directory: string;
  /** how many faults strike */
  readonly faults: number;
  readonly seed: number;
  /** as HsmConfig.checkAnswers */
  readonly checkAnswers: boolean;
  /** which drill this is, of how many that share the pairs of function and CK_RV */
  readonly share?: { readonly index: number; readonly of: number };
};

/** What a drill came to. */
export type DrillReport = {
  readonly seed: number;
  readonly checkAnswers: boolean;
  faults: number;
  /** jobs without a fault for which the machine took longer than a job may */
  late: number;
  right: number;
  /** by kind of HsmError */
  readonly refused: Record<string, number>;
  /** wrong answers that could not be known */
  unknown: number;
  hostsReplaced: number;
  /** from the end of a fault to the first right answer */
  longestRecoveryMs: number;
  /** pairs of function and CK_RV that have not struck */
  pairsLeft: number;
  readonly byKind: Record<string, number>;
  readonly byWork: Record<string, number>;
};

const jobTimeoutSeconds = 3;
const checkEvery = 200;
const mostKeys = 40;
const mostFailures = 10;
const casesTold = 10;
/** Few, so that most uses load a key. */
const cacheKeys = 10;

const lasting: readonly (readonly [KeyType, 'wrapped' | 'token', boolean])[] = [
  ...(['aes-256', 'secret-256', 'rsa-2048', 'ecdsa-p256', 'ecdsa-p384', 'ed25519'] as const).flatMap((type) => [
    [type, 'wrapped', false] as const,
    [type, 'wrapped', true] as const,
  ]),
  ['aes-128', 'token', false],
  ['ecdsa-p256', 'token', true],
  ['secret-256', 'token', true],
];

/**
 * Runs the drill. Throws when an answer, a loss or a hang was not acceptable, with the cases and the seed: ten at most, each followed by a
 * token that is whole.
 */
export async function drillHsmFaults(options: DrillOptions): Promise<DrillReport> {
  const { directory, faults, seed, checkAnswers } = options;
  const dice = new Dice(seed);
  const systematic = everyReturnValue(dice, options.share ?? { index: 0, of: 1 });
  const report: DrillReport = {
    ...{ seed, checkAnswers, faults: 0, late: 0, right: 0, refused: {}, unknown: 0, hostsReplaced: 0, longestRecoveryMs: 0, pairsLeft: 0 },
    ...{ byKind: {}, byWork: {} },
  };
  const failures: string[] = [];
  while (report.faults < faults && failures.length < mostFailures) {
    const drill = await Drill.begin({ ...options, directory: join(directory, `token-${failures.length}`) }, { dice, systematic, report });
    try {
      await drill.run();
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error));
      console.error(`after ${report.faults} faults: ${failures.at(-1)}`);
    } finally {
      await drill.end();
    }
  }
  report.pairsLeft = systematic.length;
  if (failures.length > 0) throw new Error(`after ${report.faults} faults:\n${failures.join('\n')}`);
  return report;
}

/** What goes on from one token to the next: the dice, the systematic faults still to come, and the report. */
type Course = { readonly dice: Dice; readonly systematic: Fault[]; readonly report: DrillReport };

class Drill {
  readonly report: DrillReport;
  readonly #options: DrillOptions;
  readonly #faulty: FaultyToken;
  readonly #bench: Bench;
  readonly #dice: Dice;
  /** those still to come */
  readonly #systematic: Fault[];
  #hsm: Hsm | undefined;
  #newestWrappingKey = 1;
  #events: HsmEvent[] = [];
  #case = '';
  /** the cases before, the latest last: what they left may show later */
  readonly #before: string[] = [];
  #fault: Fault = { name: '', kind: 'refuse' };
  #work = '';
  /** whether the fault is one of the systematic ones */
  #isPair = false;

  static async begin(options: DrillOptions, course: Course): Promise<Drill> {
    const faulty = await makeFaultyToken(options.directory);
    const { KEYSTORED_FAULTY_REAL: module = '', ...environment } = faulty.token.environment ?? {};
    const witness = await openHsm({ ...testHsmConfig({ ...faulty.token, module, environment }), cacheKeys: 1 });
    const drill = new Drill(options, faulty, witness, course);
    for (const [type, custody, isImported] of lasting) await makeLasting(drill.#bench, type, custody, isImported);
    await drill.#open();
    return drill;
  }

  private constructor(options: DrillOptions, faulty: FaultyToken, witness: Hsm, { dice, systematic, report }: Course) {
    this.#options = options;
    this.#faulty = faulty;
    this.#dice = dice;
    this.#systematic = systematic;
    this.report = report;
    let ids = 0;
    this.#bench = {
      hsm: () => this.#hsm as Hsm,
      ...{ witness, dice: this.#dice, keys: [], doomed: [], lasting: lasting.length },
      nextId: () => `key-${++ids}`,
      killHost: () => this.#killHost(),
      reopen: async () => {
        await this.#hsm?.close();
        await this.#open();
      },
      judge: (error) => this.#judge(error),
      follow: (number) => {
        this.#newestWrappingKey = number;
      },
    };
  }

  async run(): Promise<void> {
    for (let count = 1; this.report.faults < this.#options.faults; count++) {
      await this.#runCase(count);
      if (count % checkEvery === 0) await this.#checkAll();
    }
    await this.#checkAll();
  }

  async end(): Promise<void> {
    this.#faulty.table.disarm();
    await Promise.all([this.#hsm?.close(), this.#bench.witness.close()]);
  }

  async #runCase(count: number): Promise<void> {
    this.#draw();
    this.#case = `case ${count} of seed ${this.report.seed}${this.report.checkAnswers ? ', answers checked' : ''}: ${this.#work}, ${describeFault(this.#fault)}`;
    const { table } = this.#faulty;
    const run = await (works[this.#work] as (typeof works)[string]).begin(this.#bench);
    table.arm(this.#fault);
    const answer = await Promise.race([outcomeOf(run), sleep(patienceMs, 'late' as const, { ref: false })]);
    const hasStruck = table.struck > 0;
    table.disarm();
    if (answer === 'late') return this.#fail('no answer');
    const isLate = 'error' in answer && !hasStruck && (answer.error as Partial<HsmError>).kind === 'timeout';
    if ('error' in answer && !hasStruck && !isLate) this.#fail('refused although nothing went wrong', answer.error);
    if (isLate) this.report.late += 1;
    else if ('error' in answer) this.#judge(answer.error);
    else if (!(await isRight(answer.verdict))) this.#takeWrong();
    else if (hasStruck) this.report.right += 1;
    if (hasStruck) this.#count();
    else if (this.#isPair) this.#systematic.unshift(this.#fault);
    await this.#recover();
    this.#before.push(hasStruck ? this.#case : `${this.#case} (which did not strike)`);
    if (this.#before.length > casesTold) this.#before.shift();
  }

  /** The pairs of function and CK_RV take turns with what else can go wrong; some stay until they are taken away. */
  #draw(): void {
    const next = this.#dice.chance(0.4) ? this.#systematic.pop() : undefined;
    this.#isPair = next !== undefined;
    const names = Object.keys(works).filter((name) => next === undefined || works[name]?.calls.includes(next.name));
    this.#work = this.#dice.pick(names);
    const drawn =
      next === undefined
        ? drawFault(this.#dice, (works[this.#work] as (typeof works)[string]).calls)
        : { ...next, times: this.#dice.chance(0.8) ? 1 : always };
    this.#fault = canLie(this.#work) || !isWrongAnswer(drawn.kind) ? drawn : { ...drawn, times: 1 };
  }

  #judge(error: unknown): void {
    const misfit = findMisfit(error, this.#work, this.#fault);
    if (misfit !== undefined) this.#fail(misfit, error);
    const { kind } = error as HsmError;
    this.report.refused[kind] = (this.report.refused[kind] ?? 0) + 1;
  }

  #takeWrong(): void {
    if (!couldNotBeKnown(this.#work, this.#fault, this.#options.checkAnswers)) this.#fail('a wrong answer');
    this.report.unknown += 1;
  }

  #count(): void {
    const { byKind, byWork } = this.report;
    this.report.faults += 1;
    byKind[this.#fault.kind] = (byKind[this.#fault.kind] ?? 0) + 1;
    byWork[this.#work] = (byWork[this.#work] ?? 0) + 1;
  }

  /** The service answers again, by itself; only a PIN that the token has refused waits for a person. */
  async #recover(): Promise<void> {
    const since = performance.now();
    const state = this.#hsm?.status()[0]?.state;
    if (state === 'pin-refused' && !mayLatch(this.#fault)) this.#fail('a PIN counts as refused that was not');
    // Each host that is lost makes the next wait longer; a drill would wait for nothing else.
    const isWorn = this.#events.filter(({ kind }) => kind === 'token-down').length > 1;
    // A host whose job has hung is about to end, and the next job would be lost with it.
    const mayEnd = this.#fault.kind === 'delay' && (this.#fault.argument ?? 0) > 1_000;
    // What could not be known of a key that was loaded stays with it.
    const { name, kind: how } = this.#fault;
    const isOfLoading = how === 'other-handle' || name === 'C_GetAttributeValue';
    const stays = isOfLoading && couldNotBeKnown(this.#work, this.#fault, this.#options.checkAnswers);
    if (this.#hsm === undefined || state === 'pin-refused' || isWorn || mayEnd || stays) await this.#renew();
    for (;;) {
      const error = await this.#tryOut();
      if (error === undefined) break;
      if (performance.now() - since > patienceMs) this.#fail('the service does not recover', error);
      await sleep(20);
    }
    this.report.longestRecoveryMs = Math.max(this.report.longestRecoveryMs, Math.round(performance.now() - since));
    const { witness, doomed, keys } = this.#bench;
    for (const key of doomed.splice(0)) await patiently(() => witness.destroy(key).catch(unlessMissing));
    for (const { reference } of keys.splice(mostKeys)) await patiently(() => witness.destroy(reference));
  }

  async #tryOut(): Promise<unknown> {
    try {
      await this.#bench.hsm().selfTest();
      await prove(this.#bench.hsm(), this.#dice.pick(this.#bench.keys));
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /** Every acknowledged key is itself, and the token holds no other object of this service. */
  async #checkAll(): Promise<void> {
    const { witness, keys } = this.#bench;
    for (const key of keys) await patiently(() => prove(witness, key)).catch((error: unknown) => this.#fail('a key is lost', error));
    const wrappingKeys = await witness.wrappingKeys.list('main');
    const found = (await witness.ownObjects('main', 10_000)).map(({ label }) => label);
    const expected = [
      'keystored-binding-key',
      ...wrappingKeys.map(() => 'keystored-wrapping-key'),
      ...keys.flatMap(({ custody, reference: { binding } }) => (custody === 'token' ? [`keystored drill ${binding.keyId} v1 drill`] : [])),
    ];
    if (found.toSorted().join('\n') !== expected.toSorted().join('\n'))
      this.#fail(`the token holds ${found.length} objects and should hold ${expected.length}: ${differences(found, expected)}`);
  }

  async #open(): Promise<void> {
    this.#hsm = undefined;
    const { checkAnswers } = this.#options;
    const config = { ...testHsmConfig(this.#faulty.token), cacheKeys, jobTimeoutSeconds, checkAnswers };
    const events: HsmEvent[] = [];
    this.#events = events;
    const hsm = await openHsm(config, {
      onEvent: (event) => {
        events.push(event);
        if (event.kind === 'token-down') this.report.hostsReplaced += 1;
      },
    });
    hsm.wrappingKeys.follow(() => this.#newestWrappingKey);
    this.#hsm = hsm;
  }

  async #renew(): Promise<void> {
    await this.#hsm?.close();
    await this.#open().catch((error: unknown) => this.#fail('the token does not open', error));
  }

  #killHost(): void {
    const pid = this.#events.findLast(({ kind }) => kind === 'token-up')?.pid;
    try {
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }

  #fail(what: string, cause?: unknown): never {
    const why = cause === undefined ? '' : `: ${cause instanceof Error ? `${cause.name} ${cause.message}` : JSON.stringify(cause)}`;
    const events = this.#events.slice(-3).map(({ kind, message }) => `${kind}, ${message}`);
    const told = [`${this.#case}: ${what}${why}`, ...events].join('; before that ');
    throw new Error([told, 'the cases before:', ...this.#before].join('\n  '), { cause });
  }
}

async function outcomeOf(run: () => Promise<Verdict>): Promise<{ readonly verdict: Verdict } | { readonly error: unknown }> {
  try {
    return { verdict: await run() };
  } catch (error) {
    return { error };
  }
}

/** The witness cannot open or verify what is wrong, however often it tries. */
async function isRight(verdict: Verdict): Promise<boolean> {
  if (typeof verdict === 'boolean') return verdict;
  return patiently(async () => {
    if (!(await verdict())) throw new Error('a wrong answer');
    return true;
  }).catch(() => false);
}

/** The process of the witness shares SoftHSM's files with others that log in, and is replaced when it reads them at the wrong moment. */
async function patiently<T>(act: () => Promise<T>): Promise<T> {
  for (let tries = 5; ; tries--) {
    try {
      return await act();
    } catch (error) {
      if (tries === 1) throw error;
      await sleep(200);
    }
  }
}

function differences(found: readonly string[], expected: readonly string[]): string {
  const [more, less] = [found.filter((one) => !expected.includes(one)), expected.filter((one) => !found.includes(one))];
  return `too many ${more.join(', ') || 'none'}, missing ${less.join(', ') || 'none'}`;
}
