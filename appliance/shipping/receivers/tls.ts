// TLS to receivers: CA pinning, client certificates, and the check of the server's name. Files are read at each connection.
import { readFileSync } from 'node:fs';
import { checkServerIdentity, type ConnectionOptions, createSecureContext } from 'node:tls';
import { X509Certificate } from 'node:crypto';
import { fitsBasic, fitsHeader } from '../../../core/config/other-servers.ts';
import { type Destination, serverNameOf } from '../../../core/config/shipping.ts';
import { readSecret } from '../../../hsm/setup/setup.ts';
import { revealSecret } from '../../../core/base/secret.ts';
import { ReceiverError } from './receiver.ts';

/** Options of a connection; throws ReceiverError when a file cannot be used, naming destination, field and fix. */
export function tlsOptions(destination: Destination): ConnectionOptions {
  const { servername, expected } = serverNameOf(destination);
  const read = (field: string, path: string): Buffer => {
    try {
      return readFileSync(path);
    } catch (error) {
      throw unusable(
        destination,
        field,
        `${path} cannot be read (${(error as NodeJS.ErrnoException).code}): correct the path, or let the user of keystored read it`,
      );
    }
  };
  const { caFile, certificateFile, keyFile } = destination;
  const ca = caFile === undefined ? undefined : certificatesIn(destination, caFile, read('ca-file', caFile));
  const options = {
    minVersion: 'TLSv1.2',
    ...(servername === undefined ? {} : { servername }),
    ...(ca === undefined ? {} : { ca }),
    ...(certificateFile === undefined ? {} : { cert: read('certificate-file', certificateFile) }),
    ...(keyFile === undefined ? {} : { key: read('key-file', keyFile) }),
  } as const;
  try {
    createSecureContext(options);
  } catch (error) {
    const what =
      (error as NodeJS.ErrnoException).code === 'ERR_OSSL_X509_KEY_VALUES_MISMATCH'
        ? 'key-file is not the key of certificate-file'
        : 'certificate-file or key-file is not PEM that can be used';
    throw new ReceiverError(`destination ${destination.name}: ${what}`, { cause: error });
  }
  return { ...options, checkServerIdentity: (_host, certificate) => checkServerIdentity(expected, certificate) };
}

/** `header`: value of Authorization. `secrets`: parts of it that a receiver may repeat in an answer, and that must not be shown there. */
export type Authorization = { readonly header: string; readonly secrets: readonly string[] };

/** Read at each request, so that credentials can be mended without a restart; undefined without credentials. Throws ReceiverError. */
export function authorizationOf(destination: Destination): Authorization | undefined {
  const { token, username, password, protocol } = destination;
  const secret = (field: 'token' | 'password', source: NonNullable<typeof token>): string => {
    try {
      return revealSecret(readSecret(source, field));
    } catch (error) {
      throw new ReceiverError(`destination ${destination.name}: ${(error as Error).message}`);
    }
  };
  if (token !== undefined) {
    const text = secret('token', token);
    if (!fitsHeader(text))
      throw unusable(destination, 'token', 'has characters that a header cannot have: it must be one line of ASCII without spaces');
    return { header: `${{ splunk: 'Splunk', elastic: 'ApiKey' }[protocol as string] ?? 'Bearer'} ${text}`, secrets: [text] };
  }
  if (username === undefined || password === undefined) return undefined;
  const text = secret('password', password);
  if (!fitsBasic(text)) throw unusable(destination, 'password', 'has control characters, which a receiver refuses: it must be one line');
  const credentials = Buffer.from(`${username}:${text}`).toString('base64');
  return { header: `Basic ${credentials}`, secrets: [credentials, text] };
}

function certificatesIn(destination: Destination, path: string, pem: Buffer): string[] {
  const blocks = pem.toString('latin1').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0)
    throw unusable(destination, 'ca-file', `${path} has no certificate in PEM: it must have the CA certificates as CERTIFICATE blocks`);
  try {
    for (const block of blocks) void new X509Certificate(block);
  } catch {
    throw unusable(destination, 'ca-file', `${path} has a certificate that cannot be read: copy it again`);
  }
  return blocks;
}

function unusable({ name }: Destination, field: string, what: string): ReceiverError {
  return new ReceiverError(`destination ${name}: ${field}: ${what}`);
}
