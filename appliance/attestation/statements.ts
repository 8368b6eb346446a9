// The service `custody-statements`: asks the token about a key, adds what the appliance knows, and has the attestation key sign it.
import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { openTenants, systemTenantName } from '../../core/access/tenants.ts';
import { withoutFields } from '../../core/access/policy/constraints.ts';
import { defined } from '../../core/base/defined.ts';
import type { CustodyStatement, CustodyStatements } from '../../core/plugin/services/custody-statements.ts';
import type { Store } from '../../core/store/store.ts';
import { isJsonObject, type JsonObject } from '../../core/wire/json.ts';
import { formatOutput } from '../../core/wire/schema.ts';
import type { Hsm, KeyEvidence, StoredKey } from '../../hsm/api.ts';
import program from '../../package.json' with { type: 'json' };
import { lastSignedHeads } from '../audit/chain-records.ts';
import { exportHistoryStart } from './export-history.ts';
import type { AttestationKeys } from './attestation-keys.ts';
import { identifyKey, type KeyIdentity } from './key-identity.ts';

/** Creates the service that signs custody statements with these keys. */
export function createCustodyStatements(store: Store, hsm: Hsm, keys: AttestationKeys): CustodyStatements {
  const tenants = openTenants(store);
  return {
    recordedSince: () => exportHistoryStart(store),
    async sign({ call, path, reference, publicKey, second, key, claims, told }) {
      const proven = await provenClaims(hsm, { reference, publicKey }, key, call.requestId);
      const ofSecond = second && secondClaim(await provenClaims(hsm, second, {}, call.requestId));
      const signed = await keys.sign({
        // The uuid of the tenant `system` is made once and goes with the store: it names the appliance, whatever its address.
        iss: `urn:uuid:${tenants.findByName(systemTenantName)?.uuid ?? ''}`,
        sub: path,
        jti: call.requestId,
        iat: Math.floor(call.now.epochMilliseconds / 1_000),
        ...shownTo(call, hiddenBy(call, path, told), {
          ...ownClaims(store, call),
          ...proven,
          ...defined({ 'second-key': ofSecond }),
          ...claims,
        }),
      });
      call.noteAudit({ signedDigest: `sha256:${hash('sha256', signed)}` });
      return signed;
    },
  };
}

/**
 * Claims of the appliance about itself. A trail that contains the heads has every earlier record; other tenants do not see how many there
 * are.
 */
function ownClaims(store: Store, { caller: { tenantId, tenantName } }: CustodyStatement['call']): JsonObject {
  const heads = lastSignedHeads(store).map(({ chain, sequence, hash: head }) => ({ chain, sequence, hash: head }));
  return {
    appliance: { version: program.version, ...defined({ member: store.appliance }) },
    tenant: { name: tenantName, uuid: tenantId },
    ...(tenantName === systemTenantName ? { audit: { heads } } : {}),
  };
}

/** The claims `key` and `custody` of a key that its token has proven. Rejects with HsmError. */
async function provenClaims(
  hsm: Hsm,
  { reference, publicKey }: Pick<CustodyStatement, 'reference' | 'publicKey'>,
  key: JsonObject,
  requestId: string,
): Promise<JsonObject> {
  const [evidence, identity] = await Promise.all([hsm.evidence(reference), identifyKey(hsm, reference, publicKey, requestId)]);
  return tokenClaims(key, identity, reference.stored, evidence);
}

/** The claim `second-key`: what `key` and `custody` say of the first. */
function secondClaim({ key, custody }: JsonObject): JsonObject {
  return { ...asObject(key), custody: asObject(custody) };
}

/** The claims `key` and `custody`. Attributes that the token does not give are absent. */
function tokenClaims(
  key: JsonObject,
  identity: KeyIdentity,
  { custody: kept, token: name }: StoredKey,
  { token, object, wrappingKey, vendor }: KeyEvidence,
): JsonObject {
  const custody = { kept, token: { name, ...token }, object, wrappingKey, ...(vendor.length === 0 ? {} : { vendor }) };
  return asObject(formatOutput({ key: { ...key, ...identity }, custody }));
}

/**
 * Claims about fields that the caller sees in neither tree. If no rule lets it read the entry and none refuses that, the right to the
 * statement includes the right to its content.
 */
function hiddenBy({ access }: CustodyStatement['call'], path: string, told: CustodyStatement['told']): readonly string[] {
  const state = path.slice(1).split('/');
  const trees = [state, state.with(1, 'config')];
  const readable = trees.filter((tree) => access.allowsAt(tree, 'read'));
  const isShown = (field: string): boolean =>
    readable.length > 0 ? readable.some((tree) => access.shownAt(tree)(field)) : trees.every((tree) => access.listedShows(tree)(field));
  return Object.entries(told).flatMap(([field, claims]) => (isShown(field) ? [] : claims));
}

/** The claims without these and those that policies hide. */
function shownTo({ access }: CustodyStatement['call'], hidden: readonly string[], claims: JsonObject): JsonObject {
  const shown = asObject(withoutFields(access.withoutHidden(claims), hidden));
  return isDeepStrictEqual(shown, claims) ? claims : { ...shown, partial: true };
}

function asObject(value: unknown): JsonObject {
  if (!isJsonObject(value)) throw new TypeError('claims are an object');
  return value;
}
