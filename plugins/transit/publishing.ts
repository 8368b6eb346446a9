// The JWKS of a tenant (RFC 7517 section 5): public keys of the keys with `publish`, for relying parties without a token.
import { hash } from 'node:crypto';
import { z } from 'zod';
import { fail } from '../../core/base/errors.ts';
import { type AnyEndpoint, definePublicEndpoint, type PublicCall, Reply } from '../../core/http/endpoint.ts';
import { cipherOf } from './ciphers.ts';
import type { Transit } from './context.ts';
import { publicJwkOf } from './formats/jwk.ts';
import { microseconds } from './instants.ts';
import type { Key, Version } from './records/keyring.ts';
import { barForDecryption } from './records/version-rules.ts';
import { transitKeysTag } from './tags.ts';

/** Versions of each, the newest: a key that rotates daily needs no more for a month. */
const mostVersions = 32;
/** Relying parties ask again so often; a new version should wait longer than that before it signs. */
const freshSeconds = 300;

/** Path of the JWKS of a tenant. */
export function jwksPathOf(tenantId: string): string {
  return `/v1/jwks/${tenantId}`;
}

const answer = z.object({
  keys: z.array(z.record(z.string(), z.unknown())).meta({
    description: 'Public keys as JWK, by name of the key and from the newest version; `kid` is the thumbprint.',
    example: [
      {
        kty: 'OKP',
        crv: 'Ed25519',
        x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
        kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
        use: 'sig',
        alg: 'EdDSA',
      },
    ],
  }),
});

/** GET /v1/jwks/{tenant} */
export function publicKeySet(transit: Transit): AnyEndpoint {
  const sets = new PublishedSets();
  return definePublicEndpoint<undefined, z.output<typeof answer>>({
    method: 'GET',
    path: jwksPathOf('{tenant}'),
    summary: 'The public keys that a tenant publishes, as JWKS',
    description:
      'Needs no token. It has every version that verifies, also one that waits for `activate-after`, so that relying parties know it before it signs; of each key the newest 32, and always the one that signs. A tenant without keys to publish has none.',
    operationId: 'transitKeysPublished',
    tag: transitKeysTag,
    access: 'public',
    audit: 'none',
    errors: ['not-found'],
    documented: { names: { tenant: { description: 'UUID of the tenant.', example: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6' } } },
    output: answer,
    run: (call: PublicCall) => {
      const tenant = call.params['tenant'] ?? '';
      const names = Array.from(transit.tables.published.keys([tenant]), (storeKey) => storeKey[1] as string);
      if (names.length === 0) throw fail('not-found');
      const found = names.flatMap((name) => transit.keyring.find(tenant, name) ?? []);
      return new Reply(200, sets.find(transit, tenant, found, microseconds(call.now)), {
        'content-type': 'application/json',
        'cache-control': `public, max-age=${freshSeconds}`,
      });
    },
  });
}

type Jwks = readonly Readonly<Record<string, unknown>>[];

/**
 * Sets as they were written last: anybody may ask at any rate, and reading the versions of a hundred keys takes a tenth of a second. The store returns the
 * same record of a key until it changes; what changes with a version alone (its certificates, a timer that is due) is seen ten seconds later at most.
 */
class PublishedSets {
  readonly #kept = new Map<string, { readonly slot: number; readonly keys: readonly Key[]; readonly text: string }>();

  find(transit: Transit, tenantId: string, keys: readonly Key[], now: number): string {
    const slot = Math.floor(now / slotMicroseconds);
    const kept = this.#kept.get(tenantId);
    const isSame =
      kept?.slot === slot && kept.keys.length === keys.length && kept.keys.every(({ record }, at) => record === keys[at]?.record);
    if (kept !== undefined && isSame) return kept.text;
    const room: ChainRoom = { left: mostChainBytes };
    const text = JSON.stringify({ keys: keys.flatMap((key) => publishedOf(transit, key, now, room)) });
    this.#kept.delete(tenantId);
    this.#kept.set(tenantId, { slot, keys, text });
    for (const oldest of this.#kept.keys().take(Math.max(0, this.#kept.size - mostKept))) this.#kept.delete(oldest);
    return text;
  }
}

const slotMicroseconds = 10_000_000;
/** Tenants whose sets are kept in a process. */
const mostKept = 16;

/** Octets of certificates in one set: further ones are named by their hash alone, so that no answer grows with chains. */
const mostChainBytes = 256 * 1024;

// Made once for each public key: the store returns the same object until the record changes, and anybody may ask at any rate.
const made = new WeakMap<Uint8Array, Readonly<Record<string, unknown>>>();

function jwkOf(key: Key, publicKey: Uint8Array): Readonly<Record<string, unknown>> {
  let jwk = made.get(publicKey);
  if (jwk === undefined) made.set(publicKey, (jwk = publicJwkOf(cipherOf(key.record), publicKey)));
  return jwk;
}

type ChainRoom = { left: number };

function certified(chain: readonly Uint8Array[] | undefined, room: ChainRoom): Readonly<Record<string, unknown>> {
  const [own] = chain ?? [];
  if (chain === undefined || own === undefined) return {};
  const bytes = chain.reduce((sum, der) => sum + der.length, 0);
  const fits = bytes <= room.left;
  if (fits) room.left -= bytes;
  return { ...(fits ? { x5c: chain.map((der) => der.toBase64()) } : {}), 'x5t#S256': hash('sha256', own, 'base64url') };
}

function publishedOf({ keyring }: Transit, key: Key, now: number, room: ChainRoom): Jwks {
  const { floor, latest } = key.record;
  const newest = Array.from({ length: Math.min(mostVersions, latest - floor + 1) }, (_, index) => latest - index);
  // Many that wait do not push out the one that signs.
  const numbers = new Set([...newest.slice(0, mostVersions - 1), keyring.inUse(key, now), ...newest]);
  return [...numbers].slice(0, mostVersions).flatMap((number) => {
    const version: Version = keyring.version(key, number);
    const { publicKey, certificateChain } = version.record;
    if (publicKey === undefined || barForDecryption(key.record, number, version.record, now) !== undefined) return [];
    return [{ ...jwkOf(key, publicKey), ...certified(certificateChain, room) }];
  });
}
