// Which member is asked, and what the failure of a call says about it.
import { status } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import { Endpoints } from '../../../core/etcd/endpoints.ts';
import { prefixed, revisionOf } from '../../../core/etcd/messages.ts';
import { EtcdError } from '../../../core/etcd/outcome.ts';
import { versionProblem } from '../../../core/etcd/version.ts';

describe('the endpoints', () => {
  test('the own member first, after a failure the next one, and the own one again after a while', () => {
    let now = 0;
    const endpoints = new Endpoints(['own', 'second', 'third'], () => now);
    expect(endpoints.best(5_000)).toBe('own');
    endpoints.failed('own');
    expect(endpoints.best(5_000)).toBe('second');
    endpoints.worked('second');
    now = 5_000;
    expect(endpoints.best(5_000)).toBe('own');
  });

  test('when all have failed, the one whose failure is longest ago', () => {
    let now = 0;
    const endpoints = new Endpoints(['own', 'second', 'third'], () => now);
    for (const name of ['second', 'own', 'third']) {
      now += 10;
      endpoints.failed(name);
    }
    expect(endpoints.best(5_000)).toBe('second');
  });
});

describe('a failed call', () => {
  test.each([
    [status.INVALID_ARGUMENT, 'etcdserver: duplicate key given in txn request'],
    [status.INVALID_ARGUMENT, 'etcdserver: too many operations in txn request'],
    [status.RESOURCE_EXHAUSTED, 'etcdserver: mvcc: database space exceeded'],
    [status.RESOURCE_EXHAUSTED, 'etcdserver: too many requests'],
    [status.RESOURCE_EXHAUSTED, 'grpc: received message larger than max (2200000 vs. 2097152)'],
    [status.OUT_OF_RANGE, 'etcdserver: mvcc: required revision has been compacted'],
  ])('status %d, %s: it did not happen', (code, text) => {
    expect(new EtcdError(code, text).isRefused).toBe(true);
  });

  test.each([
    [status.CANCELLED, 'call cancelled'],
    [status.DEADLINE_EXCEEDED, 'Deadline exceeded'],
    [status.RESOURCE_EXHAUSTED, 'Received message larger than max (9000000 vs 4194304)'],
    [status.INTERNAL, 'stream was reset'],
    [status.UNAVAILABLE, 'etcdserver: request timed out'],
    [status.UNAVAILABLE, 'etcdserver: leader changed'],
    [status.UNKNOWN, 'something new'],
  ])('status %d, %s: it may have happened', (code, text) => {
    expect(new EtcdError(code, text).isRefused).toBe(false);
  });
});

test('a prefix ends before the next key that does not begin with it', () => {
  expect(Buffer.from(prefixed(Buffer.from('a/')).range_end).toString()).toBe('a0');
});

test('a revision beyond 2^53 is refused, not rounded', () => {
  expect(revisionOf('9007199254740991')).toBe(Number.MAX_SAFE_INTEGER);
  expect(() => revisionOf('9007199254740993')).toThrow(RangeError);
});

describe('the version of etcd', () => {
  test.each(['3.6.14', '3.6.16', '3.5.33', '3.7.1', '3.8.0'])('%s is fit', (version) => {
    expect(versionProblem(version)).toBeUndefined();
  });

  test.each(['3.4.23', '3.5.16', '3.5.32', '3.6.13', '3.7.0', '3.7.1-rc.0', '3.6.14-beta.1', '2.9.99', '4.0.0', '', '3.6'])(
    '%s is refused',
    (version) => {
      expect(versionProblem(version)).toContain('3.6.14');
    },
  );
});
