// What the console asks before it offers or reads something: one request for a page, answers that count for each question alone, and refusals
// in the words of the policies without the request that would be refused.
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { may, requireReadable } from '../../../plugins/console/app/api/may.ts';
import { Refusal } from '../../../plugins/console/app/api/request.ts';
import { secret } from '../../../plugins/console/app/api/session.ts';

type Question = { readonly path: string; readonly operation: string };
const asked: (readonly Question[])[] = [];

/** As the appliance answers: what is below /v1/config/open is allowed, /v1/state/elsewhere is of another tenant. */
function answer({ path }: Question): object {
  return { allowed: !path.includes('closed'), exists: !path.includes('elsewhere'), why: `about ${path}` };
}

beforeAll(() => {
  vi.stubGlobal('fetch', async (_: string, { body }: { readonly body: string }) => {
    const { questions } = JSON.parse(body) as { readonly questions: readonly Question[] };
    asked.push(questions);
    return questions.some(({ path }) => path.includes('//'))
      ? Response.json({ code: 'invalid-value', title: 'Not a path' }, { status: 400 })
      : Response.json({ decisions: questions.map(answer) });
  });
});
afterAll(() => {
  vi.unstubAllGlobals();
  secret.value = undefined;
});
beforeEach(() => {
  asked.length = 0;
  // Another session: nothing is known.
  secret.value = crypto.randomUUID();
});

const readable = (path: string): Promise<unknown> =>
  requireReadable({ method: 'GET', path }).then(
    () => 'yes',
    (error: unknown) => (error instanceof Refusal ? [error.status, error.code, error.detail] : error),
  );

describe('a question', () => {
  test('is asked once, together with the others of its turn', async () => {
    const signals = ['a', 'b', 'a'].map((name) => may('read', `/v1/config/open/${name}`));
    expect(signals.map((one) => one.value)).toEqual(['unknown', 'unknown', 'unknown']);
    expect(await readable('/v1/config/open/a')).toBe('yes');
    expect(signals.map((one) => one.value)).toEqual(['yes', 'yes', 'yes']);
    expect(asked.map((questions) => questions.map(({ path }) => path))).toEqual([['/v1/config/open/a', '/v1/config/open/b']]);
  });

  test('that the appliance does not take for one leaves the answers to the others as they are', async () => {
    const [closed, odd, open] = ['/v1/config/closed', '/v1/config//odd', '/v1/config/open'].map((path) => may('read', path));
    expect(await readable('/v1/config/open')).toBe('yes');
    expect([closed?.value, odd?.value, open?.value]).toEqual([{ no: 'about /v1/config/closed', status: 403 }, 'yes', 'yes']);
  });

  test('is asked again in another session', async () => {
    await readable('/v1/config/open');
    secret.value = crypto.randomUUID();
    await readable('/v1/config/open');
    expect(asked).toHaveLength(2);
  });
});

describe('a page', () => {
  test('is told why it may not read, and what its tenant does not have', async () => {
    expect(await readable('/v1/state/closed')).toEqual([403, 'policy-denied', 'about /v1/state/closed']);
    expect(await readable('/v1/state/elsewhere')).toEqual([404, 'not-found', 'about /v1/state/elsewhere']);
  });

  test('asks nothing about what no policy is about, and about what is not read', async () => {
    expect(await readable('/v1/openapi.json')).toBe('yes');
    await requireReadable({ method: 'POST', path: '/v1/state/closed' });
    expect(asked).toEqual([]);
  });

  test('asks again when the answer is old, because policies change', async () => {
    await readable('/v1/config/open');
    await readable('/v1/config/open');
    expect(asked).toHaveLength(1);
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
    await readable('/v1/config/open');
    expect(asked).toHaveLength(2);
    vi.restoreAllMocks();
  });
});
