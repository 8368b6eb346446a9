// The other yardstick: calls of the PKCS#11 module, one after another in one process, through the bare binding. For each message with the
// name of an operation and a number of seconds, it answers with what a call took.
import { readFileSync } from 'node:fs';
import pkcs11js from 'pkcs11js';
import { shareOf } from '../measure/rounds.ts';

/** What the process is asked for. */
export type TokenQuestion = { readonly operation: TokenOperation; readonly seconds: number };
/** Processor time of one operation in microseconds, its latency in milliseconds. */
export type TokenCost = { readonly micros: number; readonly p50: number; readonly p99: number };

export type TokenOperation = keyof ReturnType<typeof openOperations>;

/** Payload of all operations, and the digest of signatures. */
const data = Buffer.alloc(64, 7);
const digest = Buffer.alloc(32, 7);
/** DigestInfo of SHA-256 (RFC 8017 section 9.2), which RSA signs. */
const digestInfo = Buffer.concat([Buffer.from('3031300d060960864801650304020105000420', 'hex'), digest]);

const curves = { p256: '06082a8648ce3d030107', ed25519: '06032b6570' } as const;

const [module, label, pinFile] = process.argv.slice(2) as [string, string, string];
const operations = openOperations(module, label, readFileSync(pinFile, 'utf8').trim());
for (const run of Object.values(operations)) run();
process.on('message', ({ operation, seconds }: TokenQuestion) => process.send?.(measure(operations[operation], seconds)));
process.on('disconnect', () => process.exit(0));
process.send?.('ready');

function measure(run: () => void, seconds: number): TokenCost {
  const latencies: number[] = [];
  const before = process.cpuUsage();
  for (const end = performance.now() + seconds * 1000; performance.now() < end;) {
    const begun = performance.now();
    run();
    latencies.push(performance.now() - begun);
  }
  const { user, system } = process.cpuUsage(before);
  return { micros: (user + system) / latencies.length, p50: shareOf(latencies, 0.5), p99: shareOf(latencies, 0.99) };
}

/** Each operation as the fewest calls that do it, with a key that is loaded already. */
function openOperations(path: string, tokenLabel: string, pin: string) {
  const lib = new pkcs11js.PKCS11();
  lib.load(path);
  lib.C_Initialize();
  const slot = lib.C_GetSlotList(true).find((one) => lib.C_GetTokenInfo(one).label.replace(/[\0 ]+$/, '') === tokenLabel);
  if (slot === undefined) throw new Error(`no token has the label ${tokenLabel}`);
  const session = lib.C_OpenSession(slot, pkcs11js.CKF_SERIAL_SESSION | pkcs11js.CKF_RW_SESSION);
  lib.C_Login(session, pkcs11js.CKU_USER, pin);

  const secretKey = (mechanism: number, uses: readonly number[]): Buffer =>
    lib.C_GenerateKey(session, { mechanism }, [
      { type: pkcs11js.CKA_TOKEN, value: false },
      { type: pkcs11js.CKA_VALUE_LEN, value: 32 },
      { type: pkcs11js.CKA_SENSITIVE, value: true },
      { type: pkcs11js.CKA_EXTRACTABLE, value: true },
      ...uses.map((type) => ({ type, value: true })),
    ]);
  const signingKey = (mechanism: number, publicKey: pkcs11js.Template): Buffer =>
    lib.C_GenerateKeyPair(
      session,
      { mechanism },
      [{ type: pkcs11js.CKA_TOKEN, value: false }, { type: pkcs11js.CKA_VERIFY, value: true }, ...publicKey],
      [
        { type: pkcs11js.CKA_TOKEN, value: false },
        { type: pkcs11js.CKA_SIGN, value: true },
      ],
    ).privateKey;
  const onCurve = (mechanism: number, oid: string): Buffer =>
    signingKey(mechanism, [{ type: pkcs11js.CKA_EC_PARAMS, value: Buffer.from(oid, 'hex') }]);
  const signer = (mechanism: number, key: Buffer, message: Buffer) => {
    const out = Buffer.alloc(512);
    return (): void => {
      lib.C_SignInit(session, { mechanism }, key);
      lib.C_Sign(session, message, out);
    };
  };

  const aes = secretKey(pkcs11js.CKM_AES_KEY_GEN, [pkcs11js.CKA_ENCRYPT, pkcs11js.CKA_DECRYPT]);
  const wrapping = secretKey(pkcs11js.CKM_AES_KEY_GEN, [pkcs11js.CKA_WRAP]);
  const nonce = Buffer.alloc(12, 7);
  const gcm = {
    mechanism: pkcs11js.CKM_AES_GCM,
    parameter: { type: pkcs11js.CK_PARAMS_AES_GCM_v240, iv: nonce, ivBits: 96, tagBits: 128 },
  } as unknown as pkcs11js.Mechanism;
  const sealed = Buffer.alloc(data.length + 16);
  const opened = Buffer.alloc(sealed.length);
  const encrypt = (): void => {
    // The nonce only has to be another one: this is about time.
    nonce.writeUInt32BE((nonce.readUInt32BE(8) + 1) >>> 0, 8);
    lib.C_EncryptInit(session, gcm, aes);
    lib.C_Encrypt(session, data, sealed);
  };
  encrypt();
  const fixed = { ...gcm, parameter: { ...(gcm.parameter as object), iv: Buffer.from(nonce) } } as unknown as pkcs11js.Mechanism;
  const ciphertext = Buffer.from(sealed);
  const secret = secretKey(pkcs11js.CKM_GENERIC_SECRET_KEY_GEN, [pkcs11js.CKA_SIGN]);
  const makeWrapped = (mechanism: number, uses: readonly number[]): void => {
    const made = secretKey(mechanism, uses);
    lib.C_WrapKey(session, { mechanism: pkcs11js.CKM_AES_KEY_WRAP_PAD }, wrapping, made, Buffer.alloc(128));
    lib.C_DestroyObject(session, made);
  };
  const rsa = signingKey(pkcs11js.CKM_RSA_PKCS_KEY_PAIR_GEN, [
    { type: pkcs11js.CKA_MODULUS_BITS, value: 2048 },
    { type: pkcs11js.CKA_PUBLIC_EXPONENT, value: Buffer.from([1, 0, 1]) },
  ]);
  return {
    encrypt,
    decrypt: (): void => {
      lib.C_DecryptInit(session, fixed, aes);
      lib.C_Decrypt(session, ciphertext, opened);
    },
    hmac: signer(pkcs11js.CKM_SHA256_HMAC, secret, data),
    'sign ecdsa-p256': signer(pkcs11js.CKM_ECDSA, onCurve(pkcs11js.CKM_EC_KEY_PAIR_GEN, curves.p256), digest),
    // The binding has no constants for Edwards curves (PKCS#11 3.0: CKM_EC_EDWARDS_KEY_PAIR_GEN, CKM_EDDSA).
    'sign ed25519': signer(0x1057, onCurve(0x1055, curves.ed25519), data),
    'sign rsa-2048': signer(pkcs11js.CKM_RSA_PKCS, rsa, digestInfo),
    /** an AES key of the appliance is two secrets, one for HMAC; each is made and wrapped */
    'create key': (): void => {
      makeWrapped(pkcs11js.CKM_AES_KEY_GEN, [pkcs11js.CKA_ENCRYPT, pkcs11js.CKA_DECRYPT]);
      makeWrapped(pkcs11js.CKM_GENERIC_SECRET_KEY_GEN, [pkcs11js.CKA_SIGN]);
    },
  };
}
