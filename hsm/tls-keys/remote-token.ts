// Answers the PKCS#11 calls of OpenSSL's engine as a token that needs no PIN, has the keys of the listeners and can sign with them. Every other
// call is refused.
import * as ck from '../pkcs11/constants.ts';
import {
  answerFrame,
  type ArgumentReader,
  errorFrame,
  flaggedOctets,
  lengthOnly,
  number32,
  octet,
  octets,
  type RemoteCall,
  text,
  ulong,
  ulongs,
  version,
} from './remote-frames.ts';
import type { KeyReference } from '../api.ts';
import type { ShownObject } from './shown-keys.ts';

/** Signs a digest: r‖s; rejects when the token cannot. */
export type SignDigest = (reference: KeyReference, digest: Uint8Array) => Promise<Uint8Array>;

type Session = { found: number[]; signing: KeyReference | undefined };
type Answer = readonly [signature: string, ...values: Buffer[]];

const CKR_DEVICE_ERROR = 0x30;
const CKR_FUNCTION_NOT_SUPPORTED = 0x54;
const CKR_MECHANISM_INVALID = 0x70;
const CKR_MECHANISM_PARAM_INVALID = 0x71;
const CKR_OBJECT_HANDLE_INVALID = 0x82;
const CKR_OPERATION_NOT_INITIALIZED = 0x91;
const CKR_ATTRIBUTE_TYPE_INVALID = 0x12;
const CKR_SESSION_HANDLE_INVALID = 0xb3;
const slot = 1;
const signatureOctets = 64;
/** CKF_HW and CKF_SIGN; CKF_EC_F_P and CKF_EC_UNCOMPRESS. */
const mechanismFlags = 0x0000_0001 | 0x0000_0800 | 0x0010_0000 | 0x0100_0000;
const sessionState = 0;
const counts = 10;

const handleOctets = 8;
/** Octets that p11-kit writes after a mechanism without parameters: a length of -1 up to 0.25.5; from 0.25.6 on nothing, or a flag for none. */
const withoutParameters: readonly Buffer[] = [number32(0xffff_ffff), Buffer.alloc(0), octet(0)];

class Refused extends Error {
  readonly rv: number;

  constructor(rv: number) {
    super(`CK_RV ${rv}`);
    this.rv = rv;
  }
}

/** One connection of a client. */
export class RemoteToken {
  readonly #objects: readonly ShownObject[];
  readonly #sign: SignDigest;
  readonly #sessions = new Map<number, Session>();
  #lastSession = 0;

  /** Objects added to the list later are visible; the handle of an object is its place. */
  constructor(objects: readonly ShownObject[], sign: SignDigest) {
    this.#objects = objects;
    this.#sign = sign;
  }

  /** The frame of the answer. Never rejects. */
  async answer({ exchange, call, arguments: given }: RemoteCall): Promise<Buffer> {
    try {
      const [signature, ...values] = (await calls[call]?.(this, given)) ?? refuse(CKR_FUNCTION_NOT_SUPPORTED);
      return answerFrame(exchange, call, signature, values);
    } catch (error) {
      return errorFrame(exchange, error instanceof Refused ? error.rv : CKR_DEVICE_ERROR);
    }
  }

  openSession(): Answer {
    this.#sessions.set(++this.#lastSession, { found: [], signing: undefined });
    return ['u', ulong(this.#lastSession)];
  }

  closeSession(given: ArgumentReader): Answer {
    this.#sessions.delete(given.ulong());
    return [''];
  }

  closeAllSessions(): Answer {
    this.#sessions.clear();
    return [''];
  }

  /** Answers every requested attribute, and whether all of them exist. */
  attributes(given: ArgumentReader): Answer {
    this.#session(given);
    const object = this.#object(given);
    const asked = Array.from({ length: given.number32() }, () => {
      const type = given.number32();
      given.number32();
      return type;
    });
    const encoded = asked.map((type) => {
      const value = object.attributes.get(type);
      return value === undefined
        ? Buffer.concat([number32(type), octet(0)])
        : Buffer.concat([number32(type), octet(1), number32(value.octets.length), value.isFixed ? value.octets : octets(value.octets)]);
    });
    const rv = asked.every((type) => object.attributes.has(type)) ? 0 : CKR_ATTRIBUTE_TYPE_INVALID;
    return ['aAu', number32(asked.length), ...encoded, ulong(rv)];
  }

  /** Starts a search. An attribute that no object has cannot be decoded, and finds nothing. */
  find(given: ArgumentReader): Answer {
    const session = this.#session(given);
    let handles = this.#objects.map((_, place) => place + 1);
    for (let left = given.number32(); left > 0 && handles.length > 0; left--) {
      const type = given.number32();
      const isThere = given.octet() !== 0;
      if (isThere) given.number32();
      const known = this.#objects.find(({ attributes }) => attributes.has(type))?.attributes.get(type);
      if (!isThere || known === undefined) handles = [];
      else {
        const wanted = known.isFixed ? given.take(known.octets.length) : given.octets();
        handles = handles.filter((handle) => this.#objects[handle - 1]?.attributes.get(type)?.octets.equals(wanted) === true);
      }
    }
    session.found = handles;
    return [''];
  }

  found(given: ArgumentReader): Answer {
    return ['au', ulongs(this.#session(given).found.splice(0, given.number32()))];
  }

  beginSigning(given: ArgumentReader): Answer {
    const session = this.#session(given);
    const mechanism = given.number32();
    // Only the key follows it, so its length distinguishes the two forms; the negotiated version does not.
    const parameters = given.rest(handleOctets);
    if (mechanism !== ck.CKM_ECDSA) throw new Refused(CKR_MECHANISM_INVALID);
    if (!withoutParameters.some((form) => form.equals(parameters))) throw new Refused(CKR_MECHANISM_PARAM_INVALID);
    const { isPrivate, reference } = this.#object(given);
    if (!isPrivate) throw new Refused(CKR_OBJECT_HANDLE_INVALID);
    session.signing = reference;
    return [''];
  }

  async sign(given: ArgumentReader): Promise<Answer> {
    const session = this.#session(given);
    const digest = given.flaggedOctets();
    if (session.signing === undefined) throw new Refused(CKR_OPERATION_NOT_INITIALIZED);
    if (given.number32() === 0) return ['ay', lengthOnly(signatureOctets)];
    const { signing } = session;
    session.signing = undefined;
    return ['ay', flaggedOctets(await this.#sign(signing, digest))];
  }

  #session(given: ArgumentReader): Session {
    return this.#sessions.get(given.ulong()) ?? refuse(CKR_SESSION_HANDLE_INVALID);
  }

  #object(given: ArgumentReader): ShownObject {
    return this.#objects[given.ulong() - 1] ?? refuse(CKR_OBJECT_HANDLE_INVALID);
  }
}

function refuse(rv: number): never {
  throw new Refused(rv);
}

/** Answers with a list, which is first requested for its length. */
function list(asked: number, values: readonly number[]): Answer {
  return ['au', asked === 0 ? lengthOnly(values.length) : ulongs(values)];
}

/** Handlers by p11-kit's number of the call (rpc-message.h). */
const calls: Readonly<Record<number, (token: RemoteToken, given: ArgumentReader) => Answer | Promise<Answer>>> = {
  1: () => [''],
  2: () => [''],
  3: () => ['vsusv', version(2, 40), text('keystored', 32), ulong(0), text('keys of the listeners', 32), version(1, 0)],
  4: (_, given) => (given.octet(), list(given.number32(), [slot])),
  5: () => ['ssuvv', text('keys of the listeners', 64), text('keystored', 32), ulong(ck.CKF_TOKEN_PRESENT), version(1, 0), version(1, 0)],
  6: () => [
    'ssssuuuuuuuuuuuvvs',
    ...[text('keystored', 32), text('keystored', 32), text('listeners', 16), text('1', 16)],
    ulong(ck.CKF_TOKEN_INITIALIZED),
    ...Array.from({ length: counts }, () => ulong(0)),
    ...[version(1, 0), version(1, 0), text('', 16)],
  ],
  7: (_, given) => (given.ulong(), list(given.number32(), [ck.CKM_ECDSA])),
  8: () => ['uuu', ulong(256), ulong(256), ulong(mechanismFlags)],
  10: (token) => token.openSession(),
  11: (token, given) => token.closeSession(given),
  12: (token) => token.closeAllSessions(),
  13: () => ['uuuu', ulong(slot), ulong(sessionState), ulong(ck.CKF_SERIAL_SESSION), ulong(0)],
  24: (token, given) => token.attributes(given),
  26: (token, given) => token.find(given),
  27: (token, given) => token.found(given),
  28: () => [''],
  42: (token, given) => token.beginSigning(given),
  43: (token, given) => token.sign(given),
};
