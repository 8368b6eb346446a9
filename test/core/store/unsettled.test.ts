// What an answer has to wait for because others of a cluster may not have it yet.
import { beforeEach, expect, test } from 'vitest';
import { Unsettled } from '../../../core/store/records/unsettled.ts';
import { keyBytes } from '../../../core/store/keys.ts';

let settled = 0;
let unsettled: Unsettled;
const spanOf = (low: string, high: string) => ({ low: keyBytes(low), high: keyBytes(high) });

beforeEach(() => {
  settled = 10;
  unsettled = new Unsettled(() => settled);
  unsettled.moved(['a/changed', 'a/gone'], 12);
});

test('what did not change waits for nothing, whatever else is on its way', () => {
  unsettled.look('a/other');
  unsettled.search(spanOf('b', 'c'));
  expect(unsettled.touched).toBeUndefined();
});

test.each(['a/changed', 'a/gone'])('%s is waited for until all have it, by everything that is answered meanwhile', (text) => {
  unsettled.look(text);
  expect(unsettled.touched).toBe(12);
  settled = 11;
  expect(unsettled.touched).toBe(12);
  settled = 12;
  expect(unsettled.touched).toBeUndefined();
});

test('a search touches what changed or went where it searches, its upper end excepted', () => {
  unsettled.search(spanOf('a/changed0', 'a/gone'));
  expect(unsettled.touched).toBeUndefined();
  unsettled.search(spanOf('a/', 'a/d'));
  expect(unsettled.touched).toBe(12);
});

test('where it is not known what changed, everything did', () => {
  unsettled.moved(undefined, 14);
  expect(unsettled.touched).toBe(14);
});

test('a record that changes again is waited for as it is now', () => {
  unsettled.moved(['a/changed'], 13);
  settled = 12;
  unsettled.look('a/changed');
  expect(unsettled.touched).toBe(13);
});

test('what was everywhere before it was read here is not kept', () => {
  settled = 12;
  unsettled.moved(['b'], 13);
  unsettled.look('a/changed');
  expect(unsettled.touched).toBeUndefined();
});
