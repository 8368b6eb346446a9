// Lists in pages as the console reads them: all of them, where what is left out would live on.
import { afterEach, expect, test, vi } from 'vitest';
import { sendAsNow } from '../../../plugins/console/app/api/request.ts';
import { secret } from '../../../plugins/console/app/api/session.ts';
import { sendAll } from '../../../plugins/console/app/api/pages.ts';

afterEach(() => vi.unstubAllGlobals());

test('a list is read to its last page, with the query of the first', async () => {
  const asked: string[] = [];
  vi.stubGlobal('location', { href: 'https://keys.test/ui/' });
  vi.stubGlobal('fetch', (target: string) => {
    asked.push(target);
    const at = asked.length;
    const link = at < 3 ? { link: `</v1/x?limit=2&after=a${at}>; rel="next"` } : undefined;
    return Promise.resolve(Response.json(at < 3 ? [at, at] : [at], { headers: { ...link } }));
  });
  const { body } = await sendAll({ method: 'GET', path: '/v1/x', query: { limit: '2' } });
  expect(body).toEqual([1, 1, 2, 2, 3]);
  expect(asked).toEqual(['/v1/x?limit=2', '/v1/x?limit=2&after=a1', '/v1/x?limit=2&after=a2']);
});

test('requests that belong together stop when another person signs in between them', async () => {
  const sent: string[] = [];
  vi.stubGlobal('fetch', (target: string) => {
    sent.push(target);
    return Promise.resolve(Response.json({}));
  });
  secret.value = 'of one person';
  const flow = sendAsNow();
  await flow({ method: 'POST', path: '/v1/first' });
  secret.value = 'of another person';
  await expect(flow({ method: 'POST', path: '/v1/second' })).rejects.toMatchObject({ code: 'other-session' });
  secret.value = undefined;
  expect(sent).toEqual(['/v1/first']);
});
