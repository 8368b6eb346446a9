// A token that a program sees through p11-kit's client: sessions, search, attributes and signatures of one connection. It needs no PIN, and every
// call that would change or open something is refused.
import { randomBytes } from 'node:crypto';
import * as ck from '../pkcs11/constants.ts';
import { type Attributes, attributeValues, fits, readTemplate, readTypes } from './attributes.ts';
import {
  answerFrame,
  type ArgumentReader,
  errorFrame,
  flaggedOctets,
  lengthOnly,
  type RemoteCall,
  text,
  ulong,
  ulongs,
  version,
} from './frames.ts';
import { type Mechanism, readMechanism } from './mechanisms.ts';
import { refuse, Refused, rv } from './refused.ts';

/** An object of the token: its attributes, and what the provider knows it by. */
export type ShownObject<Key> = { readonly key: Key; readonly isPrivate: boolean; readonly attributes: Attributes };

/** A signature that was begun. */
export type Signing = {
  /** of the signature, whatever is signed */
  readonly signatureOctets: number;
  /** Takes a part of the data. Absent for mechanisms that take a finished hash, in one call. */
  readonly update?: (part: Buffer) => void;
  /** Signs `data`, or what `update` has taken; throws or rejects with Refused. */
  readonly sign: (data: Buffer | undefined) => Promise<Uint8Array>;
};

export type MechanismInfo = { readonly leastBits: number; readonly mostBits: number; readonly flags: number };

/** Provider of objects and signatures. */
export type TokenProvider<Key> = {
  readonly texts: { readonly label: string; readonly model: string; readonly library: string; readonly slot: string };
  readonly mechanisms: ReadonlyMap<number, MechanismInfo>;
  /** The objects, asked for at each search; the handle of an object is its place, so places stay. Rejects with Refused. */
  objects(): readonly ShownObject<Key>[] | Promise<readonly ShownObject<Key>[]>;
  /** Begins a signature with a private key. Throws Refused. */
  begin(key: Key, mechanism: Mechanism): Signing;
  /** Receives what is neither a refusal nor a call that cannot be read; the call is answered with CKR_DEVICE_ERROR. */
  fault?(error: unknown): void;
};

type Session = { found: number[] | undefined; signing: Active | undefined };
/** `isUsed`: a part was taken. `isSent`: the signature is being made. */
type Active = Signing & { isUsed: boolean; isSent: boolean };
type Answer = readonly [signature: string, ...values: Buffer[]];

const slot = 1;
const handleOctets = 8;
const manufacturer = 'keystored';
/** as of a user who is logged in, without which strongSwan asks for a PIN */
const sessionState = ck.CKS_RO_USER_FUNCTIONS;
/** CKF_RNG and CKF_TOKEN_INITIALIZED, without CKF_LOGIN_REQUIRED. */
const tokenFlags = 0x1 | ck.CKF_TOKEN_INITIALIZED;
const counts = 10;
/** Sessions of one connection: programs open one for each signature that they make at the same time. */
const mostSessions = 4_096;
/** Handles that the searches of one connection have found and not fetched: a program has one search for each of its threads. */
const mostFound = 65_536;
const mostRandomOctets = 65_536;

/** Sessions that may still be opened, by all connections that share this. */
type SessionRoom = { left: number };

/** One connection of a client. */
export class RemoteToken<Key> {
  readonly #provider: TokenProvider<Key>;
  readonly #room: SessionRoom;
  #objects: readonly ShownObject<Key>[] = [];
  readonly #sessions = new Map<number, Session>();
  #lastSession = 0;

  constructor(provider: TokenProvider<Key>, room: SessionRoom = { left: mostSessions }) {
    this.#provider = provider;
    this.#room = room;
  }

  /** Ends every session. */
  close(): void {
    this.#room.left += this.#sessions.size;
    this.#sessions.clear();
  }

  /** The frame of the answer. Never rejects. */
  async answer({ exchange, call, arguments: given }: RemoteCall): Promise<Buffer> {
    try {
      const handler = calls.get(call) ?? refuse(rv.functionNotSupported);
      const [signature, ...values] = await handler(this, given);
      return answerFrame(exchange, call, signature, values);
    } catch (error) {
      if (error instanceof Refused) return errorFrame(exchange, error.rv);
      if (!(error instanceof RangeError)) this.#provider.fault?.(error);
      return errorFrame(exchange, rv.deviceError);
    }
  }

  info(): Answer {
    return ['vsusv', version(2, 40), text(manufacturer, 32), ulong(0), text(this.#provider.texts.library, 32), version(1, 0)];
  }

  slotInfo(given: ArgumentReader): Answer {
    requireSlot(given);
    const { texts } = this.#provider;
    return ['ssuvv', text(texts.slot, 64), text(manufacturer, 32), ulong(ck.CKF_TOKEN_PRESENT), version(1, 0), version(1, 0)];
  }

  tokenInfo(given: ArgumentReader): Answer {
    requireSlot(given);
    const { label, model } = this.#provider.texts;
    return [
      'ssssuuuuuuuuuuuvvs',
      ...[text(label, 32), text(manufacturer, 32), text(model, 16), text('1', 16)],
      ulong(tokenFlags),
      ...Array.from({ length: counts }, () => ulong(0)),
      ...[version(1, 0), version(1, 0), text('', 16)],
    ];
  }

  mechanismList(given: ArgumentReader): Answer {
    requireSlot(given);
    return list(given.number32(), [...this.#provider.mechanisms.keys()]);
  }

  mechanismInfo(given: ArgumentReader): Answer {
    requireSlot(given);
    const { leastBits, mostBits, flags } = this.#provider.mechanisms.get(given.ulong()) ?? refuse(rv.mechanismInvalid);
    return ['uuu', ulong(leastBits), ulong(mostBits), ulong(flags)];
  }

  openSession(given: ArgumentReader): Answer {
    requireSlot(given);
    if (this.#sessions.size >= mostSessions || this.#room.left <= 0) refuse(rv.sessionCount);
    this.#room.left--;
    this.#sessions.set(++this.#lastSession, { found: undefined, signing: undefined });
    return ['u', ulong(this.#lastSession)];
  }

  closeSession(given: ArgumentReader): Answer {
    if (!this.#sessions.delete(given.ulong())) refuse(rv.sessionHandleInvalid);
    this.#room.left++;
    return [''];
  }

  closeAllSessions(given: ArgumentReader): Answer {
    requireSlot(given);
    this.close();
    return [''];
  }

  sessionInfo(given: ArgumentReader): Answer {
    this.#session(given);
    return ['uuuu', ulong(slot), ulong(sessionState), ulong(ck.CKF_SERIAL_SESSION), ulong(0)];
  }

  /** A login is not needed, so any is well: some programs send a PIN whatever the token says. */
  login(given: ArgumentReader): Answer {
    this.#session(given);
    return [''];
  }

  /** Answers every requested attribute, and whether all of them exist. */
  attributes(given: ArgumentReader): Answer {
    this.#session(given);
    const { attributes, isPrivate } = this.#object(given, rv.objectHandleInvalid);
    return ['aAu', attributeValues(readTypes(given), attributes, isPrivate)];
  }

  async find(given: ArgumentReader): Promise<Answer> {
    const session = this.#session(given);
    const template = readTemplate(given);
    if (session.found !== undefined) refuse(rv.operationActive);
    session.found = [];
    try {
      this.#objects = await this.#provider.objects();
    } catch (error) {
      session.found = undefined;
      throw error;
    }
    const found = this.#objects.flatMap(({ attributes }, place) => (fits(attributes, template) ? [place + 1] : []));
    const before = this.#sessions.values().reduce((sum, one) => sum + (one.found?.length ?? 0), 0);
    session.found = before + found.length > mostFound ? undefined : found;
    return session.found === undefined ? refuse(rv.deviceMemory) : [''];
  }

  found(given: ArgumentReader): Answer {
    const { found = refuse(rv.operationNotInitialized) } = this.#session(given);
    return ['au', ulongs(found.splice(0, given.number32()))];
  }

  endFind(given: ArgumentReader): Answer {
    const session = this.#session(given);
    if (session.found === undefined) refuse(rv.operationNotInitialized);
    session.found = undefined;
    return [''];
  }

  beginSigning(given: ArgumentReader): Answer {
    const session = this.#session(given);
    const mechanism = readMechanism(given, handleOctets);
    if (mechanism === undefined) {
      session.signing = undefined;
      return [''];
    }
    if (session.signing !== undefined) refuse(rv.operationActive);
    if (!this.#provider.mechanisms.has(mechanism.type)) refuse(rv.mechanismInvalid);
    const { key, isPrivate } = this.#object(given, rv.keyHandleInvalid);
    if (!isPrivate) refuse(rv.keyFunctionNotPermitted);
    session.signing = { ...this.#provider.begin(key, mechanism), isUsed: false, isSent: false };
    return [''];
  }

  async sign(given: ArgumentReader): Promise<Answer> {
    const session = this.#session(given);
    const data = given.flaggedOctets();
    const room = given.number32();
    const signing = activeIn(session);
    // Parts are ended by C_SignFinal.
    if (signing.isUsed) refuse(rv.operationActive);
    return this.#end(session, signing, room, data);
  }

  update(given: ArgumentReader): Answer {
    const session = this.#session(given);
    const part = given.flaggedOctets();
    const signing = activeIn(session);
    if (signing.update === undefined) {
      session.signing = undefined;
      return refuse(rv.functionNotSupported);
    }
    signing.isUsed = true;
    signing.update(part);
    return [''];
  }

  async endParts(given: ArgumentReader): Promise<Answer> {
    const session = this.#session(given);
    const room = given.number32();
    const signing = activeIn(session);
    if (signing.update === undefined) refuse(rv.functionNotSupported);
    return this.#end(session, signing, room, undefined);
  }

  /** A caller who has no room for the signature learns its length, and the operation goes on. Whatever else happens ends it. */
  async #end(session: Session, signing: Active, room: number, data: Buffer | undefined): Promise<Answer> {
    if (room < signing.signatureOctets) return ['ay', lengthOnly(signing.signatureOctets)];
    signing.isSent = true;
    try {
      return ['ay', flaggedOctets(await signing.sign(data))];
    } finally {
      if (session.signing === signing) session.signing = undefined;
    }
  }

  random(given: ArgumentReader): Answer {
    this.#session(given);
    const length = given.number32();
    if (length > mostRandomOctets) refuse(rv.dataLength);
    return ['ay', flaggedOctets(randomBytes(length))];
  }

  #session(given: ArgumentReader): Session {
    return this.#sessions.get(given.ulong()) ?? refuse(rv.sessionHandleInvalid);
  }

  #object(given: ArgumentReader, otherwise: number): ShownObject<Key> {
    return this.#objects[given.ulong() - 1] ?? refuse(otherwise);
  }
}

function activeIn({ signing }: Session): Active {
  if (signing === undefined) return refuse(rv.operationNotInitialized);
  return signing.isSent ? refuse(rv.operationActive) : signing;
}

function requireSlot(given: ArgumentReader): void {
  if (given.ulong() !== slot) refuse(rv.slotInvalid);
}

/** Answers with a list, which is first requested for its length. */
function list(asked: number, values: readonly number[]): Answer {
  return ['au', asked < values.length ? lengthOnly(values.length) : ulongs(values)];
}

type Handler = (token: Pick<RemoteToken<unknown>, keyof RemoteToken<unknown>>, given: ArgumentReader) => Answer | Promise<Answer>;

/** Handlers by p11-kit's number of the call (rpc-message.h). */
const calls: ReadonlyMap<number, Handler> = new Map<number, Handler>([
  [1, () => ['']],
  [2, () => ['']],
  [3, (token) => token.info()],
  [4, (_, given) => (given.octet(), list(given.number32(), [slot]))],
  [5, (token, given) => token.slotInfo(given)],
  [6, (token, given) => token.tokenInfo(given)],
  [7, (token, given) => token.mechanismList(given)],
  [8, (token, given) => token.mechanismInfo(given)],
  [10, (token, given) => token.openSession(given)],
  [11, (token, given) => token.closeSession(given)],
  [12, (token, given) => token.closeAllSessions(given)],
  [13, (token, given) => token.sessionInfo(given)],
  [18, (token, given) => token.login(given)],
  [19, (token, given) => token.login(given)],
  [24, (token, given) => token.attributes(given)],
  [26, (token, given) => token.find(given)],
  [27, (token, given) => token.found(given)],
  [28, (token, given) => token.endFind(given)],
  [42, (token, given) => token.beginSigning(given)],
  [43, (token, given) => token.sign(given)],
  [44, (token, given) => token.update(given)],
  [45, (token, given) => token.endParts(given)],
  [63, (token, given) => token.login(given)],
  [64, (token, given) => token.random(given)],
]);
