// Mechanisms as p11-kit writes them, in two forms that the version of the protocol does not tell apart: to 0.25.5 and from 0.25.6 on.
import * as ck from '../pkcs11/constants.ts';
import { type ArgumentReader, number32, octet } from './frames.ts';
import { refuse, rv } from './refused.ts';

/** `parameters`: undefined where the client gives none. */
export type Mechanism = { readonly type: number; readonly parameters: Buffer | undefined };

/** Parameters of RSA-PSS: CKM of the hash, CKG of the mask, octets of the salt. */
export type PssParameters = { readonly hash: number; readonly mask: number; readonly saltOctets: number };

/** Octets after a mechanism without parameters: a length of -1 up to 0.25.5; from 0.25.6 on nothing, or a flag for none. */
const withoutParameters: readonly Buffer[] = [number32(0xffff_ffff), Buffer.alloc(0), octet(0)];
/** The type that says: cancel the operation. */
const cancelType = 0xffff_ffff;
const pssTypes: ReadonlySet<number> = new Set([
  ck.CKM_RSA_PKCS_PSS,
  ...[ck.CKM_SHA256_RSA_PKCS_PSS, ck.CKM_SHA384_RSA_PKCS_PSS, ck.CKM_SHA512_RSA_PKCS_PSS],
]);
const pssOctets = 24;

/**
 * Reads a mechanism before which the session was read and after which `after` octets follow: their number tells the two forms apart. Undefined
 * for the cancelling of an operation. Throws Refused for parameters that cannot be read.
 */
export function readMechanism(given: ArgumentReader, after: number): Mechanism | undefined {
  const type = given.number32();
  const written = given.rest(after);
  if (type === cancelType) return undefined;
  if (withoutParameters.some((form) => form.equals(written))) return { type, parameters: undefined };
  if (!pssTypes.has(type)) return refuse(rv.mechanismParameterInvalid);
  if (written.length === pssOctets) return { type, parameters: written };
  if (written.length === pssOctets + 1 && written[0] === 1) return { type, parameters: written.subarray(1) };
  return refuse(rv.mechanismParameterInvalid);
}

/** Parameters that readMechanism has given for a mechanism of RSA-PSS. */
export function pssParameters(octets: Buffer): PssParameters {
  const [hash = 0, mask = 0, saltOctets = 0] = [0, 8, 16].map((at) => Number(octets.readBigUInt64BE(at)));
  return { hash, mask, saltOctets };
}
