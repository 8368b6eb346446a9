// Finds the keys that an appliance which stood alone keeps as objects in its token: nothing carries them to the tokens of others.
import { openTenants } from '../../../core/access/tenants.ts';
import { fail } from '../../../core/base/errors.ts';
import type { CaKeyInToken } from '../../../core/plugin/services/member-certificates.ts';
import type { OpenStore } from '../../../core/store/open.ts';
import type { KeyReference } from '../../../hsm/api.ts';

export type Moving = {
  /** every stored key */
  readonly stored: Iterable<KeyReference>;
  /** true if the former keys of renewed CAs may stay objects in the token of this appliance */
  readonly formerKeysStay: boolean;
};

const mostNames = 10;

/**
 * Checks before a cluster with a token in each appliance is bootstrapped: keys that would be in one token only have to be replaced. Throws
 * `operation-refused` with the names.
 */
export function requireNoObjects(store: OpenStore, ofCas: readonly CaKeyInToken[], { stored, formerKeysStay }: Moving): void {
  const tenants = openTenants(store);
  const nameOf = ({ tenantId, ca }: CaKeyInToken): string => `${tenants.findByUuid(tenantId)?.name ?? tenantId}/${ca}`;
  const others = Iterator.from(stored)
    .filter(({ stored: { custody }, binding: { purpose } }) => custody === 'token' && purpose !== 'ca')
    .map(({ binding: { purpose, keyId } }) => `${purpose} ${keyId}`);
  refuseIfAny(
    'Keys have custody "token"',
    others,
    'make others with custody "wrapped" in their place, encrypt again what is under them, and delete them',
  );
  refuseIfAny(
    'CAs sign with a key that is an object in the token',
    ofCas.filter(({ isNewest }) => isNewest).map(nameOf),
    'renew them now that the configuration has the section "cluster" ("keystorectl do ca NAME renew", as their tenant): the next key can be carried; a CA that is certified elsewhere is replaced by another one',
  );
  if (formerKeysStay) return;
  refuseIfAny(
    'Certificates under former keys of CAs have not ended',
    ofCas.flatMap((key) => (key.isNewest || key.neededUntil === undefined ? [] : [`${nameOf(key)} until ${key.neededUntil}`])),
    'wait until then, or say "former-keys-stay": these keys stay objects in the token of this appliance, and only it makes their revocation lists and OCSP answers',
  );
}

function refuseIfAny(what: string, found: Iterable<string>, remedy: string): void {
  const names = [...new Set(found)];
  if (names.length === 0) return;
  const more = names.length > mostNames ? ` and ${names.length - mostNames} more` : '';
  throw fail('operation-refused', {
    detail: `${what}, which cannot be carried to the tokens of other appliances: ${names.slice(0, mostNames).join(', ')}${more}. To bootstrap a cluster with a token in each, ${remedy}.`,
  });
}
