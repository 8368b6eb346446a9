// Certificates as devices, what is left of a life, days of the trail, and rows for spreadsheets, as the console makes them.
import { describe, expect, test } from 'vitest';
import { csvOf } from '../../../plugins/console/app/marks/csv.ts';
import { lifeOf } from '../../../plugins/console/app/charts/life.ts';
import { dayOfRange, rangeOfDay } from '../../../plugins/console/app/views/audit/day.ts';
import { countStates, devicesOf, lastOfLines, titleOfDevice, type Issued } from '../../../plugins/console/app/views/devices/devices.ts';

const nowMs = Date.parse('2026-06-01T00:00:00Z');
const dayMs = 86_400_000;
const days = (count: number): string => new Date(nowMs + count * dayMs).toISOString();

function issued(serial: string, from: number, to: number, more: Partial<Issued> = {}): Issued {
  const status = to < 0 ? 'expired' : 'valid';
  return {
    ...{ authority: 'plant', serial, subject: 'CN=pump', names: ['pump.example'], via: 'simpleenroll', status },
    ...{ 'not-before': days(from), 'not-after': days(to) },
    ...more,
  };
}

describe('a life', () => {
  test('has no sign while more than a third is left, however short it is', () => {
    expect(lifeOf(issued('1', 0, 30), nowMs)).toEqual({ left: 1, tone: undefined });
    expect(lifeOf(issued('1', -0.5, 0.5), nowMs).tone).toBeUndefined();
    expect(lifeOf(issued('1', -70, 30), nowMs).tone).toBe('warn');
    expect(lifeOf(issued('1', -91, 9), nowMs).tone).toBe('bad');
    expect(lifeOf(issued('1', -91, -1), nowMs)).toEqual({ left: 0, tone: 'bad' });
  });
});

describe('devices', () => {
  test('are what has one identity below one authority, by the certificate that ends last', () => {
    const all = [issued('1', -60, 1), issued('2', -30, 30), issued('3', 0, 60, { authority: 'other' }), issued('4', -90, -30)];
    const devices = devicesOf(all, nowMs);
    expect(devices.map(({ current }) => current.serial).toSorted()).toEqual(['2', '3']);
    expect(devices.find(({ current }) => current.serial === '2')?.others.map(({ serial }) => serial)).toEqual(['1', '4']);
  });

  test.each([
    ['CN=pump', 'pump'],
    ['O=x, CN=pump', 'pump'],
    ['O=x+CN=pump,OU=y', 'pump'],
    [String.raw`CN=pump\, left`, 'pump, left'],
    [String.raw`O=x\,CN=bank.example.com,CN=evil.example.com`, 'evil.example.com'],
    [String.raw`O=x\\\,CN=bank\+CN=bank,CN=evil`, 'evil'],
    ['CN=bank,CN=evil', 'CN=bank,CN=evil'],
    ['O=x', 'O=x'],
    ['', 'pump.example'],
  ])('with the subject %s are called %s', (subject, title) =>
    expect(devicesOf([issued('1', 0, 1, { subject })], nowMs).map(titleOfDevice)).toEqual([title]),
  );

  test('enrolled several times are revoked with every line that has a valid certificate, also one that no search has shown', () => {
    const shown = [issued('1', -20, 10), issued('2', -10, 20, { line: '1' }), issued('3', -5, 15)];
    const [device] = devicesOf(shown, nowMs);
    const since = [
      issued('4', 0, 5, { line: '3' }),
      issued('5', 0, 30),
      issued('6', -9, 9, { status: 'revoked' }),
      issued('7', 0, 30, { subject: 'CN=pump-2' }),
      issued('8', 0, 30, { authority: 'other' }),
    ];
    expect(device && lastOfLines(device, [...shown, ...since]).map(({ serial }) => serial)).toEqual(['2', '3', '5']);
    const [gone] = devicesOf([issued('9', -30, -1)], nowMs);
    expect(gone && lastOfLines(gone, []).map(({ serial }) => serial)).toEqual(['9']);
  });

  test('without any name are told apart by their lines', () => {
    const nobody = { subject: '', names: [] };
    const devices = devicesOf(
      [issued('1', -5, 5, nobody), issued('2', 0, 10, { ...nobody, line: '1' }), issued('3', 0, 10, nobody)],
      nowMs,
    );
    expect(devices).toHaveLength(2);
  });

  test('that need a person come first; a renewed one needs none', () => {
    const named = (name: string): Partial<Issued> => ({ subject: `CN=${name}` });
    const devices = devicesOf(
      [
        issued('1', -5, 25, named('fresh')),
        issued('2', -29, 1, named('late')),
        issued('3', -25, 5, named('due')),
        issued('4', -29, 1, named('renewed')),
        issued('5', 0, 30, named('renewed')),
        issued('6', -9, 9, { ...named('gone'), status: 'revoked' }),
      ],
      nowMs,
    );
    expect(devices.slice(0, 2).map(titleOfDevice)).toEqual(['late', 'due']);
    expect(countStates(devices)).toEqual({ late: 1, due: 1, fresh: 2, ended: 0, revoked: 1 });
  });

  test('with one revoked certificate and a later valid one are valid', () => {
    const [device] = devicesOf([issued('1', -5, 50, { status: 'revoked' }), issued('2', -1, 20)], nowMs);
    expect(device).toMatchObject({ state: 'fresh', current: { serial: '2' } });
  });
});

describe('a day', () => {
  test('is the one that its range makes, in UTC and in the zone of the reader, and nothing else is one', () => {
    for (const isUtc of [true, false])
      for (const day of ['2026-03-29', '2026-10-25', '2024-02-29', '2026-12-31']) {
        const { from, to } = rangeOfDay(day, isUtc) ?? { from: '', to: '' };
        expect(dayOfRange(Date.parse(from), Date.parse(to), isUtc)).toBe(day);
        expect(dayOfRange(Date.parse(from), Date.parse(to) - 1, isUtc)).toBe('');
      }
    expect(rangeOfDay('2026-1-1', true)).toBeUndefined();
    expect(dayOfRange(NaN, NaN, true)).toBe('');
  });
});

describe('rows', () => {
  test('are quoted (RFC 4180), and no text becomes a formula', () => {
    expect(csvOf([['a', 'b,c', 'say "x"', 'two\nlines']])).toBe('a,"b,c","say ""x""","two\nlines"\r\n');
    expect(csvOf([['=1+1', '+1', '-1', '@x', '\tx']])).toBe("'=1+1,'+1,'-1,'@x,'\tx\r\n");
  });
});
