// Query parameter that chooses a version: `latest`, the default, or its number.
import { fail } from '../../base/errors.ts';
import type { EndpointCall, QueryParameter } from '../endpoint.ts';

/** Description of the parameter. */
export function versionParameter(description: string): QueryParameter {
  return { description, schema: { type: 'string', pattern: '^(latest|[1-9][0-9]{0,9})$', examples: ['2'] } };
}

/** The number that a request asks for under this name, which need not exist. Throws invalid-value. */
export function readVersion({ query }: EndpointCall, name: string, latest: number): number {
  const text = query.get(name) ?? 'latest';
  if (text === 'latest') return latest;
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw fail('invalid-value', {
    detail: `The query parameter ${name} must be "latest" or a number from 1 on.`,
    items: [{ message: 'must be latest or a number', info: name }],
  });
}
