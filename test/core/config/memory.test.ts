// Shares of memory: what is kept ready follows the machine, the limit of the service, and how many processes share it.
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { loadConfiguration } from '../../../core/config/config.ts';
import { connectionsThatFit, openFileLimit } from '../../../core/config/open-files.ts';
import { address } from '../../../core/config/schema.ts';
import { availableBytes, bodyRoomThatFits, connectionsByMemory, keysThatFit, recordBytesThatFit } from '../../../core/config/memory.ts';

const gib = 2 ** 30;

test('a limit below the memory of the machine counts, none and a greater one do not', () => {
  expect(availableBytes(2 * gib, 8 * gib)).toBe(2 * gib);
  expect(availableBytes(0, 8 * gib)).toBe(8 * gib);
  expect(availableBytes(2 ** 63, 8 * gib)).toBe(8 * gib);
});

describe('loaded keys of a token process', () => {
  test('take a quarter of the memory in all of them together', () => {
    expect(keysThatFit(2, 4 * gib)).toBe(52_428);
    expect(keysThatFit(4, 4 * gib)).toBe(26_214);
  });

  test('are enough on a small machine, and not so many that a search in the token takes long', () => {
    expect(keysThatFit(8, gib / 8)).toBe(1_000);
    expect(keysThatFit(1, 64 * gib)).toBe(200_000);
  });

  test('follow the number of workers, unless the configuration says how many', () => {
    const cacheKeys = (...argv: readonly string[]) => loadConfiguration({ argv, environment: {}, sections: {} }).hsm.cacheKeys;
    expect(cacheKeys('--workers', '256')).toBe(keysThatFit(256));
    expect(cacheKeys('--workers', '1')).toBe(keysThatFit(1));
  });
});

test('decoded records of a worker take an eighth of the memory in all of them together, within bounds', () => {
  expect(recordBytesThatFit(2, 4 * gib)).toBe(64 << 20);
  expect(recordBytesThatFit(16, gib)).toBe(32 << 20);
  expect(recordBytesThatFit(1, 64 * gib)).toBe(256 << 20);
});

test('the connections of all listeners and workers take a quarter of the memory together', () => {
  expect(connectionsByMemory(2, 2, gib)).toBe(1_024);
  expect(connectionsByMemory(2, 2, 4 * gib)).toBe(4_096);
  expect(connectionsByMemory(64, 2, gib)).toBe(128);
  const sections = { other: z.strictObject({ listen: address.prefault('127.0.0.1:4666') }).prefault({}) };
  for (const [listeners, plugins] of [
    [2, {}],
    [3, sections],
  ] as const) {
    const { listen, estListen } = loadConfiguration({ argv: ['--workers', '3'], environment: {}, sections: plugins });
    const each = Math.min(connectionsByMemory(3, listeners), connectionsThatFit(openFileLimit(), listeners));
    expect([listen.connections, estListen.connections]).toEqual([each, each]);
  }
});

test('the rooms for large bodies take a sixteenth of the memory in all workers together, within bounds', () => {
  expect(bodyRoomThatFits(2, gib)).toBe(32 << 20);
  expect(bodyRoomThatFits(16, gib)).toBe(16 << 20);
  expect(bodyRoomThatFits(2, 64 * gib)).toBe(256 << 20);
});
