// A throw-away TLS identity for 127.0.0.1, made by openssl.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

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
