// Certificate authorities trusted for a service's provider, as a TLS context that is made once and shared by its connections.
import { createHash } from 'node:crypto';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { readPem } from '../base/texts/pem.ts';
import { defined } from '../base/defined.ts';

/** The CAs that a service trusts. */
export type Trust = {
  readonly useRootCaCerts: boolean;
  /** PEM certificates of the service's own */
  readonly caCerts?: string | undefined;
};

/** Undefined means Node's default roots. An empty list trusts no CA, which is what a service without roots and own CAs gets (R8). */
export function trustedCertificates(trust: Trust): string[] | undefined {
  // OpenSSL does not read a certificate whose lines end as in a secret of an environment variable.
  const own = trust.caCerts === undefined ? [] : readPem(trust.caCerts).map(({ text }) => text);
  if (!trust.useRootCaCerts) return own;
  return own.length === 0 ? undefined : [...getCACertificates('default'), ...own];
}

/** A context with the public roots takes about a megabyte. The one that was not used for the longest time is dropped. */
const maxContexts = 32;
const contexts = new Map<string, SecureContext>();

/** The context of a trust set, TLS 1.2 or later. Made at most once while in use: reading all public roots takes milliseconds. */
export function secureContextOf(trust: Trust): SecureContext {
  const key = createHash('sha256')
    .update(JSON.stringify([trust.useRootCaCerts, trust.caCerts]))
    .digest('base64url');
  const ca = contexts.has(key) ? undefined : trustedCertificates(trust);
  const context = contexts.get(key) ?? createSecureContext({ ...defined({ ca }), minVersion: 'TLSv1.2' });
  contexts.delete(key);
  contexts.set(key, context);
  const [oldest] = contexts.keys();
  if (contexts.size > maxContexts && oldest !== undefined) contexts.delete(oldest);
  return context;
}
