// The PIN among custodians: any M shares open it, fewer do not, each is judged alone, and nothing beside it can be changed.
import { hash, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { combine } from 'shamir-secret-sharing';
import { expect, test } from 'vitest';
import { keepNext, makeCeremony, openPins, readCeremonies, readShares, takeEffect } from '../../../appliance/custodians/ceremony.ts';
import { Gathering } from '../../../appliance/custodians/gathering.ts';
import { formatShare, parseShare, type Share } from '../../../appliance/custodians/share.ts';
import { revealSecret, Secret } from '../../../core/base/secret.ts';
import { TestClock } from '../../harness/clock.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const pins = { default: new Secret('1234-5678') };
const make = (shares: number, needed: number) =>
  makeCeremony({
    key: new Secret(new Uint8Array(randomBytes(32))),
    needed,
    recipients: Array.from({ length: shares }, (_, at) => `custodian ${at + 1}`),
    pins,
    madeAt: '2026-01-01T00:00:00.000000Z',
  });

/** Every choice of so many of these. */
function choices<T>(all: readonly T[], many: number): readonly (readonly T[])[] {
  if (many === 0) return [[]];
  return all.flatMap((one, at) => choices(all.slice(at + 1), many - 1).map((rest) => [one, ...rest]));
}

test('every choice of enough shares opens the PIN, and none of too few', async () => {
  const { ceremony, shares } = await make(5, 3);
  for (const some of choices(shares, 3)) {
    const opened = await openPins(ceremony, readShares(ceremony, some));
    expect(revealSecret(opened['default'] as Secret<string>)).toBe('1234-5678');
  }
  for (const some of choices(shares, 2)) await expect(openPins(ceremony, readShares(ceremony, some))).rejects.toThrow('too few');
});

test('shares of other programs over the same field combine alike', async () => {
  // Made by hand: f(x) = 0x42 + 0x17 x over GF(2^8) with 0x11b, at x = 1, 2 and 3; the last octet is x.
  const values = [Uint8Array.of(0x42 ^ 0x17, 1), Uint8Array.of(0x42 ^ 0x2e, 2), Uint8Array.of(0x42 ^ 0x17 ^ 0x2e, 3)];
  for (const two of choices(values, 2)) expect(await combine([...two])).toEqual(Uint8Array.of(0x42));
});

test('the text of a share is read however it is typed, and a typing error is found', async () => {
  const { shares } = await make(3, 2);
  const text = revealSecret(shares[0] as Secret<string>);
  const typed = ` ${text.toUpperCase().replaceAll('0', 'O').replaceAll('1', 'l')} \n`;
  expect(revealSecret(formatShare(parseShare(new Secret(typed)) as Share))).toBe(text);
  let found = 0;
  for (let at = 4; at < text.length; at++) {
    const other = text[at] === 'z' ? 'y' : 'z';
    if (text[at] !== '-' && parseShare(new Secret(text.slice(0, at) + other + text.slice(at + 1))) === undefined) found++;
  }
  // Of a million other texts one fits the four letters at the end.
  expect(found).toBe(text.replaceAll('-', '').length - 3);
  for (const bad of ['', 'ks1', text.slice(0, -1), `${text}-x`, text.replace('ks1', 'ks2'), text.repeat(2)])
    expect(parseShare(new Secret(bad)), bad).toBeUndefined();
});

test('nobody lowers the number of shares in the file, and a changed file opens nothing', async () => {
  const { ceremony, shares } = await make(4, 3);
  const two = readShares(ceremony, shares.slice(0, 2));
  await expect(openPins({ ...ceremony, needed: 2 }, two)).rejects.toThrow(/is damaged/);
  const all = readShares(ceremony, shares);
  await expect(openPins({ ...ceremony, madeAt: 'earlier' }, all)).rejects.toThrow(/is damaged/);
  const sealed = Buffer.from(ceremony.sealed, 'base64');
  sealed[0] = (sealed[0] ?? 0) ^ 1;
  await expect(openPins({ ...ceremony, sealed: sealed.toString('base64') }, all)).rejects.toThrow(/is damaged/);
});

test('a file that is not a ceremony is said to be damaged, with the remedy, before a share is compared', async () => {
  const data = path('damaged');
  mkdirSync(data);
  const { ceremony } = await make(3, 2);
  const [first, ...others] = ceremony.shares;
  for (const damaged of [
    { ...ceremony, nonce: '' },
    { ...ceremony, sealed: 'AAAA' },
    { ...ceremony, shares: [{ ...first, sha256: 'abcd' }, ...others] },
  ]) {
    writeFileSync(join(data, 'custodians.json'), JSON.stringify(damaged));
    expect(() => readCeremonies(data)).toThrow(/custodians.json is damaged .* put it back from your backup/);
  }
});

test('a share is judged alone: a wrong one counts for nothing, the same one counts once, and time forgets them', async () => {
  const data = path('one');
  mkdirSync(data);
  const clock = new TestClock();
  clock.advance(3_600);
  const { ceremony, shares } = await make(3, 2);
  keepNext(data, ceremony);
  takeEffect(data, ceremony);
  const gathering = new Gathering(data, clock);
  expect(gathering.progress()).toEqual({ ceremony: ceremony.ceremony, have: 0, needed: 2 });
  const [first, second] = shares as [Secret<string>, Secret<string>];
  const { value, ...rest } = parseShare(first) as Share;
  const altered = Uint8Array.from(revealSecret(value), (octet, at) => (at === 3 ? octet ^ 1 : octet));
  for (const wrong of [
    formatShare({ ...rest, value: new Secret(altered) }),
    new Secret('ks1-nothing'),
    (await make(3, 2)).shares[0] as Secret<string>,
  ])
    expect(() => gathering.judge(wrong)).toThrow(expect.objectContaining({ code: 'share-refused' }));
  // A share that is judged, and could not be recorded, is as new as before.
  for (let time = 0; time < 2; time++) expect([gathering.judge(first).isNew, gathering.progress()?.have]).toEqual([true, 0]);
  expect(await gathering.take(gathering.judge(first))).toMatchObject({ progress: { have: 1 }, pins: undefined });
  expect(gathering.judge(first).isNew).toBe(false);
  expect(await gathering.take(gathering.judge(first))).toMatchObject({ progress: { have: 1 }, pins: undefined });
  clock.advance(1_801);
  expect(gathering.progress()?.have).toBe(0);
  await gathering.take(gathering.judge(first));
  const { pins: opened } = await gathering.take(gathering.judge(second));
  expect(opened && revealSecret(opened['default'] as Secret<string>)).toBe('1234-5678');
});

test('a ceremony that was cut off is there beside the one in force, with its own shares', async () => {
  const data = path('two');
  mkdirSync(data);
  const [before, next] = [await make(3, 2), await make(4, 3)];
  keepNext(data, before.ceremony);
  takeEffect(data, before.ceremony);
  keepNext(data, next.ceremony);
  expect(readCeremonies(data).map(({ ceremony }) => ceremony)).toEqual([before.ceremony.ceremony, next.ceremony.ceremony]);
  takeEffect(data, before.ceremony);
  expect(readCeremonies(data)).toHaveLength(2);
  takeEffect(data, next.ceremony);
  expect(readCeremonies(data).map(({ ceremony }) => ceremony)).toEqual([next.ceremony.ceremony]);
  expect(hash('sha256', revealSecret((parseShare(next.shares[0] as Secret<string>) as Share).value), 'hex')).toBe(
    next.ceremony.shares[0]?.sha256,
  );
});
