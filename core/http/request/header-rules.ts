// Rules of header fields for every request. Node would answer some breaches itself, without body, record and count.
import type { IncomingMessage } from 'node:http';
import { fail, type ServiceError } from '../../base/errors.ts';

/**
 * Fields that decisions depend on, and that may not be repeated: node takes the first value silently, and a proxy in front may have used the other.
 * None of them is a list (RFC 9110 section 5.3, for host also RFC 9112 section 3.2).
 */
const single = new Set(['authorization', 'content-type', 'host', 'approval', 'approval-reason']);
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
    if (seen.includes(name)) return refuse(name, 'is repeated; send it once');
    seen.push(name);
  }
  return undefined;
}

/** The refusal of a request of HTTP/1.1 without Host (RFC 9112 section 3.2), or with an expectation that nobody meets (RFC 9110 section 10.1.1). */
export function unmetHeader({ headers: { host, expect }, httpVersion }: IncomingMessage): ServiceError | undefined {
  if (host === undefined && httpVersion === '1.1') return refuse('host', 'is missing; send the name or address of the appliance');
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') return refuse('expect', 'may be 100-continue alone; leave it out');
  return undefined;
}

function refuse(name: string, problem: string): ServiceError {
  return fail('invalid-value', { detail: `The header ${name} ${problem}.`, items: [{ message: problem, info: name }] });
}
