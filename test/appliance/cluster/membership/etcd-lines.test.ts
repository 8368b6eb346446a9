// What of etcd's lines reaches the log of an appliance, and at which level.
import { expect, test } from 'vitest';
import { logLines } from '../../../../appliance/cluster/membership/etcd-lines.ts';
import type { Log } from '../../../../core/base/context.ts';

const lineOf = (level: string, msg: string, more: object = {}): string =>
  JSON.stringify({ level, ts: '2026-01-01T00:00:00Z', caller: 'x.go:1', msg, ...more });

function taking(): { readonly take: (line: string) => void; readonly said: unknown[][]; readonly pass: (ms: number) => void } {
  const said: unknown[][] = [];
  const at = (level: string) => (message: string, fields?: object) => void said.push([level, message, fields]);
  const log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } as unknown as Log;
  let now = 0;
  return { take: logLines(log, () => now), said, pass: (ms) => void (now += ms) };
}

test('what etcd calls an error in a healthy join is none of the appliance, and what ends etcd is', () => {
  const { take, said } = taking();
  take(lineOf('error', 'rejected stream from remote peer because it was removed', { peer: 'a' }));
  take(lineOf('warn', 'prober found high clock drift'));
  take(lineOf('fatal', 'failed to write WAL'));
  take('no JSON');
  expect(said).toEqual([
    ['warn', 'etcd: rejected stream from remote peer because it was removed', { peer: 'a' }],
    ['info', 'etcd: prober found high clock drift', {}],
    ['error', 'etcd: failed to write WAL', {}],
    ['debug', 'etcd', { line: 'no JSON' }],
  ]);
});

test('of a slow disk there is one line a minute, with how many were left out; the end of etcd is said each time', () => {
  const { take, said, pass } = taking();
  const slow = lineOf('warn', 'slow fdatasync', { took: '1.2s' });
  for (let n = 0; n < 50; n++) take(slow);
  pass(60_000);
  take(slow);
  take(lineOf('panic', 'gone'));
  take(lineOf('panic', 'gone'));
  expect(said.filter(([level]) => level !== 'debug')).toEqual([
    ['info', 'etcd: slow fdatasync', { took: '1.2s' }],
    ['info', 'etcd: slow fdatasync', { took: '1.2s', 'left-out': 49 }],
    ['error', 'etcd: gone', {}],
    ['error', 'etcd: gone', {}],
  ]);
});
