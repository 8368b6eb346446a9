// Guard between a socket and TLS, for listeners with client certificates: holds back the Certificate message until it is judged. It is
// encrypted in TLS 1.3, so it is read with the secret of the handshake, which OpenSSL reports.
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Log } from '../../base/context.ts';
import { noteAccepted, peerAddressOf } from './client-address.ts';
import { findCertificateProblem, mostOctets } from './client-certificates.ts';

const record = { header: 5, changeCipherSpec: 20, alert: 21, handshake: 22, encrypted: 23 } as const;
/** of the content of a record, with what encryption may add in TLS 1.2 */
const mostInRecord = 16_384 + 2_048;
const message = { header: 4, clientHello: 1, certificate: 11, finished: 20 } as const;
/** of a handshake: 64 KiB in the smallest pieces that a client may want (RFC 6066 section 4), and some more; each of them costs */
const mostRecords = 160;
/**
 * Octets held for each connection without reservation: a message of 16 KiB, as received and as read. Above, all connections of a process
 * share a room.
 */
const unsharedOctets = 32 * 1024;
/** Shared room, needed by chains of ML-DSA, not by those of RSA and EC. */
const room = { octets: 8 << 20, held: 0 };
/** of an AEAD, in every suite of TLS 1.3 that is offered */
const tagOctets = 16;
/** The fatal alert `bad_certificate` (RFC 8446 section 6). */
const badCertificate = Buffer.from([2, 42]);
/** Interval of log lines: repeating peers would fill the log. */
const sayEveryMs = 60_000;

/** Intercepts the connections of a server before its TLS. Those that send expensive certificates are closed, with the alert `bad_certificate`. */
export function guardCertificates(server: Server, log: Log | undefined): void {
  const listeners = server.listeners('connection');
  let silentUntilMs = 0;
  const say = (address: string, reason: string): void => {
    const nowMs = performance.now();
    if (nowMs < silentUntilMs) return;
    silentUntilMs = nowMs + sayEveryMs;
    log?.warn('a client certificate was refused before it was read', { address, reason });
  };
  server.removeAllListeners('connection').on('connection', (accepted: Socket) => {
    const guarded = new GuardedSocket(accepted, (reason) => say(peerAddressOf(accepted), reason));
    for (const listener of listeners) listener.call(server, guarded as Duplex as Socket);
  });
  server.on('keylog', (line: Buffer, secured: GuardedTls) => {
    const guarded = secured._handle?._parentWrap.stream;
    if (!(guarded instanceof GuardedSocket)) return;
    noteAccepted(secured, guarded.accepted);
    const [label = '', , secret = ''] = line.toString('latin1').trim().split(' ');
    guarded.learn(label, Buffer.from(secret, 'hex'));
  });
}

/** Internal names under which Node keeps the stream below TLS if it is not a socket of the system. */
type GuardedTls = Socket & { readonly _handle?: { readonly _parentWrap: { readonly stream?: Duplex } } };

class GuardedSocket extends Duplex {
  readonly accepted: Socket;
  readonly #refused: (reason: string) => void;
  /** octets of records that are not passed on yet; undefined once the judgement is over */
  #held: Buffer | undefined = Buffer.alloc(0);
  /** number of examined octets */
  #looked = 0;
  /** octets of the incomplete message */
  #message: Buffer = Buffer.alloc(0);
  #client: RecordKeys | undefined;
  #server: RecordKeys | undefined;
  #isOver = false;
  #records = 0;
  /** octets reserved in the room */
  #shared = 0;

  constructor(accepted: Socket, refused: (reason: string) => void) {
    super({ allowHalfOpen: true });
    this.accepted = accepted;
    this.#refused = refused;
    accepted
      .setNoDelay()
      .on('data', (octets: Buffer) => this.#receive(octets))
      .on('end', () => this.push(null))
      .on('error', (error) => this.destroy(error))
      .on('close', () => this.destroy());
  }

  /** Takes a secret of this connection, by its name in key logs. */
  learn(label: string, secret: Buffer): void {
    if (label === 'CLIENT_HANDSHAKE_TRAFFIC_SECRET') this.#client = new RecordKeys(secret);
    if (label === 'SERVER_TRAFFIC_SECRET_0') this.#server = new RecordKeys(secret);
    // TLS 1.2, where it is reported after the client's certificate, or for a resumed session, which has none.
    if (label === 'CLIENT_RANDOM') this.#isOver = true;
  }

  override _read(): void {
    this.accepted.resume();
  }

  override _write(octets: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.accepted.write(octets, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.accepted.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#share(0);
    this.#held = undefined;
    this.#message = Buffer.alloc(0);
    this.accepted.destroy();
    done(error);
  }

  #receive(octets: Buffer): void {
    if (this.destroyed) return;
    if (this.#held === undefined) return this.#passOn(octets);
    this.#held = this.#held.length === 0 ? octets : Buffer.concat([this.#held, octets]);
    const reason = this.#look(this.#held);
    if (reason === unreadable) return void this.destroy();
    if (reason !== undefined) return this.#refuse(reason);
    // An incomplete message waits; OpenSSL needs nothing of it before its end.
    const passes = this.#message.length === 0 ? this.#looked : 0;
    const rest = this.#held;
    if (this.#isOver) {
      this.#held = undefined;
      this.#share(0);
      return this.#passOn(rest);
    }
    if (rest.length > mostOctets) return this.#refuse('it has more than 64 KiB');
    if (!this.#share(rest.length - passes + this.#message.length)) return void this.destroy();
    this.#held = rest.subarray(passes);
    this.#looked -= passes;
    if (passes > 0) this.#passOn(rest.subarray(0, passes));
  }

  /** Reserves room for a number of octets; false if none is left. */
  #share(octets: number): boolean {
    const shared = Math.max(0, octets - unsharedOctets);
    if (shared > this.#shared && room.held - this.#shared + shared > room.octets) return false;
    room.held += shared - this.#shared;
    this.#shared = shared;
    return true;
  }

  #passOn(octets: Buffer): void {
    if (!this.push(octets)) this.accepted.pause();
  }

  /** Examines complete records; returns the reason for which their certificates are refused. */
  #look(held: Buffer): string | undefined {
    while (!this.#isOver && this.#looked + record.header <= held.length) {
      const begin = this.#looked + record.header;
      if (!isHeader(held, this.#looked, this.#records === 0)) return unreadable;
      const end = begin + held.readUInt16BE(begin - 2);
      if (end > held.length) return undefined;
      if (++this.#records > mostRecords) return 'it comes in too many pieces';
      const type = held[this.#looked];
      this.#looked = end;
      const reason = this.#lookAt(type, held.subarray(begin, end), held.subarray(begin - record.header, begin));
      if (reason !== undefined) return reason;
    }
    return undefined;
  }

  #lookAt(type: number | undefined, fragment: Buffer, header: Buffer): string | undefined {
    // Handshake records in clear end where the secret begins.
    if (type === record.handshake) return this.#client === undefined ? this.#lookIn(fragment) : unreadable;
    // Nothing else ends the judgement: OpenSSL passes over a ChangeCipherSpec in TLS 1.3, wherever it comes.
    if (type !== record.encrypted || this.#client === undefined) return undefined;
    const opened = this.#client.open(fragment, header);
    return opened === undefined ? unreadable : this.#lookIn(opened);
  }

  #lookIn(fragment: Buffer): string | undefined {
    this.#message = Buffer.concat([this.#message, fragment]);
    while (this.#message.length >= message.header) {
      const [type = 0] = this.#message;
      const end = message.header + this.#message.readUIntBE(1, 3);
      if (end > mostOctets) return 'it has more than 64 KiB';
      if (this.#message.length < end) return undefined;
      const body = this.#message.subarray(message.header, end);
      this.#message = this.#message.subarray(end);
      if (type === message.clientHello) continue;
      this.#isOver = true;
      if (type === message.certificate) return findCertificateProblem(body, this.#client === undefined ? '1.2' : '1.3');
      // A resumed session. The only alternative is a compressed certificate (RFC 8879), which is not requested.
      return type === message.finished && this.#client !== undefined ? undefined : unreadable;
    }
    return undefined;
  }

  #refuse(reason: string): void {
    this.#refused(reason);
    this.#held = Buffer.alloc(0);
    this.#message = Buffer.alloc(0);
    this.#share(0);
    this.#isOver = true;
    const inClear = Buffer.concat([Buffer.from([record.alert, 3, 3, 0, badCertificate.length]), badCertificate]);
    this.accepted.removeAllListeners('data').resume();
    this.accepted.end(this.#server?.close(badCertificate, this.#client?.cipher) ?? inClear, () => this.destroy());
  }
}

/** Reason of a silent close: no client of TLS 1.2 or newer sends such octets, and OpenSSL could read them differently. */
const unreadable = 'it is not a record of TLS';

/**
 * Tells whether OpenSSL reads a record in the same way. As the first one it would accept the ClientHello of SSL 2.0, whose header has another length:
 * from there on, the guard and OpenSSL would read different records.
 */
function isHeader(held: Buffer, at: number, isFirst: boolean): boolean {
  const type = held[at] ?? 0;
  const isKnown = isFirst ? type === record.handshake : type >= record.changeCipherSpec && type <= record.encrypted;
  return isKnown && held[at + 1] === 3 && held.readUInt16BE(at + 3) <= mostInRecord;
}

type Cipher = 'aes-128-gcm' | 'aes-256-gcm' | 'chacha20-poly1305';

/** The keys of one direction of TLS 1.3 (RFC 8446 5.2, 5.3, 7.3). */
class RecordKeys {
  readonly #secret: Buffer;
  readonly #iv: Buffer;
  #sequence = 0n;
  /** known once a record was opened: the length of a secret fits two ciphers */
  cipher: Cipher | undefined;

  constructor(secret: Buffer) {
    this.#secret = secret;
    this.#iv = this.#derive('iv', 12);
  }

  /** Opens a record: returns its handshake messages or parts of them; undefined unless the holder of the secret made it. */
  open(fragment: Buffer, header: Buffer): Buffer | undefined {
    const ciphers: readonly Cipher[] = this.#secret.length === 48 ? ['aes-256-gcm'] : ['aes-128-gcm', 'chacha20-poly1305'];
    for (const cipher of this.cipher === undefined ? ciphers : [this.cipher]) {
      const opened = this.#tryToOpen(fragment, header, cipher);
      if (opened === undefined) continue;
      this.#sequence++;
      this.cipher = cipher;
      // The type follows the content, then zeros, if any.
      const end = opened.findLastIndex((octet) => octet !== 0);
      return opened[end] === record.handshake ? opened.subarray(0, end) : Buffer.alloc(0);
    }
    return undefined;
  }

  /** Makes a record with an alert, the first of this direction. */
  close(content: Buffer, cipher: Cipher = 'aes-256-gcm'): Buffer {
    const header = Buffer.from([record.encrypted, 3, 3, 0, content.length + 1 + tagOctets]);
    const sealing = createCipheriv(cipher as 'aes-128-gcm', this.#keyFor(cipher), this.#nonce(), { authTagLength: tagOctets });
    sealing.setAAD(header);
    return Buffer.concat([
      header,
      sealing.update(Buffer.concat([content, Buffer.from([record.alert])])),
      sealing.final(),
      sealing.getAuthTag(),
    ]);
  }

  #tryToOpen(fragment: Buffer, header: Buffer, cipher: Cipher): Buffer | undefined {
    if (fragment.length <= tagOctets) return undefined;
    const opening = createDecipheriv(cipher as 'aes-128-gcm', this.#keyFor(cipher), this.#nonce(), { authTagLength: tagOctets });
    opening.setAAD(header).setAuthTag(fragment.subarray(-tagOctets));
    try {
      return Buffer.concat([opening.update(fragment.subarray(0, -tagOctets)), opening.final()]);
    } catch {
      return undefined;
    }
  }

  #keyFor(cipher: Cipher): Buffer {
    return this.#derive('key', cipher === 'aes-128-gcm' ? 16 : 32);
  }

  #nonce(): Buffer {
    const nonce = Buffer.from(this.#iv);
    nonce.writeBigUInt64BE(nonce.readBigUInt64BE(4) ^ this.#sequence, 4);
    return nonce;
  }

  /** HKDF-Expand-Label without context, for at most one block. */
  #derive(label: string, octets: number): Buffer {
    const name = Buffer.from(`tls13 ${label}`, 'latin1');
    const info = Buffer.concat([Buffer.from([0, octets, name.length]), name, Buffer.from([0, 1])]);
    const hash = this.#secret.length === 48 ? 'sha384' : 'sha256';
    return createHmac(hash, this.#secret).update(info).digest().subarray(0, octets);
  }
}
