// Reading a topic in the console: in order, on after an interruption without a gap and without doubles, and no further than was wanted.
import { describe, expect, test } from 'vitest';
import { Refusal } from '../../../plugins/console/app/api/request.ts';
import { readTopic, type OpenStream, type TopicQuery, type TopicRecord } from '../../../plugins/console/app/topics/read-topic.ts';

const record = (second: number, message: string): TopicRecord => ({
  'occurred-at': `2026-01-01T00:00:${String(second).padStart(2, '0')}.000000Z`,
  message,
});

type Stream = { readonly pieces: readonly (readonly unknown[])[]; readonly ends?: Error };

/** What a page sees of streams that follow each other. The last one ends the reading. */
async function read(
  streams: readonly Stream[],
  wanted: { readonly untilMs?: number; readonly isLive: boolean },
): Promise<{ readonly messages: readonly unknown[]; readonly states: readonly string[]; readonly queries: readonly TopicQuery[] }> {
  const controller = new AbortController();
  const left = [...streams];
  const queries: TopicQuery[] = [];
  const messages: unknown[] = [];
  const states: string[] = [];
  const open: OpenStream = async function* (query) {
    queries.push(query);
    const { pieces = [], ends } = left.shift() ?? {};
    yield* pieces;
    if (left.length === 0 && ends === undefined && wanted.isLive) controller.abort();
    if (ends !== undefined) throw ends;
  };
  const into = {
    add: (records: readonly TopicRecord[]) => void messages.push(...records.map(({ message }) => message)),
    tell: (state: string) => void (states.at(-1) === state || states.push(state)),
  };
  await readTopic(open, { begin: { since: '1h' }, ...wanted }, controller.signal, into, 1);
  return { messages, states, queries };
}

const refusal = (status: number): Refusal => new Refusal(status, { code: 'x' }, undefined);

describe('a topic that is followed', () => {
  test('goes on where it was interrupted, shows nothing twice, and loses nothing that another process wrote late', async () => {
    const { messages, states, queries } = await read(
      [
        { pieces: [[], [record(10, 'a'), record(20, 'b')], [record(21, 'c')]], ends: new TypeError('network') },
        { pieces: [[record(18, 'late'), record(20, 'b'), record(21, 'c')], [record(22, 'd')]] },
      ],
      { isLive: true },
    );
    expect(messages).toEqual(['a', 'b', 'c', 'late', 'd']);
    expect(states).toEqual(['live', 'interrupted', 'live']);
    expect(queries).toEqual([
      { since: '1h', follow: 'true' },
      { since: '2026-01-01T00:00:16.000Z', follow: 'true' },
    ]);
  });

  test('shows again what is the same in every field but was written twice', async () => {
    const { messages } = await read([{ pieces: [[record(1, 'a'), record(1, 'a')]] }], { isLive: true });
    expect(messages).toEqual(['a', 'a']);
  });

  test('begins again as before when it was interrupted before its first record', async () => {
    const { queries } = await read([{ pieces: [[]], ends: new TypeError('network') }, { pieces: [[]] }], { isLive: true });
    expect(queries.map(({ since }) => since)).toEqual(['1h', '1h']);
  });

  test('ends with a refusal, but tries again when too many read at a time', async () => {
    expect((await read([{ pieces: [], ends: refusal(403) }, { pieces: [] }], { isLive: true })).states).toEqual(['refused']);
    const later = await read([{ pieces: [], ends: refusal(429) }, { pieces: [[record(1, 'a')]] }], { isLive: true });
    expect([later.states, later.messages]).toEqual([['interrupted', 'live'], ['a']]);
  });
});

describe('a time of a topic', () => {
  test('is read to its end and no further', async () => {
    const streams = [{ pieces: [[record(1, 'a')], [record(5, 'b'), 'no record', record(9, 'c')], [record(10, 'd')]] }];
    const { messages, states, queries } = await read(streams, { isLive: false, untilMs: Date.parse('2026-01-01T00:00:06Z') });
    expect(messages).toEqual(['a', 'b']);
    expect(states).toEqual(['reading', 'read']);
    expect(queries).toEqual([{ since: '1h' }]);
  });

  test('is read whole where the topic ends before', async () => {
    const { messages, states } = await read([{ pieces: [[record(1, 'a')]] }], { isLive: false });
    expect([messages, states]).toEqual([['a'], ['reading', 'read']]);
  });
});
