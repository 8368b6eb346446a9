// Durations, timestamps and the test clock.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeDuration, decodeTimestamp, formatTimestamp, parseDuration, parseTimestamp, systemClock } from '../../../core/base/time.ts';
import { TestClock } from '../../harness/clock.ts';

describe('durations (api 12)', () => {
  test.each([
    ['90d', 7_776_000],
    ['1y', 31_536_000],
    ['1y30d12h5m3s', 31_536_000 + 2_592_000 + 43_200 + 303],
    ['0s', 0],
    ['100y', 3_153_600_000],
    ['090d', 7_776_000],
    ['36500d', 3_153_600_000],
  ])('%s', (text, seconds) => {
    expect(parseDuration(text, 'ttl')).toEqual({ text, seconds });
  });

  test.each([
    '',
    'd',
    '1',
    '1.5d',
    '-1d',
    '1d1y',
    '1d1d',
    '1D',
    ' 1d',
    '1d ',
    '1w',
    '1ms',
    '101y',
    '100y1s',
    '99999999999s',
    '１d',
    '1d\n',
  ])('refuses %j', (text) => {
    expect(decodeDuration(text)).toBeUndefined();
    expect(() => parseDuration(text, 'est/ttl')).toThrow(
      expect.objectContaining({ code: 'invalid-value', message: expect.stringContaining('est/ttl') }),
    );
  });

  test('any order-respecting choice of parts gives the sum of its parts', () => {
    const part = fc.option(fc.integer({ min: 0, max: 19 }), { nil: undefined });
    fc.assert(
      fc.property(fc.tuple(part, part, part, part, part), (parts) => {
        const text = parts.map((n, i) => (n === undefined ? '' : `${n}${'ydhms'[i]}`)).join('');
        const seconds = parts.reduce<number>((sum, n, i) => sum + (n ?? 0) * ([31_536_000, 86_400, 3_600, 60, 1][i] ?? 0), 0);
        expect(decodeDuration(text)?.seconds).toBe(text === '' ? undefined : seconds);
      }),
    );
  });
});

describe('timestamps (RFC 3339, api 13)', () => {
  test('six decimals and Z, cut and never rounded up', () => {
    expect(formatTimestamp(Temporal.Instant.from('2026-11-21T10:00:00Z'))).toBe('2026-11-21T10:00:00.000000Z');
    expect(formatTimestamp(Temporal.Instant.from('2026-11-21T10:00:00.123456999+01:00'))).toBe('2026-11-21T09:00:00.123456Z');
  });

  test('format after parse is the identity, and texts sort as instants do', () => {
    const micros = fc.bigInt({ min: 0n, max: 253_402_300_799_999_999n });
    fc.assert(
      fc.property(micros, micros, (a, b) => {
        const [left, right] = [a, b].map((n) => formatTimestamp(Temporal.Instant.fromEpochNanoseconds(n * 1000n))) as [string, string];
        expect(formatTimestamp(parseTimestamp(left, 't'))).toBe(left);
        expect(left < right).toBe(a < b);
      }),
    );
  });

  test.each([
    '2026-11-21',
    '2026-11-21T10:00Z',
    '2026-11-21T10:00:00',
    '2026-W47-6T10:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-11-21T10:00:00[UTC]',
    '2026-11-21 10:00:00Z',
    '',
  ])('refuses %j', (text) => {
    expect(decodeTimestamp(text)).toBeUndefined();
    expect(() => parseTimestamp(text, 'since')).toThrow(expect.objectContaining({ code: 'invalid-value' }));
  });
});

test('the system clock moves; the test clock moves only when a test moves it, its monotonic part never back', () => {
  expect(Temporal.Now.instant().since(systemClock.now()).total('seconds')).toBeLessThan(1);
  const clock = new TestClock('2026-01-01T00:00:00Z');
  clock.advance(1.5);
  clock.step(-3600);
  expect(formatTimestamp(clock.now())).toBe('2025-12-31T23:00:01.500000Z');
  expect(clock.monotonicMs()).toBe(1500);
});
