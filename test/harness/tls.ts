// A throw-away TLS identity for 127.0.0.1, made by openssl; what a client sends first.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect, type ConnectionOptions } from 'node:tls';

/** Key and self-signed certificate (PEM) in files below the directory, and their text. */
export function selfSignedIdentity(directory: string): { readonly key: string; readonly cert: string } {
  const [key, cert] = [join(directory, 'tls-key.pem'), join(directory, 'tls-cert.pem')];
  const made = spawnSync('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-keyout', key, '-out', cert],
    ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
  ]);
  if (made.status !== 0) throw new Error(`openssl: ${made.stderr.toString()}`);
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
}

/** A certificate (PEM) whose key is on a curve that is written out: such ones can be made to hold OpenSSL for a long time. */
export function explicitCurveCertificate(directory: string): string {
  const [key, cert] = [join(directory, 'explicit-key.pem'), join(directory, 'explicit-cert.pem')];
  const made = spawnSync('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-pkeyopt', 'ec_param_enc:explicit', '-nodes'],
    ...['-subj', '/CN=0', '-keyout', key, '-out', cert],
  ]);
  if (made.status !== 0) throw new Error(`openssl: ${made.stderr.toString()}`);
  return readFileSync(cert, 'utf8');
}

/** The first message of a handshake, as a client of OpenSSL sends it. */
export async function firstMessage(options: ConnectionOptions = {}): Promise<Buffer> {
  const listening = createServer().listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const client = connect({ ...options, port: (listening.address() as AddressInfo).port, host: '127.0.0.1' }).on('error', () => undefined);
  const [accepted] = (await once(listening, 'connection')) as [Socket];
  const [octets] = (await once(accepted, 'data')) as [Buffer];
  client.destroy();
  accepted.destroy();
  listening.close();
  return octets;
}
