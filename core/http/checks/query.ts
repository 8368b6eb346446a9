// Check: the query has only known parameters, each once.
import { fail } from '../../base/errors.ts';
import { shortened } from '../audit-parameters.ts';
import type { ApiRequest } from '../context/api-request.ts';
import { isMergePatch } from '../request/input.ts';
import { queryOf } from '../request/path.ts';

/** Throws 400 `unknown-parameter` or, for a repeated one, `invalid-value`. Endpoints with `anyQuery` check the query themselves. */
export function requireKnownQuery({ exchange, route: { endpoint }, note }: ApiRequest): void {
  const query = queryOf(exchange.target);
  const known = endpoint.query ?? {};
  // An effect of the media type is recorded like a parameter, so that two merges that differ only in it have different records.
  const replacesLists = Object.hasOwn(known, 'lists') && isMergePatch(exchange.headers['content-type']);
  if ((query === '' && !replacesLists) || endpoint.anyQuery === true) return;
  const seen = new Map<string, unknown>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (!Object.hasOwn(known, name)) throw unknownParameter(Object.keys(known));
    if (seen.has(name)) throw repeatedParameter(name);
    seen.set(name, shortened(value));
  }
  if (replacesLists && !seen.has('lists')) seen.set('lists', 'replace');
  // Pages have codes and secrets in theirs.
  if (endpoint.access === 'token') note.query = Object.fromEntries(seen);
}

function unknownParameter(names: readonly string[]) {
  return fail('unknown-parameter', {
    detail: names.length === 0 ? 'This operation takes no query parameters.' : `The query parameters here are ${names.join(', ')}.`,
  });
}

function repeatedParameter(name: string) {
  return fail('invalid-value', {
    detail: `The query parameter ${name} is repeated; send it once.`,
    items: [{ message: 'is repeated; send it once', info: name }],
  });
}
