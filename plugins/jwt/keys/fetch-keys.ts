// Fetches the keys of an issuer, by its metadata or from the address of its key set.
import { IdentityError } from '../../../core/identity/identity-error.ts';
import { fetchMetadata, issuerMetadata } from '../../../core/identity/discovery.ts';
import { showableText } from '../../../core/identity/claims.ts';
import { ServiceError } from '../../../core/base/errors.ts';
import type { Outbound } from '../../../core/outbound/outbound.ts';
import { aboutRedirects, OutboundError } from '../../../core/outbound/outbound-error.ts';
import type { IssuerRecord } from '../records/issuer-record.ts';
import { type KeySet, readKeySet } from './key-set.ts';

/** A fault of the issuer's answer; the message is a sentence for administrators. */
class KeysUnusable extends Error {
  override readonly name = 'KeysUnusable';
}

/** The keys, and the Date header of the answer. Rejects with KeysUnusable, IdentityError and OutboundError. */
export async function fetchKeys(
  record: IssuerRecord,
  outbound: Outbound,
  allowHttpLoopback: boolean,
): Promise<KeySet & { readonly date: string | undefined }> {
  const url = record.jwksUrl ?? (await findKeySetUrl(record, outbound, allowHttpLoopback));
  const response = await outbound.fetch(url, { headers: { accept: 'application/jwk-set+json, application/json' } });
  if (response.status !== 200)
    throw new KeysUnusable(`The key set at ${url} was answered with ${response.status}${aboutRedirects(response.status)}.`);
  try {
    const set = await readKeySet(new Uint8Array(await response.arrayBuffer()));
    return { ...set, date: response.headers.get('date') ?? undefined };
  } catch (error) {
    if (error instanceof OutboundError) throw error;
    const reason =
      error instanceof ServiceError
        ? error.message.replace('The body', 'the answer').replace('of the body', 'of the answer')
        : (error as Error).message;
    throw new KeysUnusable(`The answer of ${url} is not a key set: ${reason.replace(/\.$/, '')}.`);
  }
}

async function findKeySetUrl(record: IssuerRecord, outbound: Outbound, allowHttpLoopback: boolean): Promise<string> {
  const { discoveryUrl = record.issuer, providerHosts, issuer } = record;
  const metadata = await fetchMetadata(issuerMetadata, { discoveryUrl, providerHosts }, outbound, allowHttpLoopback);
  if (metadata.issuer === issuer) return metadata.jwks_uri;
  throw new KeysUnusable(
    `The metadata names the issuer ${showableText(metadata.issuer, 2_048)}, not ${issuer}: set "issuer" to what iss of the tokens has, and "jwks-url" to ${metadata.jwks_uri} if both are right.`,
  );
}

/** The sentence in which administrators read why keys could not be fetched. */
export function reasonForAdministrators(error: unknown): string {
  if (error instanceof KeysUnusable) return error.message;
  if (error instanceof IdentityError) return error.hint ?? `The metadata cannot be used (${error.reason}).`;
  if (error instanceof OutboundError) {
    const code = error.systemCode === undefined ? '' : `, ${error.systemCode}`;
    return `The issuer could not be asked (${error.kind}${code}): ${error.message}.`;
  }
  return 'A fault of this appliance happened while the issuer was asked: see system:logs.';
}
