// Hosts of URIs in certificates.
import { isIP } from 'node:net';
import { normaliseDomain } from './domain.ts';

/** `scheme://userinfo@host:port/path?query#fragment` of RFC 3986 3, with a host that is written without an escape. */
const hierarchical =
  /^[a-z][a-z0-9+.-]*:\/\/(?:(?:[a-z0-9._~!$&'()*+,;=:-]|%[0-9a-f]{2})*@)?([a-z0-9._-]+)(?::[0-9]*)?(?:\/(?:[a-z0-9._~!$&'()*+,;=:@/-]|%[0-9a-f]{2})*)?(?:\?(?:[a-z0-9._~!$&'()*+,;=:@/?-]|%[0-9a-f]{2})*)?(?:#(?:[a-z0-9._~!$&'()*+,;=:@/?-]|%[0-9a-f]{2})*)?$/;

/**
 * The host name of a URI, in lower case; undefined without one, and where readers by RFC 3986 and by the WHATWG URL standard would find different ones, as in
 * `https://one.example\@other.example`.
 */
export function hostOfUri(uri: string): string | undefined {
  const text = uri.toLowerCase();
  const [, host = ''] = hierarchical.exec(text) ?? [];
  // A dot at the end names the same host to some readers, and another text to others.
  return isIP(host) === 0 && normaliseDomain(host) === host && URL.parse(text)?.hostname === host ? host : undefined;
}
