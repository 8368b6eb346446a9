// PKCS#11 numbers used by this floor, under the names of the standard (PKCS#11 3.2). The binding lacks the newer ones, so all are defined here.

/** Object classes. */
export const CKO_CERTIFICATE = 0x1;
export const CKO_PUBLIC_KEY = 0x2;
export const CKO_PRIVATE_KEY = 0x3;
export const CKO_SECRET_KEY = 0x4;

/** Key types. */
export const CKK_RSA = 0x0;
export const CKK_EC = 0x3;
export const CKK_GENERIC_SECRET = 0x10;
export const CKK_AES = 0x1f;
export const CKK_EC_EDWARDS = 0x40;
export const CKK_EC_MONTGOMERY = 0x41;
export const CKK_ML_KEM = 0x49;
export const CKK_ML_DSA = 0x4a;

/** Mechanisms. */
export const CKM_RSA_PKCS_KEY_PAIR_GEN = 0x0;
export const CKM_RSA_PKCS = 0x1;
export const CKM_RSA_X_509 = 0x3;
export const CKM_RSA_PKCS_OAEP = 0x9;
export const CKM_RSA_PKCS_PSS = 0xd;
export const CKM_ML_KEM_KEY_PAIR_GEN = 0xf;
export const CKM_ML_KEM = 0x17;
export const CKM_ML_DSA_KEY_PAIR_GEN = 0x1c;
export const CKM_ML_DSA = 0x1d;
export const CKM_SHA256_RSA_PKCS = 0x40;
export const CKM_SHA384_RSA_PKCS = 0x41;
export const CKM_SHA512_RSA_PKCS = 0x42;
export const CKM_SHA256_RSA_PKCS_PSS = 0x43;
export const CKM_SHA384_RSA_PKCS_PSS = 0x44;
export const CKM_SHA512_RSA_PKCS_PSS = 0x45;
export const CKM_SHA_1 = 0x220;
export const CKM_SHA256 = 0x250;
export const CKM_SHA256_HMAC = 0x251;
export const CKM_SHA384 = 0x260;
export const CKM_SHA384_HMAC = 0x261;
export const CKM_SHA512 = 0x270;
export const CKM_SHA512_HMAC = 0x271;
export const CKM_GENERIC_SECRET_KEY_GEN = 0x350;
export const CKM_EC_KEY_PAIR_GEN = 0x1040;
export const CKM_ECDSA = 0x1041;
export const CKM_ECDSA_SHA256 = 0x1044;
export const CKM_ECDSA_SHA384 = 0x1045;
export const CKM_ECDSA_SHA512 = 0x1046;
export const CKM_ECDH1_DERIVE = 0x1050;
export const CKM_EC_EDWARDS_KEY_PAIR_GEN = 0x1055;
export const CKM_EC_MONTGOMERY_KEY_PAIR_GEN = 0x1056;
export const CKM_EDDSA = 0x1057;
export const CKM_AES_KEY_GEN = 0x1080;
export const CKM_AES_GCM = 0x1087;
export const CKM_AES_CMAC = 0x108a;
export const CKM_AES_KEY_WRAP = 0x2109;
export const CKM_AES_KEY_WRAP_PAD = 0x210a;
export const CKM_AES_KEY_WRAP_KWP = 0x210b;

/** Mask generation functions of RSA-PSS and RSA-OAEP. */
export const CKG_MGF1_SHA1 = 0x1;
export const CKG_MGF1_SHA256 = 0x2;
export const CKG_MGF1_SHA384 = 0x3;
export const CKG_MGF1_SHA512 = 0x4;

/** Key derivation of ECDH: none, the result is the coordinate itself. */
export const CKD_NULL = 0x1;

/** Parameter sets of ML-DSA (CKP_ML_DSA_44, _65, _87). */
export const CKP_ML_DSA_44 = 0x1;
export const CKP_ML_DSA_65 = 0x2;
export const CKP_ML_DSA_87 = 0x3;

/** Parameter sets of ML-KEM (CKP_ML_KEM_768, _1024). */
export const CKP_ML_KEM_768 = 0x2;
export const CKP_ML_KEM_1024 = 0x3;

/** Use of random octets by ML-DSA (CK_HEDGE_TYPE). */
export const CKH_HEDGE_PREFERRED = 0x0;
export const CKH_DETERMINISTIC_REQUIRED = 0x2;

/** Flags of sessions, tokens and C_Initialize. */
export const CKF_RW_SESSION = 0x2;
export const CKF_SERIAL_SESSION = 0x4;
export const CKF_OS_LOCKING_OK = 0x2;
export const CKF_USER_PIN_INITIALIZED = 0x8;
export const CKF_TOKEN_PRESENT = 0x1;
export const CKF_TOKEN_INITIALIZED = 0x400;
export const CKF_USER_PIN_FINAL_TRY = 0x20000;
export const CKF_USER_PIN_LOCKED = 0x40000;
export const CKF_SO_PIN_FINAL_TRY = 0x200000;
export const CKF_SO_PIN_LOCKED = 0x400000;

/** User types of C_Login. */
export const CKU_SO = 0;
export const CKU_USER = 1;

/** Session states in which the user is logged in. */
export const CKS_RO_USER_FUNCTIONS = 1;
export const CKS_RW_USER_FUNCTIONS = 3;

/** Names of mechanisms that the binding does not know, for display. */
export const newerMechanismNames: Readonly<Record<number, string>> = {
  0x0f: 'CKM_ML_KEM_KEY_PAIR_GEN',
  0x17: 'CKM_ML_KEM',
  0x1c: 'CKM_ML_DSA_KEY_PAIR_GEN',
  0x1d: 'CKM_ML_DSA',
  0x1f: 'CKM_HASH_ML_DSA',
  0x2d: 'CKM_SLH_DSA_KEY_PAIR_GEN',
  0x2e: 'CKM_SLH_DSA',
  0x2b0: 'CKM_SHA3_256',
  0x2b1: 'CKM_SHA3_256_HMAC',
  0x2c0: 'CKM_SHA3_384',
  0x2d0: 'CKM_SHA3_512',
  0x3ac: 'CKM_SP800_108_COUNTER_KDF',
  0x1054: 'CKM_RSA_AES_KEY_WRAP',
  0x1055: 'CKM_EC_EDWARDS_KEY_PAIR_GEN',
  0x1056: 'CKM_EC_MONTGOMERY_KEY_PAIR_GEN',
  0x1057: 'CKM_EDDSA',
  0x210b: 'CKM_AES_KEY_WRAP_KWP',
  0x4021: 'CKM_CHACHA20_POLY1305',
  0x402a: 'CKM_HKDF_DERIVE',
  0x402b: 'CKM_HKDF_DATA',
  0x402c: 'CKM_HKDF_KEY_GEN',
};
