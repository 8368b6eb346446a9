// The limit on audit records of unauthenticated requests: what is recorded, what is counted, and that all others are recorded.
import { expect, test, vi } from 'vitest';
import { limitUnauthenticated, type UnauthenticatedLimits } from '../../../core/audit/unauthenticated-limit.ts';
import { type AuditRecord, hasCredential } from '../../../core/audit/record.ts';
import type { Clock } from '../../../core/base/context.ts';
import { systemClock } from '../../../core/base/time.ts';
import { record } from './trail.ts';

function bounded(burst: number, options: UnauthenticatedLimits = {}, clock: Clock = systemClock) {
  const written: AuditRecord[] = [];
  const trail = { writable: true, problem: 'none', write: async (one: AuditRecord) => void written.push(one) };
  return { written, audit: limitUnauthenticated(trail, clock, { burst, ...options }) };
}

const unauthenticated: Partial<AuditRecord> = { status: 401, code: 'invalid-token' };

test('requests over the limit are counted by code, and the counts are one record', async () => {
  const { written, audit } = bounded(2, { countEveryMs: 20 });
  for (let n = 0; n < 5; n++) await audit.write(record(n, unauthenticated));
  await audit.write(record(5, { kind: 'login', status: 429, code: 'rate-limited' }));
  await audit.write(record(6, { status: 303 }));
  expect(written.map(({ requestId }) => requestId)).toEqual(['request-0', 'request-1']);
  await vi.waitFor(() => expect(written).toHaveLength(3), 60_000);
  expect(written[2]).toMatchObject({
    kind: 'system',
    code: 'strangers-counted',
    requestParameters: { 'invalid-token': 3, 'rate-limited': 1, '303': 1 },
  });
  await audit.settle();
  expect(written).toHaveLength(3);
});

test('a count that cannot be written is part of the next', async () => {
  const { written, audit } = bounded(0, { countEveryMs: 1_000_000 });
  await audit.write(record(0, unauthenticated));
  written.push = () => {
    throw new Error('no room');
  };
  await expect(audit.settle()).rejects.toThrow('no room');
  Reflect.deleteProperty(written, 'push');
  await audit.write(record(1, unauthenticated));
  await audit.settle();
  expect(written.map(({ requestParameters }) => requestParameters)).toEqual([{ 'invalid-token': 2 }]);
});

test('an idle time restores the burst, and no more', async () => {
  let nowMs = 0;
  const { written, audit } = bounded(3, { perMinute: 2 }, { ...systemClock, monotonicMs: () => nowMs });
  const flood = async (): Promise<number> => {
    const before = written.length;
    for (let n = 0; n < 10; n++) await audit.write(record(n, unauthenticated));
    return written.length - before;
  };
  expect(await flood()).toBe(3);
  nowMs = 60_000;
  expect(await flood()).toBe(2);
  nowMs = 3_600_000;
  expect(await flood()).toBe(3);
});

test.each<[string, Partial<AuditRecord>]>([
  ['a token that was refused by policy', { status: 403, accessor: 'a', user: 'u' }],
  ['a login', { kind: 'login', status: 200, tenant: 't', user: 'robot', accessor: 'a' }],
  ['a certificate issued', { kind: 'est', method: 'POST', status: 200, tenantId: 't', [hasCredential]: true }],
  ['a device whose request was refused', { kind: 'est', method: 'POST', status: 403, tenantId: 't', [hasCredential]: true }],
  ['a rotation', { kind: 'rotation' }],
  ['the console', { kind: 'console' }],
])('%s is always on record', async (_, fields) => {
  const { written, audit } = bounded(0);
  await audit.write(record(1, fields));
  expect(written).toHaveLength(1);
});

test.each<[string, Partial<AuditRecord>]>([
  ['an enrolment that was refused', { kind: 'est', method: 'POST', status: 401, tenantId: 't' }],
  ['an enrolment at a CA that takes none', { kind: 'est', method: 'POST', status: 403, tenantId: 't' }],
  ['an enrolment at a CA that has expired', { kind: 'est', method: 'POST', status: 503, tenantId: 't' }],
  ['an enrolment nowhere', { kind: 'est', method: 'POST', status: 400 }],
  ['CA certificates', { kind: 'est', method: 'GET', status: 200, tenantId: 't' }],
  ['a path that EST does not have', { kind: 'est', method: 'POST', status: 404 }],
  ['a login of nobody', { kind: 'login', status: 401, code: 'login-failed' }],
  ['a login of a known role-id with a wrong secret', { kind: 'login', status: 401, code: 'login-failed', tenant: 't', user: 'robot' }],
])('%s is unauthenticated', async (_, fields) => {
  const { written, audit } = bounded(0);
  await audit.write(record(1, fields));
  expect(written).toHaveLength(0);
  await audit.settle();
  expect(written).toHaveLength(1);
});

test('failed logins are counted by user, up to a number of users', async () => {
  const { written, audit } = bounded(0);
  const failed = { kind: 'login', status: 401, code: 'login-failed', tenant: 't' } as const;
  for (let n = 0; n < 1_005; n++) await audit.write(record(n, { ...failed, user: `robot-${n}` }));
  await audit.write(record(0, { ...failed, user: 'robot-0' }));
  await audit.settle();
  const counted = written[0]?.requestParameters ?? {};
  expect(counted).toMatchObject({ 'login-failed of t/robot-0': 1, 'login-failed of t/robot-999': 1, 'login-failed': 6 });
  expect(Object.keys(counted)).toHaveLength(1_001);
});

test('the state of the trail is passed through', () => {
  const { audit } = bounded(1);
  expect([audit.writable, audit.problem]).toEqual([true, 'none']);
});
