// Messages of ACME: JWS in flattened JSON (RFC 7515 section 7.2.2, RFC 8555 section 6.2), read strictly.
import { ServiceError } from '../../../core/base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from '../../../core/wire/json.ts';
import { malformed } from './malformed.ts';

/** A message that has the form of one. Nothing of it is proved. */
export type Jws = {
  readonly alg: string;
  readonly kid: string | undefined;
  readonly jwk: JsonObject | undefined;
  readonly nonce: string | undefined;
  readonly url: string;
  readonly payload: Uint8Array;
  /** octets under the signature */
  readonly signed: Uint8Array;
  readonly signature: Uint8Array;
};

const members: ReadonlySet<string> = new Set(['protected', 'payload', 'signature']);

/** Reads the body of a request. Throws `acme-malformed`. */
export function readJws(body: Uint8Array): Jws {
  return readJwsObject(parsed(body, 'The body'));
}

/** As readJws, of a message inside another. */
export function readJwsObject(jws: JsonObject): Jws {
  for (const name of Object.keys(jws)) {
    if (name === 'header') throw malformed('The JWS has an unprotected "header", which nobody has signed: protect all of it.');
    if (name === 'signatures') throw malformed('The JWS has "signatures": send one signature, in flattened form.');
    if (!members.has(name)) throw malformed('The JWS has another member than "protected", "payload" and "signature".');
  }
  const { protected: header, payload, signature } = jws;
  if (typeof header !== 'string' || typeof payload !== 'string' || typeof signature !== 'string')
    throw malformed('The JWS needs "protected", "payload" and "signature", each in base64url.');
  const fields = parsed(decode(header, 'protected'), '"protected"');
  return {
    ...readHeader(fields),
    payload: decode(payload, 'payload'),
    signed: Buffer.from(`${header}.${payload}`, 'latin1'),
    signature: decode(signature, 'signature'),
  };
}

function readHeader(fields: JsonObject): Pick<Jws, 'alg' | 'kid' | 'jwk' | 'nonce' | 'url'> {
  for (const name of ['crit', 'b64', 'zip'])
    if (Object.hasOwn(fields, name)) throw malformed(`The protected header has "${name}", which is not taken.`);
  const { alg, kid, jwk, nonce, url } = fields;
  if (typeof alg !== 'string') throw malformed('The protected header has no "alg" that is a text.');
  if (typeof url !== 'string') throw malformed('The protected header has no "url" that is a text (RFC 8555 section 6.4).');
  if ((kid === undefined) === (jwk === undefined)) throw malformed('The protected header has either "kid" or "jwk", one of the two.');
  if (jwk !== undefined && !isJsonObject(jwk)) throw malformed('"jwk" of the protected header is not an object.');
  return { alg, kid: optionalText(kid, 'kid'), jwk, nonce: optionalText(nonce, 'nonce'), url };
}

function optionalText(value: JsonValue | undefined, name: string): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw malformed(`"${name}" of the protected header is not a text.`);
}

/** Decodes base64url without padding, in its only spelling. Throws `acme-malformed`. */
export function decode(text: string, name: string): Uint8Array {
  const octets = Buffer.from(text, 'base64url');
  if (octets.toString('base64url') === text) return octets;
  throw malformed(`"${name}" is not canonical base64url: no padding, blanks or line ends are taken.`);
}

/** The object of a payload. Throws `acme-malformed`. */
export function readPayload({ payload }: Jws): JsonObject {
  if (payload.length === 0) throw malformed('The payload is empty, as in a question: this resource takes a JSON object.');
  return parsed(payload, 'The payload');
}

function parsed(octets: Uint8Array, what: string): JsonObject {
  try {
    return parseJsonObject(octets);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw malformed(error.message.replace('The body', what).replace('of the body', `of ${what}`));
  }
}
