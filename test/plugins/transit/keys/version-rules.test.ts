// Which version may be used when: the rules compared with a ten-line model, over years of rotations with a clock that is also set back.
import { deepEqual, equal, ok } from 'node:assert/strict';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  activationUnder,
  barForDecryption,
  barForEncryption,
  newestActive,
  timesOfNewVersion,
  type Timers,
  type VersionRules,
  type VersionTimes,
} from '../../../../plugins/transit/records/version-rules.ts';

type Mutable = { -readonly [K in keyof VersionRules]: VersionRules[K] };
type Kept = { -readonly [K in keyof VersionTimes]: VersionTimes[K] };
/** A key as the plugin keeps it. */
type State = { rules: Mutable; versions: Map<number, Kept> };

const start = 1_000_000;
const day = 86_400;

// Small units keep counter-examples readable; the rules have no unit.
const timersArb: fc.Arbitrary<Timers | undefined> = fc.option(
  fc
    .tuple(fc.nat(20), fc.integer({ min: 1, max: 20 }), fc.nat(20), fc.boolean(), fc.boolean())
    .map(([activate, more, further, deprecates, invalidates]) => ({
      rotate: (activate + 100) * day,
      activate: activate * day,
      ...(deprecates ? { deprecate: (activate + more) * day } : {}),
      ...(invalidates ? { invalidate: (activate + more + further) * day } : {}),
    })),
  { nil: undefined },
);

type Step =
  | { do: 'pass'; days: number }
  | { do: 'step back'; days: number }
  | { do: 'rotate' }
  | { do: 'trim'; share: number }
  | { do: 'minima'; encryption: number; decryption: number }
  | { do: 'timers'; timers: Timers | undefined };

const stepArb: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('pass' as const), days: fc.nat(40) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('step back' as const), days: fc.nat(60) }) },
  { weight: 4, arbitrary: fc.constant({ do: 'rotate' as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('trim' as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('minima' as const), encryption: fc.nat(12), decryption: fc.nat(12) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('timers' as const), timers: timersArb }) },
);

/** Runs steps as the plugin does, calling `look` after each. */
function live(steps: readonly Step[], look: (state: State, now: number) => void): void {
  let now = start;
  const rules: Mutable = { latest: 1, floor: 1, minEncryptionVersion: 0, minDecryptionVersion: 0 };
  const state: State = { rules, versions: new Map([[1, { ...timesOfNewVersion({}, undefined, now) }]]) };
  for (const step of steps) {
    if (step.do === 'pass') now += step.days * day;
    else if (step.do === 'step back') now -= step.days * day;
    else if (step.do === 'rotate') rotate(state, now);
    else if (step.do === 'trim') trim(state, step.share);
    else if (step.do === 'minima') setMinima(state, step.encryption, step.decryption);
    else setTimers(state, step.timers, now);
    look(state, now);
  }
}

function rotate({ rules, versions }: State, now: number): void {
  const previous = versions.get(rules.latest) as Kept;
  const times = timesOfNewVersion(rules, previous, now);
  previous.supersededAt = times.createdAt;
  rules.latest += 1;
  versions.set(rules.latest, { ...times });
}

function trim({ rules, versions }: State, share: number): void {
  const floor = rules.floor + Math.floor(share * (rules.latest - rules.floor));
  for (let number = rules.floor; number < floor; number += 1) versions.delete(number);
  rules.floor = floor;
}

function setMinima({ rules }: State, encryption: number, decryption: number): void {
  rules.minDecryptionVersion = Math.min(decryption, rules.latest);
  rules.minEncryptionVersion = encryption === 0 ? 0 : Math.max(Math.min(encryption, rules.latest), rules.minDecryptionVersion);
}

function setTimers({ rules, versions }: State, timers: Timers | undefined, now: number): void {
  if (timers === undefined) delete rules.timers;
  else rules.timers = timers;
  for (const times of versions.values()) if (times.activatesAt > now) times.activatesAt = activationUnder(timers, times, now);
}

/** The model: the specification applied to each version, without optimisation. */
function modelOf({ rules, versions }: State, now: number) {
  const { minEncryptionVersion, minDecryptionVersion, floor, timers } = rules;
  const reached = (times: Kept, after = Infinity): boolean => times.supersededAt !== undefined && now >= times.supersededAt + after;
  const all = [...versions].sort(([one], [other]) => one - other);
  const decrypts = (number: number, times: Kept) => number >= minDecryptionVersion && !reached(times, timers?.invalidate);
  const retired = (number: number): boolean => {
    const times = versions.get(number);
    return times !== undefined && (reached(times, timers?.deprecate) || reached(times, timers?.invalidate));
  };
  const active = (number: number, times: Kept) =>
    now >= times.activatesAt || number <= Math.max(floor, minEncryptionVersion, minDecryptionVersion) || retired(number - 1);
  const encrypts = (number: number, times: Kept) =>
    decrypts(number, times) && number >= minEncryptionVersion && !reached(times, timers?.deprecate) && active(number, times);
  return {
    decrypts: all.filter(([number, times]) => decrypts(number, times)).map(([number]) => number),
    encrypts: all.filter(([number, times]) => encrypts(number, times)).map(([number]) => number),
  };
}

describe('the rules, over random lives of a key', () => {
  const lives = fc.array(stepArb, { minLength: 1, maxLength: 40, size: 'max' });

  test('every version is allowed and barred exactly as the model says, and encryption uses the newest allowed one', () => {
    fc.assert(
      fc.property(lives, (steps) =>
        live(steps, (state, now) => {
          const { rules, versions } = state;
          const numbers = [...versions.keys()].sort((one, other) => one - other);
          const allowed = (bar: typeof barForDecryption): number[] =>
            numbers.filter((number) => bar(rules, number, versions.get(number) as Kept, now) === undefined);
          const model = modelOf(state, now);
          deepEqual({ decrypts: allowed(barForDecryption), encrypts: allowed(barForEncryption) }, model);
          equal(
            newestActive(rules, (number) => versions.get(number) as Kept, now),
            model.encrypts.at(-1),
          );
        }),
      ),
      { numRuns: 2_000 },
    );
  });

  test('there is always a version that encrypts, and what it encrypts decrypts', () => {
    fc.assert(
      fc.property(lives, (steps) =>
        live(steps, ({ rules, versions }, now) => {
          const number = newestActive(rules, (one) => versions.get(one) as Kept, now);
          const times = versions.get(number) as Kept;
          equal(barForEncryption(rules, number, times, now), undefined);
          equal(barForDecryption(rules, number, times, now), undefined);
        }),
      ),
      { numRuns: 2_000 },
    );
  });

  test('instants never decrease from one version to the next, whatever the clock does', () => {
    fc.assert(
      fc.property(lives, (steps) =>
        live(steps, ({ versions }) => {
          const times = [...versions].sort(([one], [other]) => one - other).map(([, one]) => one);
          times.slice(1).forEach((one, at) => {
            ok(one.createdAt >= (times[at] as Kept).createdAt);
            ok(one.activatesAt >= (times[at] as Kept).activatesAt);
          });
        }),
      ),
      { numRuns: 400 },
    );
  });

  test('while the clock runs forward and nobody changes the key, what was barred for good stays barred, and what encrypts only moves up', () => {
    fc.assert(
      fc.property(lives, fc.array(fc.nat(30), { maxLength: 20 }), (steps, waits) => {
        let last: { state: State; now: number } | undefined;
        live(steps, (state, now) => (last = { state, now }));
        const { state, now: from } = last as { state: State; now: number };
        let before = modelOf(state, from);
        let now = from;
        for (const days of waits) {
          now += days * day;
          const after = modelOf(state, now);
          ok(after.decrypts.every((number) => before.decrypts.includes(number)));
          ok((after.encrypts.at(-1) as number) >= (before.encrypts.at(-1) as number));
          before = after;
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('a clock set back after activate-after was shortened: the newer version steps in for the one that has retired', () => {
    const first = { activate: 10 * day, rotate: 100 * day };
    const second = { activate: 0, deprecate: day, rotate: 100 * day };
    const steps: Step[] = [
      { do: 'timers', timers: first },
      { do: 'rotate' },
      { do: 'pass', days: 5 },
      { do: 'timers', timers: second },
      { do: 'step back', days: 2 },
    ];
    let inUse = 0;
    live(steps, ({ rules, versions }, now) => (inUse = newestActive(rules, (number) => versions.get(number) as Kept, now)));
    expect(inUse).toBe(2);
  });

  test('a version that had not to wait stays in use when the clock is set back', () => {
    const inUse: number[] = [];
    const steps: Step[] = [{ do: 'pass', days: 5 }, { do: 'rotate' }, { do: 'rotate' }, { do: 'step back', days: 9 }];
    live(steps, ({ rules, versions }, now) => inUse.push(newestActive(rules, (number) => versions.get(number) as Kept, now)));
    expect(inUse.at(-1)).toBe(3);
  });

  test('newestActive reads a handful of versions of a key that has 10,000', () => {
    const versions = new Map<number, Kept>();
    for (let number = 1; number <= 10_000; number += 1) versions.set(number, { createdAt: number, activatesAt: number + 5_000 });
    const rules: VersionRules = { latest: 10_000, floor: 1, minEncryptionVersion: 0, minDecryptionVersion: 0 };
    for (const [now, expected] of [
      [5_000, 1],
      [5_001, 1],
      [8_000, 3_000],
      [15_000, 10_000],
    ] as const) {
      let reads = 0;
      const found = newestActive(rules, (number) => ((reads += 1), versions.get(number) as Kept), now);
      expect(found).toBe(expected);
      expect(reads).toBeLessThanOrEqual(15);
    }
  });
});
