// Uses that a token is to refuse, tried with temporary keys: what attributes say is not what every module does.
import { type KeyType, keyUses, throwAwayPair } from '../api.ts';
import * as ck from '../pkcs11/constants.ts';
import { parseMaterial } from '../pkcs11/key-material.ts';
import { agreementMechanism, gcmMechanism, keyRows, nonceBytes, plainMechanism } from '../pkcs11/mechanisms.ts';
import type { ObjectHandle } from '../pkcs11/module.ts';
import { accepts } from '../pkcs11/return-values.ts';
import { type Handling, keyAttributes } from '../engine/custody.ts';
import type { Engine } from '../engine/engine.ts';
import { knownRsaKey, withObject } from '../engine/known-answers.ts';
import { rawDecapsulation } from '../engine/operations/decapsulation.ts';
import { generateObject } from '../engine/operations/making.ts';

/** One use that keys of a type are made without. `handling`: of RSA keys that decrypt `open`, of keys that may only be wrapped `wrap`. */
type Forbidden = {
  readonly type: KeyType;
  readonly handling: Handling;
  readonly name: string;
  readonly attempt: (engine: Engine, key: ObjectHandle) => unknown;
};

const block = Buffer.alloc(32, 1);

function signs(mechanism: number, bytes: number): Forbidden['attempt'] {
  return ({ sessions: { module, work } }, key) => module.sign(work, plainMechanism(mechanism), key, block, bytes);
}

const forbidden: readonly Forbidden[] = [
  { type: 'ecdsa-p256', handling: 'use', name: 'derive', attempt: derives },
  { type: 'ecdh-p256', handling: 'use', name: 'sign', attempt: signs(ck.CKM_ECDSA, 64) },
  { type: 'rsa-2048', handling: 'use', name: 'decrypt', attempt: decryptsBlock },
  { type: 'rsa-2048', handling: 'open', name: 'sign', attempt: signs(ck.CKM_RSA_PKCS, 256) },
  { type: 'aes-256', handling: 'use', name: 'sign', attempt: signs(ck.CKM_AES_CMAC, 16) },
  { type: 'aes-256', handling: 'use', name: 'wrap', attempt: wraps },
  { type: 'cmac-256', handling: 'use', name: 'encrypt', attempt: encrypts },
  { type: 'ml-kem-768', handling: 'wrap', name: 'decapsulate', attempt: decapsulates },
];

/** One sentence for each use that the token allows a key that was made without it. */
export function findForbiddenUses(engine: Engine): readonly string[] {
  return forbidden.flatMap(({ type, handling, name, attempt }) => {
    if (!engine.keyTypes.includes(type)) return [];
    const isAllowed = withKey(engine, type, handling, (key) => accepts(() => attempt(engine, key) !== undefined));
    // Some modules keep an operation that failed.
    engine.sessions.renewWork();
    return isAllowed ? [`a key of type ${type} that was not made to ${name} may ${name}`] : [];
  });
}

/** RSA keys take seconds to make: theirs is known. */
function withKey(engine: Engine, type: KeyType, handling: Handling, use: (key: ObjectHandle) => boolean): boolean {
  const attributes = keyAttributes(type, handling);
  if (keyRows[type].family !== 'rsa') {
    const { key } = generateObject(engine, type, attributes);
    try {
      return use(key);
    } finally {
      engine.sessions.destroy(key);
    }
  }
  const material = parseMaterial(type, Buffer.from(knownRsaKey.join(''), 'base64'));
  try {
    return withObject(engine, { ...attributes, ...material.values }, use);
  } finally {
    material.wipe();
  }
}

function derives({ sessions }: Engine, key: ObjectHandle): unknown {
  const attributes = { ...keyAttributes('secret-256', 'use'), valueLength: 32 };
  const mechanism = agreementMechanism(Buffer.from(throwAwayPair('ecdh-p256').point));
  const derived = sessions.module.deriveKey(sessions.owner, mechanism, key, attributes);
  sessions.destroy(derived);
  return derived;
}

function decapsulates(engine: Engine, key: ObjectHandle): unknown {
  return rawDecapsulation(engine, 'ml-kem-768', key, Buffer.alloc(keyUses['ml-kem-768'].ciphertextBytes, 1));
}

function decryptsBlock({ sessions: { module, work } }: Engine, key: ObjectHandle): unknown {
  const sealed = Buffer.concat([Buffer.alloc(224), block]);
  return module.decrypt(work, plainMechanism(ck.CKM_RSA_X_509), key, sealed, Buffer.alloc(sealed.length));
}

function wraps(engine: Engine, key: ObjectHandle): unknown {
  const { module, owner } = engine.sessions;
  const { key: other } = generateObject(engine, 'aes-256', keyAttributes('aes-256', 'wrap'));
  try {
    const mechanism = engine.mechanisms.has(ck.CKM_AES_KEY_WRAP_KWP) ? ck.CKM_AES_KEY_WRAP_KWP : ck.CKM_AES_KEY_WRAP_PAD;
    return module.wrapKey(owner, plainMechanism(mechanism), key, other);
  } finally {
    engine.sessions.destroy(other);
  }
}

function encrypts({ sessions: { module, work } }: Engine, key: ObjectHandle): unknown {
  return module.encrypt(work, gcmMechanism(Buffer.alloc(nonceBytes, 1), undefined), key, block, Buffer.alloc(block.length + 16));
}
