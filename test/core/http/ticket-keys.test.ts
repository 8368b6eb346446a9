// The keys of TLS session tickets.
import { afterEach, expect, test, vi } from 'vitest';
import { changingTicketKeys } from '../../../core/http/listener/ticket-keys.ts';

afterEach(() => vi.useRealTimers());

test('the keys of session tickets change once a day, and everybody is told, until there is nobody', () => {
  vi.useFakeTimers();
  const told: string[] = [];
  const first = changingTicketKeys((keys) => told.push(keys) < 3);
  const seen = [first.keys()];
  expect(seen[0]).toMatch(/^[0-9a-f]{96}$/);
  for (let day = 0; day < 5; day++) {
    vi.advanceTimersByTime(24 * 3_600_000);
    seen.push(first.keys());
  }
  expect(told).toHaveLength(3);
  expect(seen.slice(1, 4)).toEqual(told);
  expect(new Set(seen).size).toBe(4);
  expect(vi.getTimerCount()).toBe(0);
});
