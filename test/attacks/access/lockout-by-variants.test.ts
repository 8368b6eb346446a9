// OpenBao's lock-out could be passed by writing the user's name in another case or with spaces; and limits by address with a header.
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { startVictim, verdictOf, type Victim } from '../victim.ts';

let victim: Victim;
let credentials: { 'role-id': string; 'secret-id': string };
const approles = 'keystore/authentication/approles';

beforeAll(async () => {
  victim = await startVictim();
  await victim.request('POST', `/v1/config/${approles}`, {
    name: 'target',
    'token-policies': ['user'],
    'fixed-role-id': 'Payment.Service-1',
  });
  const { body } = await victim.request('POST', `/v1/state/${approles}/target/generate-secret-id`, {});
  credentials = { 'role-id': 'Payment.Service-1', 'secret-id': body['secret-id'] };
});
beforeEach(() => victim.clock.advance(61));

const login = async (body: object, headers: Readonly<Record<string, string>> = {}): Promise<string> =>
  verdictOf(await victim.request('POST', '/v1/approle-login', body, { token: undefined, headers }));
const guess = (roleId: string, headers?: Readonly<Record<string, string>>) => login({ 'role-id': roleId, 'secret-id': 'guess' }, headers);

test('variants of an identity neither log in nor have a count of their own', async () => {
  const variants = ['payment.service-1', 'PAYMENT.SERVICE-1', ' Payment.Service-1', 'Payment.Service-1 ', 'Payment.Service-1\u0000', 'Ｐayment.Service-1', 'Payment\u200b.Service-1', '\tPayment.Service-1', 'Payment.Service-1\u00ad', 'pAyMeNt.sErViCe-1']; // prettier-ignore
  for (const variant of variants) {
    expect(await login({ ...credentials, 'role-id': variant })).toBe('401 login-failed');
  }
  expect(await guess('Payment.Service-1')).toBe('429 rate-limited');
  expect(await login({ ...credentials, 'role-id': 'payment.service-1' })).toBe('429 rate-limited');
  expect(await login(credentials)).toBe('200 done');
});

test('headers that claim another address do not give another count', async () => {
  const headers = ['x-forwarded-for', 'x-real-ip', 'forwarded', 'cf-connecting-ip', 'true-client-ip', 'x-client-ip', 'x-cluster-client-ip'];
  for (let n = 0; n < 60; n++) {
    expect(await guess(`somebody-${n}`, { [headers[n % headers.length] ?? '']: `203.0.113.${n}` })).toBe('401 login-failed');
  }
  expect(await guess('somebody-else', { 'x-forwarded-for': '198.51.100.7' })).toBe('429 rate-limited');
});

test('spellings of the path count together', async () => {
  const paths = ['/v1/approle-login', '/v1/approle-login/', '/v1/approle%2dlogin', '/v1/%61pprole-login', '/v1/approle-login?'];
  for (let n = 0; n < 10; n++) {
    const answer = await victim.request(
      'POST',
      paths[n % paths.length] ?? '',
      { 'role-id': 'by-path', 'secret-id': 'x' },
      { token: undefined },
    );
    expect(verdictOf(answer)).toBe('401 login-failed');
  }
  expect(await guess('by-path')).toBe('429 rate-limited');
});

test('a hundred at once: ten are looked at', async () => {
  const answers = await Promise.all(Array.from({ length: 55 }, () => guess('all-at-once')));
  expect(answers.filter((answer) => answer === '401 login-failed')).toHaveLength(10);
  expect(answers.filter((answer) => answer === '429 rate-limited')).toHaveLength(45);
});

test('very many identities fill no memory: slots are used again', async () => {
  const table = victim.store.table('login-failures');
  for (let n = 0; n < 40; n++) await guess(`x`.repeat(n));
  victim.store.refresh();
  expect(table.count([])).toBeLessThanOrEqual(2 * 2 ** 18);
  await victim.jobs.find(({ name }) => name === 'expired-secret-ids')?.run(AbortSignal.timeout(5_000));
  victim.clock.advance(61);
  await victim.jobs.find(({ name }) => name === 'expired-secret-ids')?.run(AbortSignal.timeout(5_000));
  victim.store.refresh();
  expect(table.count([])).toBe(0);
});
