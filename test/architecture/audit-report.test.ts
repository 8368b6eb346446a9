// What `npm audit` answers is judged so that only a wrong signature makes a submission red: not a registry that cannot be asked.
import { expect, test } from 'vitest';
import { judgeSignatures, summarizeAdvisories } from './audit-report.ts';

const planted = { name: 'planted', version: '1.0.0', code: 'EINTEGRITYSIGNATURE' };

test('signatures of every package are good, a wrong one is not, whatever else is missing', () => {
  expect(judgeSignatures(JSON.stringify({ invalid: [], missing: [] }))).toMatchObject({ good: true });
  const wrong = judgeSignatures(JSON.stringify({ invalid: [planted], missing: [{ name: 'other', version: '2.0.0' }] }));
  expect(wrong).toEqual({ good: false, text: 'the registry has not signed what is installed as planted@1.0.0' });
});

test.each([
  ['nothing, because the network is silent', '', 'because the registry cannot be asked'],
  ['text', 'Bad Gateway', 'because the registry cannot be asked'],
  ['an error of npm', JSON.stringify({ error: { code: 'ECONNREFUSED', summary: 'connect ECONNREFUSED\nmore' } }), 'connect ECONNREFUSED'],
  ['packages without signatures', JSON.stringify({ invalid: [], missing: [planted] }), 'which the registry does not have'],
])('%s is said and is no failure', (_, answer, reason) => {
  const { good, text } = judgeSignatures(answer);
  expect(good).toBe(true);
  expect(text).toMatch(/^SKIPPED: /);
  expect(text).toContain(reason);
  expect(text).not.toContain('\n');
});

test('advisories are named and fail nothing', () => {
  const vulnerabilities = { planted: { severity: 'critical' } };
  expect(summarizeAdvisories(JSON.stringify({ vulnerabilities }))).toEqual({
    good: true,
    text: 'ADVISORIES for planted (critical): npm audit',
  });
  expect(summarizeAdvisories(JSON.stringify({ vulnerabilities: {} })).text).toContain('no vulnerability');
  expect(summarizeAdvisories(JSON.stringify({ message: '404 Not Found' }))).toMatchObject({
    good: true,
    text: expect.stringContaining('404'),
  });
});
