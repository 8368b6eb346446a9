// Turns of owners at the token: who comes with little work is served beside who has much, and all in proportion to time and not to count.
import { expect, test } from 'vitest';
import { Turns } from '../../hsm/host/turns.ts';

/** Serves pieces by one thread until none waits; each is the time that it takes. Returns the owners in the order in which they were served. */
function serve(turns: Turns<number>, atMost = Infinity): number[] {
  const order: number[] = [];
  for (let turn = turns.take(); turn !== undefined; turn = turns.take()) {
    order.push(turn.owner);
    turns.end(turn.owner, turn.piece);
    if (order.length >= atMost) break;
  }
  return order;
}

const fill = (turns: Turns<number>, owner: number, count: number, micros: number): void => {
  for (let at = 0; at < count; at++) turns.add(owner, micros);
};

test('one piece is served after at most one of an owner that has a thousand waiting', () => {
  const turns = new Turns<number>();
  fill(turns, 1, 1_000, 5_000);
  serve(turns, 100);
  turns.add(2, 50);
  expect(serve(turns, 2)).toContain(2);
  expect(turns.length).toBe(899);
});

test('owners share time, however long their pieces are', () => {
  const turns = new Turns<number>();
  fill(turns, 1, 1_000, 10_000);
  fill(turns, 2, 10_000, 100);
  const order = serve(turns, 2_020);
  const time = (owner: number, micros: number): number => order.filter((one) => one === owner).length * micros;
  expect(time(1, 10_000) / time(2, 100)).toBeGreaterThan(0.8);
  expect(time(1, 10_000) / time(2, 100)).toBeLessThan(1.25);
});

test('of five owners each has a fifth', () => {
  const turns = new Turns<number>();
  for (const owner of [1, 2, 3, 4, 5]) fill(turns, owner, 1_000, 1_000);
  const counts = Map.groupBy(serve(turns, 1_000), (owner) => owner);
  for (const [, served] of counts) expect(served.length).toBe(200);
});

test('who was idle has saved nothing, and who worked alone owes nothing', () => {
  const turns = new Turns<number>();
  fill(turns, 2, 1, 1_000);
  fill(turns, 1, 5_000, 1_000);
  serve(turns, 4_000);
  fill(turns, 2, 1_000, 1_000);
  const counts = Map.groupBy(serve(turns, 200), (owner) => owner);
  expect(counts.get(1)).toHaveLength(100);
  expect(counts.get(2)).toHaveLength(100);
});

test('pieces that did not wait count, too', () => {
  const turns = new Turns<number>();
  for (let at = 0; at < 100; at++) {
    turns.begin(1);
    turns.end(1, 10_000);
  }
  turns.begin(3);
  fill(turns, 1, 10, 10_000);
  fill(turns, 2, 10, 10_000);
  const first = serve(turns, 10);
  expect(first.filter((owner) => owner === 2)).toHaveLength(5);
});

test('pieces of several threads are taken from different owners', () => {
  const turns = new Turns<number>();
  fill(turns, 1, 10, 5_000);
  fill(turns, 2, 10, 5_000);
  expect(new Set([turns.take()?.owner, turns.take()?.owner])).toEqual(new Set([1, 2]));
});

test('a piece that is put back is the next of its owner; removed ones are gone', () => {
  const turns = new Turns<string>();
  turns.add(1, 'second');
  turns.putBack(1, 'first');
  turns.add(1, 'late');
  expect(turns.remove((piece) => piece === 'late')).toEqual(['late']);
  expect([turns.take()?.piece, turns.take()?.piece, turns.take()]).toEqual(['first', 'second', undefined]);
});
