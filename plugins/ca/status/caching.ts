// Limits within which caches may keep answers about revocation (RFC 5019 section 6.2, RFC 9111): they take the load of devices.
import { createHash } from 'node:crypto';
import { type PublicCall, Reply } from '../../../core/http/endpoint.ts';
import { hasPresentCopy } from '../../../core/http/response/entity-tag.ts';

/** Behind a cache a revocation is seen after so long at most; the signed content says how long a relying party may use it. */
const keptSeconds = 300;

/** The answer for everybody: a cache may keep it for some minutes, and who has it already gets 304. */
export function sharedReply({ headers }: PublicCall, octets: Uint8Array, contentType: string): Reply {
  const etag = `"${createHash('sha256').update(octets).digest('base64url').slice(0, 22)}"`;
  const caching = { 'cache-control': `public, max-age=${keptSeconds}, must-revalidate, no-transform`, etag };
  if (hasPresentCopy(headers['if-none-match'], etag)) return new Reply(304, undefined, caching);
  return new Reply(200, octets, { ...caching, 'content-type': contentType });
}
