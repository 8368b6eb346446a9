// A search in a list: an answer looks at so many entries and no more, and its Link goes on behind the last of them.
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { EndpointCall, Reply } from '../../../core/http/endpoint.ts';
import { answerList, type Search } from '../../../core/http/resource/list-answer.ts';
import type { Wire } from '../../../core/wire/schema.ts';

const names = Array.from({ length: 100 }, (_, index) => `n${String(index).padStart(3, '0')}`);

function ask(search: Search<string>, query: Readonly<Record<string, string>> = {}): Reply {
  const call = {
    query: new Map(Object.entries(query)),
    params: {},
    access: { asListed: (wire: unknown) => wire },
  } as unknown as EndpointCall;
  const entries = (after = '') => names.filter((name) => name > after).map((name) => [name, name] as const);
  return answerList(
    call,
    { path: '/list', nameField: 'name' },
    z.object({ name: z.string() }),
    { entries, count: () => names.length, search },
    (name) => ({ name }),
  );
}

const namesOf = ({ body }: Reply): unknown => ((body as Wire).value as { name: string }[]).map(({ name }) => name);
const nextOf = ({ headers }: Reply): string | undefined => /after=(\w+)/.exec(String(headers['link'] ?? ''))?.[1];

test('what is found is answered, up to the limit, and the next page begins behind the last one found', () => {
  const search = { finds: (name: string) => name.endsWith('5'), mostExamined: 1_000 };
  const answer = ask(search, { limit: '2' });
  expect(namesOf(answer)).toEqual(['n005', 'n015']);
  expect(nextOf(answer)).toBe('n015');
  expect(namesOf(ask(search, { limit: '2', after: 'n085' }))).toEqual(['n095']);
  expect(nextOf(ask(search, { limit: '2', after: 'n085' }))).toBeUndefined();
});

test('an answer with nothing found goes on as long as entries are left', () => {
  const search = { finds: () => false, mostExamined: 40 };
  const seen: string[] = [];
  for (let after: string | undefined = ''; after !== undefined;) {
    const answer: Reply = ask(search, after === '' ? {} : { after });
    expect(namesOf(answer)).toEqual([]);
    after = nextOf(answer);
    if (after !== undefined) seen.push(after);
  }
  expect(seen).toEqual(['n039', 'n079']);
});
