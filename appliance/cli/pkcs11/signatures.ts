// Signatures by mechanism: the request to the appliance that makes exactly what the program asked for, or a refusal. Nothing is decided here.
import { createHash, type Hash } from 'node:crypto';
import { type Mechanism, pssParameters } from '../../../hsm/p11-kit/mechanisms.ts';
import type { MechanismInfo, Signing } from '../../../hsm/p11-kit/remote-token.ts';
import { refuse, Refused as CallRefused, rv } from '../../../hsm/p11-kit/refused.ts';
import * as ck from '../../../hsm/pkcs11/constants.ts';
import { Refused } from '../client.ts';
import type { LastingClient } from '../lasting/client.ts';
import type { Notices } from '../lasting/notices.ts';
import { CommandFailed } from '../terminal/failure.ts';
import type { HashName, SigningKey } from './shown-keys.ts';

/** A hash and its padding, ready to be signed. */
type Prepared = { readonly hash: HashName; readonly digest: Buffer };

const hashes: Readonly<Record<HashName, { readonly octets: number; readonly type: number; readonly mask: number; readonly oid: string }>> =
  {
    sha256: { octets: 32, type: ck.CKM_SHA256, mask: ck.CKG_MGF1_SHA256, oid: '608648016503040201' },
    sha384: { octets: 48, type: ck.CKM_SHA384, mask: ck.CKG_MGF1_SHA384, oid: '608648016503040202' },
    sha512: { octets: 64, type: ck.CKM_SHA512, mask: ck.CKG_MGF1_SHA512, oid: '608648016503040203' },
  };
const hashNames = Object.keys(hashes) as HashName[];

/** `hash`: the data is hashed here; without it, it is a finished hash. */
type Row = { readonly family: SigningKey['family']; readonly padding?: 'pkcs1v15' | 'pss'; readonly hash?: HashName };

const rows: ReadonlyMap<number, Row> = new Map<number, Row>([
  [ck.CKM_RSA_PKCS, { family: 'rsa', padding: 'pkcs1v15' }],
  [ck.CKM_RSA_PKCS_PSS, { family: 'rsa', padding: 'pss' }],
  [ck.CKM_SHA256_RSA_PKCS, { family: 'rsa', padding: 'pkcs1v15', hash: 'sha256' }],
  [ck.CKM_SHA384_RSA_PKCS, { family: 'rsa', padding: 'pkcs1v15', hash: 'sha384' }],
  [ck.CKM_SHA512_RSA_PKCS, { family: 'rsa', padding: 'pkcs1v15', hash: 'sha512' }],
  [ck.CKM_SHA256_RSA_PKCS_PSS, { family: 'rsa', padding: 'pss', hash: 'sha256' }],
  [ck.CKM_SHA384_RSA_PKCS_PSS, { family: 'rsa', padding: 'pss', hash: 'sha384' }],
  [ck.CKM_SHA512_RSA_PKCS_PSS, { family: 'rsa', padding: 'pss', hash: 'sha512' }],
  [ck.CKM_ECDSA, { family: 'ec' }],
  [ck.CKM_ECDSA_SHA256, { family: 'ec', hash: 'sha256' }],
  [ck.CKM_ECDSA_SHA384, { family: 'ec', hash: 'sha384' }],
  [ck.CKM_ECDSA_SHA512, { family: 'ec', hash: 'sha512' }],
]);

/** CKF_SIGN, and for curves CKF_EC_F_P, CKF_EC_NAMEDCURVE and CKF_EC_UNCOMPRESS. */
const signs = 0x800;
const ofCurves = 0x0010_0000 | 0x0080_0000 | 0x0100_0000;

/** The mechanisms that are offered, each client takes those that it can. */
export const offeredMechanisms: ReadonlyMap<number, MechanismInfo> = new Map(
  [...rows].map(([type, { family }]) => [
    type,
    family === 'rsa' ? { leastBits: 2_048, mostBits: 4_096, flags: signs } : { leastBits: 256, mostBits: 521, flags: signs | ofCurves },
  ]),
);

/** Makes a signature of a finished hash. Rejects with the CK_RV. */
export type SignDigest = (key: SigningKey, padding: Row['padding'], prepared: Prepared) => Promise<Uint8Array>;

/** Begins a signature. Throws the CK_RV for a mechanism or parameters that the key has not. */
export function beginSigning(key: SigningKey, { type, parameters }: Mechanism, sign: SignDigest): Signing {
  const { family, padding, hash } = rows.get(type) ?? refuse(rv.mechanismInvalid);
  if (family !== key.family) refuse(rv.keyTypeInconsistent);
  const pssHash = padding === 'pss' ? readPss(parameters, hash) : undefined;
  if (padding !== 'pss' && parameters !== undefined) refuse(rv.mechanismParameterInvalid);
  const { pssOnly, signatureOctets } = key;
  if (pssOnly !== undefined && (padding !== 'pss' || (pssOnly.hash !== undefined && pssOnly.hash !== pssHash)))
    refuse(rv.keyFunctionNotPermitted);
  if (hash === undefined) {
    return {
      signatureOctets,
      sign: async (data = Buffer.alloc(0)) => sign(key, padding, finishedHash(family, pssHash, data)),
    };
  }
  const hashing: Hash = createHash(hash);
  return {
    signatureOctets,
    update: (part) => void hashing.update(part),
    sign: async (data) => sign(key, padding, { hash, digest: (data === undefined ? hashing : hashing.update(data)).digest() }),
  };
}

/** The hash of the parameters. Refuses any other mask or salt than what the appliance makes: those of the hash. */
function readPss(parameters: Buffer | undefined, expected: HashName | undefined): HashName {
  if (parameters === undefined) return refuse(rv.mechanismParameterInvalid);
  const { hash, mask, saltOctets } = pssParameters(parameters);
  const name = hashNames.find((one) => hashes[one].type === hash) ?? refuse(rv.mechanismParameterInvalid);
  if (hashes[name].mask !== mask || hashes[name].octets !== saltOctets) refuse(rv.mechanismParameterInvalid);
  if (expected !== undefined && expected !== name) refuse(rv.mechanismParameterInvalid);
  return name;
}

/** A hash that the program has made: for RSA-PSS and ECDSA by its length, for PKCS#1 v1.5 in a DigestInfo. */
function finishedHash(family: SigningKey['family'], pssHash: HashName | undefined, data: Buffer): Prepared {
  if (pssHash !== undefined) return data.length === hashes[pssHash].octets ? { hash: pssHash, digest: data } : refuse(rv.dataLength);
  if (family === 'ec') return { hash: hashNames.find((one) => hashes[one].octets === data.length) ?? refuse(rv.dataLength), digest: data };
  const hash = hashNames.find((one) => data.length === digestInfos[one].length + hashes[one].octets && isBeginOf(data, digestInfos[one]));
  return hash === undefined ? refuse(rv.dataInvalid) : { hash, digest: data.subarray(-hashes[hash].octets) };
}

/** DigestInfo before the hash (RFC 8017 section 9.2, note 1). */
const digestInfos = Object.fromEntries(
  hashNames.map((name) => {
    const { octets, oid } = hashes[name];
    return [name, Buffer.from([0x30, 17 + octets, 0x30, 13, 0x06, 9, ...Buffer.from(oid, 'hex'), 0x05, 0, 0x04, octets])];
  }),
) as Readonly<Record<HashName, Buffer>>;

const isBeginOf = (data: Buffer, begin: Buffer): boolean => data.subarray(0, begin.length).equals(begin);

/** Signs by the appliance. */
export function signingBy(client: LastingClient, notices: Notices): SignDigest {
  return async ({ name, version, family, signatureOctets }, padding, { hash, digest }) => {
    const path = `/v1/state/keystore/transit-keys/${encodeURIComponent(name)}/sign`;
    const body = {
      ...{ text: digest.toString('base64'), prehashed: true, 'hash-algorithm': hash, 'key-version': version, marshaling: 'jws' },
      ...(family === 'rsa' ? { 'signature-algorithm': padding } : {}),
    };
    let said: unknown;
    try {
      said = JSON.parse((await client.ask({ method: 'POST', path, body })).body.toString());
    } catch (error) {
      throw refusalOf(error, notices, `cannot sign with ${name}`);
    }
    const signature = signatureIn(said, version);
    if (signature?.length === signatureOctets) return signature;
    notices.tell(`cannot sign with ${name}: the answer has no signature of version ${version}; is a proxy in between?`);
    throw new CallRefused(rv.deviceError);
  };
}

function signatureIn(said: unknown, version: number): Buffer | undefined {
  const { signature } = said as { readonly signature?: unknown };
  const prefix = `store:v${version}:`;
  return typeof signature === 'string' && signature.startsWith(prefix)
    ? Buffer.from(signature.slice(prefix.length), 'base64url')
    : undefined;
}

/** The CK_RV of a failure. What a person can do is on standard error. */
export function refusalOf(error: unknown, notices: Notices, failed: string): CallRefused {
  const message = error instanceof CommandFailed ? error.message : `an unexpected answer (${(error as Error).message})`;
  notices.tell(`${failed}: ${message}`);
  if (!(error instanceof Refused)) return new CallRefused(rv.deviceError);
  const { status } = error.answer;
  if (status === 404) return new CallRefused(rv.keyHandleInvalid);
  // 409: a minimum version bars the version, or the key signs nothing in its present state.
  if (status === 403 || status === 409) return new CallRefused(rv.keyFunctionNotPermitted);
  return new CallRefused(status === 400 ? rv.keyFunctionNotPermitted : rv.deviceError);
}
