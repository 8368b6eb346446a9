// Syslog over TLS (RFC 5425). Syslog has no acknowledgement: a receiver that closes after our close, without an error, has read everything.
import { setTimeout } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { addressOf } from '../../../core/config/shipping.ts';
import { secureGuarded } from '../../../core/outbound/guarded-connection.ts';
import type { ShippedRecord } from '../formats/records.ts';
import { type Connection, quoted, ReceiverError, type ReceiverParts, type Sent } from './receiver.ts';
import { frame, syslogMessage } from '../formats/syslog.ts';
import { TcpLine } from './tcp-line.ts';
import { tlsOptions } from './tls.ts';

/** Frames are joined up to this size before they are written. */
const writeBytes = 64 << 10;

/**
 * A line can be confirmed only by closing it: the octets of a write are in the kernel, then in the peer's kernel, and a program that is
 * stopped or killed there loses them. TCP hands over the end of the stream after everything before it, so a peer that answers it in kind
 * has read all, and one that is killed answers without the close_notify of TLS (RFC 8446 section 6.1), as does an attacker on the way. Node
 * does not tell; but the octets of it are counted. One that is being ended sends its close_notify unasked, perhaps just after ours: then
 * TCP tells what it has not read. A receiver that refuses our certificate resets instead, under TLS 1.3 only after the handshake looks
 * complete.
 */
export class SyslogConnection implements Connection {
  readonly confirmsEach = false;
  readonly #parts: ReceiverParts;
  #socket: TLSSocket | undefined;
  /** below TLS */
  #line: TcpLine | undefined;
  #openedMs = 0;
  /** reason for which the open line can no longer be used */
  #broken: ReceiverError | undefined;
  #hasSent = false;
  #answer = 'no connection yet';

  constructor(parts: ReceiverParts) {
    this.#parts = parts;
  }

  get answer(): string {
    return this.#answer;
  }

  async send(records: readonly ShippedRecord[]): Promise<Sent> {
    const { destination, host } = this.#parts;
    const socket = await this.#open();
    let pending: Buffer[] = [];
    let bytes = 0;
    for (const [index, record] of records.entries()) {
      const framed = frame(syslogMessage(record, { ...destination, host }));
      pending.push(framed);
      bytes += framed.length;
      if (bytes < writeBytes && index < records.length - 1) continue;
      await this.#write(socket, Buffer.concat(pending));
      pending = [];
      bytes = 0;
    }
    return { refused: [] };
  }

  async confirm(): Promise<void> {
    const socket = this.#socket;
    if (this.#broken !== undefined) throw this.#take(this.#broken);
    const line = this.#line;
    if (socket === undefined || line === undefined) return;
    await setTimeout(Math.max(0, this.#openedMs + this.#parts.quietMs - performance.now()));
    try {
      await this.#end(socket, line);
    } finally {
      this.#forget();
    }
    this.#answer = `${this.#answer.replace(/; everything.*$/, '')}; everything was read`;
  }

  close(): void {
    this.#forget();
  }

  async #end(socket: TLSSocket, line: TcpLine): Promise<void> {
    const { patienceMs } = this.#parts;
    const bytesBefore = line.bytesRead;
    const tlsEnd = new Promise<void>((resolve, reject) => {
      let isAnswered = false;
      socket.once('end', () => (isAnswered = line.bytesRead > bytesBefore));
      socket.once('close', () => {
        if (this.#broken === undefined && isAnswered) resolve();
        else reject(this.#broken ?? new ReceiverError('the receiver was cut off before it had confirmed'));
      });
      if (socket.destroyed) reject(this.#broken ?? new ReceiverError('the connection was lost'));
      socket.setTimeout(patienceMs);
    });
    const tcpEnd = new Promise<void>((resolve) => void socket.end(resolve)).then(() => line.ended(patienceMs));
    await Promise.all([tlsEnd, tcpEnd]).catch((error: unknown) => {
      throw error instanceof ReceiverError ? error : this.#explained(error, true);
    });
  }

  async #write(socket: TLSSocket, octets: Buffer): Promise<void> {
    if (this.#broken !== undefined) throw this.#take(this.#broken);
    this.#hasSent = true;
    if (socket.write(octets)) return;
    socket.setTimeout(this.#parts.patienceMs);
    const failure = await new Promise<ReceiverError | undefined>((resolve) => {
      const settle = (): void => {
        socket.off('drain', settle);
        socket.off('close', settle);
        resolve(this.#broken);
      };
      socket.once('drain', settle);
      socket.once('close', settle);
    });
    socket.setTimeout(0);
    if (failure !== undefined) throw this.#take(failure);
  }

  /** A receiver may close a line that is idle. With nothing unconfirmed on it, another one is opened. */
  async #open(): Promise<TLSSocket> {
    if (this.#broken !== undefined) {
      const failure = this.#take(this.#broken);
      if (this.#hasSent) throw failure;
    }
    return (this.#socket ??= await this.#connect());
  }

  async #connect(): Promise<TLSSocket> {
    const { destination, patienceMs } = this.#parts;
    const { host, port } = addressOf(destination);
    this.#hasSent = false;
    this.#broken = undefined;
    const options = tlsOptions(destination);
    const line = new TcpLine({ host, port });
    this.#line = line;
    await line.connected(patienceMs).catch((error: unknown) => {
      line.close();
      throw this.#explained(error, false);
    });
    const socket = secureGuarded(line, options, host);
    // The option `timeout` counts only for a socket that TLS opens itself; without one, a stopped receiver would be waited for without end.
    socket.setTimeout(patienceMs);
    // Nothing is expected; unread octets would keep the end of the stream from being seen.
    socket.resume();
    let isOpen = false;
    return new Promise((resolve, reject) => {
      const fail = (failure: ReceiverError): void => {
        this.#broken ??= failure;
        if (!isOpen) reject(this.#broken);
      };
      socket.once('secureConnect', () => {
        isOpen = true;
        this.#openedMs = performance.now();
        this.#answer = `${socket.getProtocol() ?? 'TLS'} with ${quoted(socket.getPeerX509Certificate()?.subject ?? 'no certificate')}`;
        socket.setTimeout(0);
        resolve(socket);
      });
      socket.on('timeout', () => {
        fail(this.#silent(isOpen ? 'takes nothing' : 'does not answer'));
        socket.destroy();
      });
      socket.on('error', (error) => fail(this.#explained(error, isOpen)));
      socket.on('end', () => {
        if (!socket.writableEnded) fail(new ReceiverError('the receiver closed the connection'));
      });
      socket.on('close', () => {
        if (!socket.writableEnded) fail(new ReceiverError('the connection was lost'));
      });
    });
  }

  #silent(what: string): ReceiverError {
    return new ReceiverError(`the receiver ${what} for ${this.#parts.patienceMs / 1_000} seconds`);
  }

  #explained(error: unknown, isOpen: boolean): ReceiverError {
    if ((error as Error).name === 'AbortError') return this.#silent(isOpen ? 'does not close the connection' : 'does not answer');
    const { certificateFile } = this.#parts.destination;
    return new ReceiverError(describeTlsError(error as NodeJS.ErrnoException, isOpen, certificateFile), { cause: error });
  }

  #take(failure: ReceiverError): ReceiverError {
    this.#forget();
    return failure;
  }

  #forget(): void {
    this.#socket?.destroy();
    this.#line?.close();
    this.#line = undefined;
    this.#socket = undefined;
    this.#broken = undefined;
  }
}

/** Describes an error, and its remedy. */
export function describeTlsError(error: NodeJS.ErrnoException, isOpen: boolean, certificateFile: string | undefined): string {
  const code = error.code ?? '';
  const remedy = remedies.find(([pattern]) => pattern.test(`${code} ${error.message}`))?.[1];
  if (remedy !== undefined) return `${remedy} (${quoted(code === '' ? error.message : code)})`;
  if (code === 'ECONNRESET' && isOpen) {
    const hint =
      certificateFile === undefined
        ? 'it may demand a client certificate: give certificate-file and key-file'
        : 'see its own log, for example for the client certificate';
    return `the receiver reset the connection; ${hint}`;
  }
  return quoted(code === '' ? error.message : `${code}: ${error.message}`);
}

const remedies: readonly (readonly [RegExp, string])[] = [
  [
    /ERR_TLS_CERT_REFUSED/,
    'the certificates of the receiver were refused before they were read: give it at most seven above its own, with keys of RSA up to 8,192 bits or on named curves',
  ],
  [/CERTIFICATE_REQUIRED/, 'the receiver demands a client certificate: give certificate-file and key-file'],
  [
    /ALERT_(?:UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN|CERTIFICATE_EXPIRED|CERTIFICATE_REVOKED|DECRYPT_ERROR)|HANDSHAKE_FAILURE/,
    'the receiver refuses the client certificate: correct certificate-file and key-file, or its list of CAs',
  ],
  [/ERR_TLS_CERT_ALTNAME_INVALID/, 'the certificate of the receiver has another name: correct server-name'],
  [
    /SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET)|UNABLE_TO_VERIFY_LEAF|DEPTH_ZERO|CERT_UNTRUSTED/,
    'the certificate of the receiver is not of a CA in ca-file: correct ca-file',
  ],
  [/CERT_HAS_EXPIRED/, 'the certificate of the receiver has expired'],
  [/CERT_NOT_YET_VALID/, 'the certificate of the receiver is not valid yet: check both clocks'],
  [/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/, 'the receiver does not speak TLS on this port'],
  [/ECONNREFUSED/, 'nothing listens there: start the receiver, or correct the address'],
  [/ENOTFOUND|EAI_AGAIN/, 'the name of the receiver cannot be resolved'],
  [/ENETUNREACH|EHOSTUNREACH/, 'there is no route to the receiver'],
  [/HPE_/, 'the receiver does not speak HTTP as it should: correct url'],
  [/ETIMEDOUT/, 'the receiver does not answer'],
  [/EPIPE/, 'the receiver closed the connection before it had read everything'],
];
