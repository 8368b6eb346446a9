// Answers in fewer octets, for clients that say they read gzip (RFC 9110 section 8.4.1.3): lists, states and metrics are mostly repetition.
import type { IncomingMessage } from 'node:http';
import { constants, gzipSync } from 'node:zlib';
import { takesCoding } from '../request/accept.ts';
import type { Answer } from './answer.ts';

/** A shorter text is one packet either way. */
const leastBytes = 1_400;
/** A larger text would hold up other requests while it is compressed. */
const mostBytes = 256 * 1024;

/**
 * The answer to a GET, compressed if the client takes that. Answers with an entity tag stay as they are, because a strong tag names octets.
 * Lengths say nothing of secrets here: what a page of somebody else makes a browser send has no credential (no cookie is one for the API).
 */
export function compressedFor({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>, answer: Answer): Answer {
  const { status, body, headers: own = {} } = answer;
  if (method !== 'GET' || status !== 200 || typeof body !== 'string') return answer;
  if (body.length < leastBytes || body.length > mostBytes || own['etag'] !== undefined || own['content-encoding'] !== undefined)
    return answer;
  if (!takesCoding(headers['accept-encoding'], 'gzip')) return answer;
  const octets = gzipSync(body, { level: constants.Z_BEST_SPEED });
  return { ...answer, body: octets, headers: { ...own, 'content-encoding': 'gzip', vary: 'accept-encoding' } };
}
