// First boot of a token: makes its own wrapping and binding keys, once, also if called repeatedly or concurrently.
import { HsmError, type TokenConfig } from '../api.ts';
import * as ck from '../pkcs11/constants.ts';
import { plainMechanism } from '../pkcs11/mechanisms.ts';
import { findLacks } from '../pkcs11/capabilities.ts';
import { mechanismName, PkcsModule, type SlotHandle } from '../pkcs11/module.ts';
import { findSlot, login, Sessions } from '../engine/sessions.ts';
import { copyTokenObjects, findTokenDirectory, requireSameToken, restoreTokenObjects, syncTokenDirectory } from '../files/softhsm.ts';
import { withStartLock } from '../files/start-lock.ts';
import type { Attributes } from '../pkcs11/template.ts';
import { bindingKeyAttributes } from '../engine/own-keys/binding-keys.ts';
import { bindingKeyLabel, removeHalfMade, wrappingKeyLabel } from '../engine/own-keys/names.ts';
import { wrappingKeyAttributes } from '../engine/own-keys/wrapping-keys.ts';

/** The token's own keys: each has one use, and neither can be exported. */
const ownKeys: readonly { label: string; mechanism: number; attributes: Attributes }[] = [
  { label: wrappingKeyLabel, mechanism: ck.CKM_AES_KEY_GEN, attributes: wrappingKeyAttributes({ number: 1 }) },
  { label: bindingKeyLabel, mechanism: ck.CKM_GENERIC_SECRET_KEY_GEN, attributes: bindingKeyAttributes({ number: 1 }) },
];

/** Makes the missing keys durably, in this process, under the token's start lock. Returns the labels of the keys made. */
export function prepareTokenHere(token: TokenConfig): string[] {
  requireSameToken(token);
  return withStartLock(token, () => {
    restoreTokenObjects(findTokenDirectory(token));
    const module = PkcsModule.load(token.module, token.libraryParameters);
    const slot = findSlot(module, token);
    requireFit(module, slot, token);
    const sessions = new Sessions(module, slot, (owner) => login(module, slot, owner, token));
    try {
      for (const { label } of ownKeys) removeHalfMade(sessions, label);
      const missing = ownKeys.filter(
        ({ label }) => module.findForSure(sessions.owner, { class: ck.CKO_SECRET_KEY, token: true, label }).length === 0,
      );
      for (const { mechanism, attributes } of missing) {
        module.generateKey(sessions.owner, plainMechanism(mechanism), { ...attributes, valueLength: 32 });
      }
      const directory = findTokenDirectory(token);
      if (directory !== undefined) {
        copyTokenObjects(directory);
        syncTokenDirectory(directory);
      }
      return missing.map(({ label }) => label);
    } finally {
      sessions.close();
    }
  });
}

/** Checks the token before an unusable key is made: `configuration`, with the mechanisms that it does not offer. */
function requireFit(module: PkcsModule, slot: SlotHandle, { name }: TokenConfig): void {
  const lacks = findLacks(module.mechanisms(slot).map(mechanismName));
  if (lacks.length === 0) return;
  throw new HsmError(
    'configuration',
    `token ${name} cannot hold the keys of the appliance, and nothing was made in it: it lacks ${lacks.join(', ')}`,
  );
}
