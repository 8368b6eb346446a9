// Guard between a socket and TLS: holds back the Certificate message of the peer until it is judged. It is encrypted in TLS 1.3, so it is read
// with the secret of the handshake, which OpenSSL reports.
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { findCertificateProblem, mostOctets } from './certificates.ts';
import { message, record } from './messages.ts';
import { RecordKeys } from './record-keys.ts';

/** of the content of a record, with what encryption may add in TLS 1.2 */
const mostInRecord = 16_384 + 2_048;
/** of a handshake: 64 KiB in the smallest pieces that a client may want (RFC 6066 section 4), and some more; each of them costs */
const mostRecords = 160;
/**
 * Octets held for each connection without reservation: a message of 16 KiB, as received and as read. Above, all connections of a process
 * share a room.
 */
const unsharedOctets = 32 * 1024;
/** Shared room, needed by chains of ML-DSA, not by those of RSA and EC. One owner, an address, has no more than a half. */
const room = { octets: 8 << 20, ofOne: 4 << 20, held: 0, byOwner: new Map<string, number>() };
/** The fatal alert `bad_certificate` (RFC 8446 section 6). */
const badCertificate = Buffer.from([2, 42]);

/**
 * The peer of a handshake. `secrets`: names in key logs (RFC 9850) of the secret of its encrypted handshake, and of the own secret for an alert.
 * `before`: messages before its certificates. `mayHaveNone`: a resumed session has none. `mayHoldEncrypted`: its encrypted messages may come before
 * the secret is known. `mayLackTls`: OpenSSL names a peer that does not speak TLS, and reads no more of it.
 */
const peers = {
  client: {
    secrets: { peer: 'CLIENT_HANDSHAKE_TRAFFIC_SECRET', own: 'SERVER_TRAFFIC_SECRET_0' },
    before: new Set<number>([message.clientHello]),
    mayHaveNone: true,
    mayHoldEncrypted: false,
    mayLackTls: false,
  },
  server: {
    secrets: { peer: 'SERVER_HANDSHAKE_TRAFFIC_SECRET', own: undefined },
    before: new Set<number>([message.serverHello, message.encryptedExtensions, message.certificateRequest]),
    mayHaveNone: false,
    mayHoldEncrypted: true,
    mayLackTls: true,
  },
} as const;

/** A socket below TLS, whose peer sends no certificate that OpenSSL would decode for long. */
export class GuardedSocket<Below extends Duplex = Socket> extends Duplex {
  /** the stream below, which this one closes */
  readonly accepted: Below;
  readonly #peer: (typeof peers)['client' | 'server'];
  readonly #owner: string;
  readonly #refused: (reason: string) => void;
  /** octets of records that are not passed on yet; undefined once the judgement is over */
  #held: Buffer | undefined = Buffer.alloc(0);
  /** number of examined octets */
  #looked = 0;
  /** octets of the incomplete message */
  #message: Buffer = Buffer.alloc(0);
  #peerKeys: RecordKeys | undefined;
  #ownKeys: RecordKeys | undefined;
  #isOver = false;
  #records = 0;
  /** octets reserved in the room */
  #shared = 0;

  /** `owner`: whose share of the room it takes. `refused` is called with the problem of a certificate, before the connection is closed. */
  constructor(accepted: Below, peer: 'client' | 'server', owner: string, refused: (reason: string) => void) {
    super({ allowHalfOpen: true });
    this.accepted = accepted;
    this.#peer = peers[peer];
    this.#owner = owner;
    this.#refused = refused;
    if (accepted instanceof Socket) accepted.setNoDelay();
    accepted
      .on('data', (octets: Buffer) => this.#receive(octets))
      .on('end', () => this.push(null))
      .on('error', (error) => this.destroy(error))
      .on('close', () => this.destroy());
  }

  /** Takes a line of the key log of this connection. */
  learn(line: Buffer): void {
    const [label, , secret = ''] = line.toString('latin1').trim().split(' ');
    const { peer, own } = this.#peer.secrets;
    if (label === peer) this.#peerKeys = new RecordKeys(Buffer.from(secret, 'hex'));
    if (label === own) this.#ownKeys = new RecordKeys(Buffer.from(secret, 'hex'));
    // TLS 1.2, where it is reported after the certificate of the peer, or for a resumed session, which has none.
    if (label === 'CLIENT_RANDOM') this.#isOver = true;
    if (label === peer && this.#peer.mayHoldEncrypted) this.#receive(Buffer.alloc(0));
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
    if (!this.#share(rest.length - passes + this.#message.length)) return this.#refuse('too many that are not whole wait already');
    this.#held = rest.subarray(passes);
    this.#looked -= passes;
    if (passes > 0) this.#passOn(rest.subarray(0, passes));
  }

  /** Reserves room for a number of octets; false if none is left. */
  #share(octets: number): boolean {
    const shared = Math.max(0, octets - unsharedOctets);
    const more = shared - this.#shared;
    const ofOwner = (room.byOwner.get(this.#owner) ?? 0) + more;
    if (more > 0 && (room.held + more > room.octets || ofOwner > room.ofOne)) return false;
    room.held += more;
    if (ofOwner > 0) room.byOwner.set(this.#owner, ofOwner);
    else room.byOwner.delete(this.#owner);
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
      if (!isHeader(held, this.#looked, this.#records === 0)) return this.#notTls();
      const end = begin + held.readUInt16BE(begin - 2);
      if (end > held.length) return undefined;
      const type = held[this.#looked];
      // It comes with the message that OpenSSL needs for the secret.
      if (type === record.encrypted && this.#peer.mayHoldEncrypted && this.#peerKeys === undefined) return undefined;
      if (++this.#records > mostRecords) return 'it comes in too many pieces';
      this.#looked = end;
      const reason = this.#lookAt(type, held.subarray(begin, end), held.subarray(begin - record.header, begin));
      if (reason !== undefined) return reason;
    }
    return undefined;
  }

  /** Leaves a server without TLS to OpenSSL. */
  #notTls(): string | undefined {
    if (!this.#peer.mayLackTls || this.#records > 0) return unreadable;
    this.#isOver = true;
    return undefined;
  }

  #lookAt(type: number | undefined, fragment: Buffer, header: Buffer): string | undefined {
    // Handshake records in clear end where the secret begins.
    if (type === record.handshake) return this.#peerKeys === undefined ? this.#lookIn(fragment) : unreadable;
    // Nothing else ends the judgement: OpenSSL passes over a ChangeCipherSpec in TLS 1.3, wherever it comes.
    if (type !== record.encrypted || this.#peerKeys === undefined) return undefined;
    const opened = this.#peerKeys.open(fragment, header);
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
      if (this.#peer.before.has(type)) continue;
      this.#isOver = true;
      if (type === message.certificate) return findCertificateProblem(body, this.#peerKeys === undefined ? '1.2' : '1.3');
      // A resumed session. The only alternative is a compressed certificate (RFC 8879), which is not requested.
      return type === message.finished && this.#peerKeys !== undefined && this.#peer.mayHaveNone ? undefined : unreadable;
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
    this.accepted.end(this.#ownKeys?.close(badCertificate, this.#peerKeys?.cipher) ?? inClear, () => this.destroy());
  }
}

/** Reason of a silent close: no peer of TLS 1.2 or newer sends such octets, and OpenSSL could read them differently. */
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
