// dns-01 (RFC 8555 section 8.4): a TXT record has the digest of the key authorization.
import { hash } from 'node:crypto';
import { NotProved } from './refusal.ts';
import type { Proof } from './proof.ts';
import type { Ways } from './ways.ts';

/** Rejects with NotProved, or the error of the name service. */
export async function proveByDns(ways: Ways, { identifier, keyAuthorization }: Proof): Promise<void> {
  const texts = await ways.texts(`_acme-challenge.${identifier.value}`);
  if (texts.includes(hash('sha256', keyAuthorization, 'base64url'))) return;
  throw new NotProved(
    'unauthorized',
    'No TXT record of _acme-challenge below the name has the digest of the key authorization of this account.',
  );
}
