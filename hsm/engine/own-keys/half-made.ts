// Own keys that a kill or a power cut left without a value. SoftHSM writes an object with its label first, and its value with CKA_LOCAL after
// that: as long as the file is not flushed, either state may be on the disk. Such a key has wrapped and bound nothing.
import * as ck from '../../pkcs11/constants.ts';
import { plainMechanism } from '../../pkcs11/mechanisms.ts';
import type { ObjectHandle } from '../../pkcs11/module.ts';
import { TokenError } from '../../pkcs11/return-values.ts';
import { flag } from '../attributes.ts';
import type { Sessions } from '../sessions.ts';
import { onlyFor } from '../usages.ts';

type Token = Pick<Sessions, 'module' | 'owner' | 'work' | 'slot'>;

/** CKR_GENERAL_ERROR, CKR_KEY_SIZE_RANGE: SoftHSM refuses the use of a key without a value so. */
const withoutValue: ReadonlySet<number> = new Set([0x5, 0x62]);

/**
 * Tells whether SoftHSM never finished the making of an own key. Others make objects in one step, and some call a key not local that came with a
 * copy of the token. Two reads and two uses must agree.
 */
export function isHalfMade(token: Token, object: ObjectHandle): boolean {
  const { module, owner, slot } = token;
  const isLocal = (): boolean => flag(module.attribute(owner, object, 'local'));
  if (isLocal() || module.tokenInfo(slot).manufacturer !== 'SoftHSM project' || isLocal()) return false;
  const use = flag(module.attribute(owner, object, 'sign')) ? computeMac : wrapProbe;
  return lacksValue(() => use(token, object)) && lacksValue(() => use(token, object));
}

function lacksValue(use: () => void): boolean {
  try {
    use();
    return false;
  } catch (error) {
    if (error instanceof TokenError && withoutValue.has(error.rv)) return true;
    throw error;
  }
}

function computeMac({ module, work }: Token, key: ObjectHandle): void {
  module.sign(work, plainMechanism(ck.CKM_SHA256_HMAC), key, Buffer.from('keystored'), 32);
}

function wrapProbe({ module, owner, work }: Token, key: ObjectHandle): void {
  const probe = module.generateKey(owner, plainMechanism(ck.CKM_GENERIC_SECRET_KEY_GEN), {
    ...{ token: false, private: true, sensitive: true, extractable: true, valueLength: 32 },
    ...onlyFor('secret', ['sign']),
  });
  try {
    module.wrapKey(work, plainMechanism(ck.CKM_AES_KEY_WRAP), key, probe);
  } finally {
    module.destroyObject(owner, probe);
  }
}
