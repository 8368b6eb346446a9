// Makes a key in a token and wraps it there for an import, as programs of others do that speak PKCS#11: with CKM_RSA_AES_KEY_WRAP where the token has it,
// else in the two steps of which that consists. node wrap-in-token.ts JSON; it prints the ciphertext and what tells the key.
import { createPublicKey, hash } from 'node:crypto';
import pkcs11js from 'pkcs11js';
import { addressOf } from '../../../hsm/pkcs11/pointers.ts';
import type { WrappedInToken, WrapInToken } from './wrapped-in-token.ts';

const { module, libraryParameters, label, pin, kind, wrappingKey } = JSON.parse(process.argv[2] ?? '') as WrapInToken;
const [rsaAesKeyWrap, keyWrapPad, keyWrapKwp, eddsa, edwardsPairs] = [0x1054, 0x210a, 0x210b, 0x1057, 0x1055];
const { CKA_TOKEN, CKA_PRIVATE, CKA_SENSITIVE, CKA_EXTRACTABLE, CKA_VALUE, CKA_VALUE_LEN, CKA_SIGN, CKA_VERIFY, CKA_WRAP, CKA_CLASS } =
  pkcs11js;
const { CKA_ENCRYPT, CKA_DECRYPT, CKA_KEY_TYPE, CKA_MODULUS, CKA_MODULUS_BITS, CKA_PUBLIC_EXPONENT, CKA_EC_PARAMS, CKA_ID } = pkcs11js;

const lib = new pkcs11js.PKCS11();
lib.load(module);
lib.C_Initialize(libraryParameters === undefined ? undefined : { libraryParameters, flags: pkcs11js.CKF_OS_LOCKING_OK });
const slot = lib.C_GetSlotList(true).find((one) => lib.C_GetTokenInfo(one).label.trim() === label);
if (slot === undefined) throw new Error(`no token ${label}`);
const mechanisms = new Set(lib.C_GetMechanismList(slot));
const session = lib.C_OpenSession(slot, pkcs11js.CKF_SERIAL_SESSION | pkcs11js.CKF_RW_SESSION);
lib.C_Login(session, pkcs11js.CKU_USER, pin);

type Value = number | boolean | Buffer;
const attributes = (...rows: readonly (readonly [number, Value])[]) => rows.map(([type, value]) => ({ type, value }));
const hashes = {
  sha256: { hashAlg: pkcs11js.CKM_SHA256, mgf: pkcs11js.CKG_MGF1_SHA256 },
  sha1: { hashAlg: pkcs11js.CKM_SHA_1, mgf: pkcs11js.CKG_MGF1_SHA1 },
};
const extractable = [
  [CKA_TOKEN, false],
  [CKA_PRIVATE, true],
  [CKA_EXTRACTABLE, true],
] as const;

/** Makes the key; `tells` signs, or reads a secret. */
function make(): { readonly key: Buffer; readonly tells: () => string } {
  if (kind === 'aes') {
    const template = attributes(...extractable, [CKA_SENSITIVE, false], [CKA_VALUE_LEN, 32], [CKA_ENCRYPT, true], [CKA_DECRYPT, true]);
    const key = lib.C_GenerateKey(session, { mechanism: pkcs11js.CKM_AES_KEY_GEN }, template);
    return {
      key,
      tells: () => Buffer.from(lib.C_GetAttributeValue(session, key, [{ type: CKA_VALUE }])[0]?.value as Buffer).toString('base64'),
    };
  }
  const curve = { ec: '06082a8648ce3d030107', ed25519: '06032b6570' };
  const own: readonly (readonly [number, Value])[] =
    kind === 'rsa'
      ? [
          [CKA_MODULUS_BITS, 2_048],
          [CKA_PUBLIC_EXPONENT, Buffer.of(1, 0, 1)],
        ]
      : [[CKA_EC_PARAMS, Buffer.from(curve[kind], 'hex')]];
  const [pairs, signs] = {
    rsa: [pkcs11js.CKM_RSA_PKCS_KEY_PAIR_GEN, pkcs11js.CKM_SHA256_RSA_PKCS] as const,
    ec: [pkcs11js.CKM_EC_KEY_PAIR_GEN, pkcs11js.CKM_ECDSA] as const,
    ed25519: [edwardsPairs, eddsa] as const,
  }[kind];
  const id = [CKA_ID, Buffer.from('moving')] as const;
  const { privateKey } = lib.C_GenerateKeyPair(
    session,
    { mechanism: pairs },
    attributes([CKA_TOKEN, false], [CKA_VERIFY, true], id, ...own),
    attributes(...extractable, [CKA_SENSITIVE, true], [CKA_SIGN, true], id),
  );
  const text = Buffer.from('moving');
  const sign = (): Buffer => {
    lib.C_SignInit(session, { mechanism: signs }, privateKey);
    // ECDSA takes the digest; the output is as long as the signature in a token that asks for that.
    return lib.C_Sign(session, kind === 'ec' ? hash('sha256', text, 'buffer') : text, Buffer.alloc(kind === 'rsa' ? 256 : 64));
  };
  return { key: privateKey, tells: () => sign().toString('base64') };
}

/** The wrapping key as an object of the token. */
function importedWrappingKey(): Buffer {
  const { n, e } = createPublicKey(wrappingKey).export({ format: 'jwk' });
  return lib.C_CreateObject(
    session,
    attributes(
      [CKA_CLASS, pkcs11js.CKO_PUBLIC_KEY],
      [CKA_KEY_TYPE, pkcs11js.CKK_RSA],
      [CKA_TOKEN, false],
      [CKA_WRAP, true],
      [CKA_ENCRYPT, true],
      [CKA_MODULUS, Buffer.from(String(n), 'base64url')],
      [CKA_PUBLIC_EXPONENT, Buffer.from(String(e), 'base64url')],
    ),
  );
}

const room = () => Buffer.alloc(8_192);

function inOneStep(publicKey: Buffer, key: Buffer, name: keyof typeof hashes): Buffer {
  const words = (...values: readonly (number | bigint)[]): Buffer => {
    const made = Buffer.alloc(8 * values.length);
    for (const [at, value] of values.entries()) made.writeBigUInt64LE(BigInt(value), 8 * at);
    return made;
  };
  const { hashAlg, mgf } = hashes[name];
  const oaep = words(hashAlg, mgf, 1, 0, 0);
  return lib.C_WrapKey(session, { mechanism: rsaAesKeyWrap, parameter: words(256, addressOf(oaep)) }, publicKey, key, room());
}

function inTwoSteps(publicKey: Buffer, key: Buffer, name: keyof typeof hashes): Buffer {
  const template = attributes(...extractable, [CKA_SENSITIVE, true], [CKA_VALUE_LEN, 32], [CKA_WRAP, true]);
  const transport = lib.C_GenerateKey(session, { mechanism: pkcs11js.CKM_AES_KEY_GEN }, template);
  const parameter = { type: pkcs11js.CK_PARAMS_RSA_OAEP, ...hashes[name], source: 1 };
  const wrappedTransport = lib.C_WrapKey(session, { mechanism: pkcs11js.CKM_RSA_PKCS_OAEP, parameter }, publicKey, transport, room());
  // Those that have no KWP under its later number have it under that of PAD.
  const mechanism = mechanisms.has(keyWrapKwp) ? keyWrapKwp : keyWrapPad;
  return Buffer.concat([wrappedTransport, lib.C_WrapKey(session, { mechanism }, transport, key, room())]);
}

const { key, tells } = make();
const told = tells();
const publicKey = importedWrappingKey();
const way = mechanisms.has(rsaAesKeyWrap) ? inOneStep : inTwoSteps;
const done = (name: keyof typeof hashes, ciphertext: Buffer): WrappedInToken => ({
  ...{ hash: name, isOneStep: way === inOneStep },
  ...{ ciphertext: ciphertext.toString('base64'), told },
});
// SoftHSM2 2.7.0 takes SHA-256 as the parameter of CKM_RSA_AES_KEY_WRAP, and uses SHA-1 all the same.
const isSoftHsm = lib.C_GetInfo().manufacturerID.trim() === 'SoftHSM';
console.log(JSON.stringify(isSoftHsm ? done('sha1', way(publicKey, key, 'sha1')) : done('sha256', way(publicKey, key, 'sha256'))));
