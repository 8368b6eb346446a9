// Mail over TLS. The connection is made here, so that it goes only where outbound calls may go and its certificates are judged before they are read;
// nodemailer speaks SMTP over it and writes the message.
import { once } from 'node:events';
import { connect as connectSocket, isIP, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { checkServerIdentity, type ConnectionOptions, type TLSSocket } from 'node:tls';
import type { MailConfig } from '../../core/config/notices.ts';
import type { Destinations } from '../../core/outbound/destinations.ts';
import { connectGuarded, secureGuarded } from '../../core/outbound/guarded-connection.ts';
import { defined } from '../../core/base/defined.ts';
import { revealSecret } from '../../core/base/secret.ts';
import { readSecret } from '../../hsm/setup/setup.ts';
import { mailOf, type Message, MessageRefused, type Sent } from './message.ts';
import { trustedIn } from './trust.ts';

const connectMs = 10_000;
/** until TLS */
const secureMs = 30_000;
/** A server has ten minutes for its answer to a message (RFC 5321, 4.5.3.2.6): one that is sent again meanwhile arrives twice. */
const answerMs = 600_000;
/** of a whole message */
const sendMs = 660_000;
/** Lines of an answer to EHLO are short, and few. */
const longestAnswer = 16_384;

/** Sends a message to all receivers. Rejects with what the server says. */
export async function sendMail(config: MailConfig, message: Message, destinations: Destinations, signal: AbortSignal): Promise<Sent> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(sendMs)]);
  const connection = await connectSecured(config, destinations, AbortSignal.any([within, AbortSignal.timeout(secureMs)]));
  const end = (): void => void connection.destroy(new Error('the mail server did not take the message in time'));
  within.addEventListener('abort', end, { once: true });
  try {
    return await deliver(config, message, connection);
  } finally {
    within.removeEventListener('abort', end);
    connection.destroy();
  }
}

async function deliver({ from, to, user, password }: MailConfig, message: Message, connection: TLSSocket): Promise<Sent> {
  // Not at the start: most processes send no mail.
  const { createTransport } = await import('nodemailer');
  const auth = user === undefined || password === undefined ? undefined : { user, pass: revealSecret(readSecret(password, 'password')) };
  const transport = createTransport({
    ...{ connection, secured: true, secure: true, name: hostname() },
    ...{ disableFileAccess: true, disableUrlAccess: true },
    ...{ greetingTimeout: connectMs, socketTimeout: answerMs },
    ...defined({ auth }),
  });
  const sending = transport.sendMail({
    ...mailOf(message),
    ...{ from, to: [...to] },
    messageId: `<${message.id}@${from.slice(from.indexOf('@') + 1)}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
  });
  try {
    const { rejected } = await sending;
    return rejected.length === 0 ? {} : { refusedReceivers: rejected };
  } catch (error) {
    throw refusalOf(error as SmtpError, auth === undefined ? [] : saidOf(auth));
  }
}

type Login = { readonly user: string; readonly pass: string };
type SmtpError = Error & { readonly code?: string; readonly responseCode?: number };

/**
 * Tells a refusal of this message from one of the sender or of all receivers, which concerns every message. Never has the answer to AUTH, nor one
 * that repeats what AUTH has said.
 */
function refusalOf({ code, responseCode, message }: SmtpError, said: readonly string[]): Error {
  const answer = responseCode === undefined ? '' : ` (${responseCode})`;
  if (code === 'EAUTH') return new Error(`the mail server takes neither user nor password${answer}: correct both`);
  const text = said.some((secret) => message.includes(secret)) ? `the mail server does not take the message${answer}` : cleaned(message);
  return code === 'EMESSAGE' && responseCode !== undefined && responseCode >= 500 ? new MessageRefused(text) : new Error(text);
}

/** Forms in which AUTH sends a password (PLAIN of RFC 4616, LOGIN), and the password itself. */
function saidOf({ user, pass }: Login): readonly string[] {
  return [pass, ...[pass, `\0${user}\0${pass}`, `${user}\0${user}\0${pass}`].map((text) => Buffer.from(text).toString('base64'))];
}

/** A connection after the handshake, of which the greeting of the server is the next that is read. */
async function connectSecured({ server, tls, caFile }: MailConfig, destinations: Destinations, signal: AbortSignal): Promise<TLSSocket> {
  const { host, port } = server;
  const { lookup } = destinations.wayTo(new URL(`smtp://${host.includes(':') ? `[${host}]` : host}:${port}`));
  const options: ConnectionOptions = {
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...{ minVersion: 'TLSv1.2', ...trustedIn(caFile) },
    checkServerIdentity: (_host, certificate) => checkServerIdentity(host, certificate),
  };
  if (tls === 'implicit') {
    return shaken(await connectGuarded({ ...options, host, port, lookup, signal }), signal);
  }
  const socket = connectSocket({ host, port, lookup }).on('error', () => undefined);
  try {
    await once(socket, 'connect', { signal });
    await beginTls(socket, signal);
    const secured = await shaken(secureGuarded(socket, options, host), signal);
    // The server has greeted before; nodemailer waits for that. Nothing that came in clear is taken for said within TLS.
    secured.unshift(Buffer.from('220 secured\r\n'));
    return secured;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function shaken(secured: TLSSocket, signal: AbortSignal): Promise<TLSSocket> {
  // A later error, as of a connection that the server cuts while it is closed, concerns nobody.
  secured.on('error', () => undefined);
  try {
    await once(secured, 'secureConnect', { signal });
    return secured;
  } catch (error) {
    secured.destroy();
    throw error;
  }
}

/** Asks for TLS (RFC 3207). Nothing may follow an answer in clear: it would count as said within TLS. */
async function beginTls(socket: Socket, signal: AbortSignal): Promise<void> {
  await answerOf(socket, '220', signal);
  socket.write(`EHLO ${hostname()}\r\n`);
  const offered = await answerOf(socket, '250', signal);
  if (!/^250[- ]STARTTLS\r?$/im.test(offered))
    throw new Error('the mail server offers no STARTTLS at this port: correct server, or use tls: implicit');
  socket.write('STARTTLS\r\n');
  await answerOf(socket, '220', signal);
}

/** One answer (RFC 5321, 4.2): lines with a hyphen after the code, and a last one without. */
const oneAnswer = /^(?:\d{3}-[^\n]*\n)*\d{3}(?:[ \r][^\n]*)?\n/;

async function answerOf(socket: Socket, wanted: string, signal: AbortSignal): Promise<string> {
  let text = '';
  let answer: string | undefined;
  while ((answer = oneAnswer.exec(text)?.[0]) === undefined) {
    const [octets] = (await Promise.race([
      once(socket, 'data', { signal }),
      once(socket, 'end', { signal }).then(() => Promise.reject(new Error('the mail server ended the connection'))),
    ])) as [Buffer];
    text += octets.toString('latin1');
    if (text.length > longestAnswer) throw new Error('the mail server says more than fits an answer');
  }
  if (answer.length < text.length) throw new Error('the mail server says more than it was asked, before TLS: somebody may have added it');
  if (!answer.startsWith(wanted)) throw new Error(`the mail server answers ${cleaned(answer)}`);
  return answer;
}

/** Text of a server, for people and logs: one short line. */
function cleaned(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Z}]+/gu, ' ')
    .trim()
    .slice(0, 200);
}
