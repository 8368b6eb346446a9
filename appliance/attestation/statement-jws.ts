// The form of a custody statement: a compact JWS (RFC 7515) under ES256, with the thumbprint of its key as `kid`. Written and verified
// here.
import { type KeyObject, verify } from 'node:crypto';
import { thumbprintOf } from '../../core/base/public-keys/jwk.ts';
import { type JsonObject, parseJsonObject } from '../../core/wire/json.ts';
import { encodeBase64url } from '../../core/base/bytes.ts';

/** `typ` of the header (RFC 8725 section 3.11): no token of another kind passes for a statement. */
const statementType = 'keystored-custody+jwt';
const algorithm = 'ES256';
const signatureBytes = 64;

/** The header and payload of a statement, in the form in which they are signed. */
export function statementInput(kid: string, payload: object): string {
  return `${encodeJson({ alg: algorithm, typ: statementType, kid })}.${encodeJson(payload)}`;
}

/** A statement from its input and the signature r‖s. */
export function formatStatement(input: string, signature: Uint8Array): string {
  return `${input}.${encodeBase64url(signature)}`;
}

/** Thrown for a text that is not a statement under one of the keys; the message says why. */
export class StatementRefused extends Error {}

export type VerifiedStatement = { readonly kid: string; readonly payload: JsonObject };

/**
 * The payload of a statement that one of the keys has signed. The header names the key and chooses nothing else: algorithm and type are
 * fixed, and a header with any other member is refused. Throws StatementRefused.
 */
export function verifyStatement(text: string, keys: readonly KeyObject[]): VerifiedStatement {
  const [head = '', body = '', signed = '', ...more] = text.trim().split('.');
  if (more.length > 0 || signed === '') throw new StatementRefused('it has not the three parts of a compact JWS');
  const { alg, typ, kid, ...others } = readJson(head, 'header');
  if (alg !== algorithm) throw new StatementRefused(`its alg is not ${algorithm}`);
  if (typ !== statementType) throw new StatementRefused(`its typ is not ${statementType}: it is a signature of another kind`);
  if (Object.keys(others).length > 0) throw new StatementRefused('its header has members that no statement has');
  const key = keys.find((one) => thumbprintOf(one) === kid);
  if (key === undefined || typeof kid !== 'string') throw new StatementRefused('its kid names none of the keys that were given');
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw new StatementRefused('its key is not on the curve of ES256');
  const signature = readBase64url(signed, 'signature');
  const isSound =
    signature.length === signatureBytes && verify('sha256', Buffer.from(`${head}.${body}`), { key, dsaEncoding: 'ieee-p1363' }, signature);
  if (!isSound) throw new StatementRefused('the signature does not verify: it was changed, or another key has made it');
  return { kid, payload: readJson(body, 'payload') };
}

function encodeJson(value: object): string {
  return encodeBase64url(Buffer.from(JSON.stringify(value)));
}

function readJson(part: string, name: string): JsonObject {
  const octets = readBase64url(part, name);
  try {
    return parseJsonObject(octets);
  } catch {
    throw new StatementRefused(`its ${name} is not a JSON object that has each member once`);
  }
}

/** Only the one text that encodes the octets: a statement has one form. */
function readBase64url(part: string, name: string): Uint8Array {
  const octets = new Uint8Array(Buffer.from(part, 'base64url'));
  if (part === '' || encodeBase64url(octets) !== part) throw new StatementRefused(`its ${name} is not base64url without padding`);
  return octets;
}
