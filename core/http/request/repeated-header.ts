// Header fields that may stand once: of two, node silently takes the first, and whoever stands in front may have read the other.
import type { IncomingMessage } from 'node:http';
import { fail, type ServiceError } from '../../base/errors.ts';

/** The ones that decide something here; none of them is a list (RFC 9110 section 5.3, for host also RFC 9112 section 3.2). */
const single = new Set(['authorization', 'content-type', 'host']);
const lengths = new Set([...single].map((name) => name.length));

/** The refusal of a request in which such a field stands twice (400 `invalid-value`); undefined for all others. */
export function repeatedHeader({ rawHeaders }: IncomingMessage): ServiceError | undefined {
  const seen: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const raw = rawHeaders[at] as string;
    // Every request passes here: most names are told apart by their length.
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
