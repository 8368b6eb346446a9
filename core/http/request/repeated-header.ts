// Header fields that may not be repeated: node takes the first value silently, and a proxy in front may have used the other.
import type { IncomingMessage } from 'node:http';
import { fail, type ServiceError } from '../../base/errors.ts';

/** Fields that decisions depend on; none of them is a list (RFC 9110 section 5.3, for host also RFC 9112 section 3.2). */
const single = new Set(['authorization', 'content-type', 'host']);
const lengths = new Set([...single].map((name) => name.length));

/** The refusal of a request that repeats such a field (400 `invalid-value`); undefined for all others. */
export function repeatedHeader({ rawHeaders }: IncomingMessage): ServiceError | undefined {
  const seen: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const raw = rawHeaders[at] as string;
    // Runs for every request: the length rules out most names.
    if (!lengths.has(raw.length)) continue;
    const name = raw.toLowerCase();
    if (!single.has(name)) continue;
    if (seen.includes(name)) return refusalOf(name);
    seen.push(name);
  }
  return undefined;
}

function refusalOf(name: string): ServiceError {
  return fail('invalid-value', {
    detail: `The header ${name} stands twice; send it once.`,
    items: [{ message: 'stands twice; send it once', info: name }],
  });
}
