// A registration authority elsewhere, as the settings of a CA name it: a key with a certificate, and what it makes of messages.
import { execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sequence } from '../../../core/der/der.ts';
import { partsOf } from './device.ts';
import { bodies, byCertificate, type MessageParts, type Protect, writeMessage } from './messages.ts';

export type RegistrationAuthority = { readonly pem: string; readonly keyPem: string; readonly protect: Protect };

type Paths = [string, string, string, string];

/** Makes one. `purpose`: of its certificate, which a CA of its own has issued: OpenSSL sends none that signs itself; `days`: its life. */
export function makeAuthority(purpose = '1.3.6.1.5.5.7.3.28', days = 3_650): RegistrationAuthority {
  const directory = mkdtempSync(join(tmpdir(), 'cmp-authority-'));
  try {
    const [caKey, ca, key, certificate] = ['ca-key', 'ca', 'key', 'certificate'].map((name) => join(directory, `${name}.pem`)) as Paths;
    const make = (...more: readonly string[]) =>
      execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', ...more]);
    make('-subj', '/CN=Elsewhere', '-days', '3650', '-keyout', caKey, '-out', ca);
    const extensions = [`extendedKeyUsage=${purpose}`, 'keyUsage=digitalSignature', 'basicConstraints=CA:false'];
    make(
      ...['-subj', '/CN=Registration Authority', '-days', String(days), '-keyout', key, '-out', certificate, '-CA', ca, '-CAkey', caKey],
      ...extensions.flatMap((extension) => ['-addext', extension]),
    );
    const pem = readFileSync(certificate, 'utf8');
    const keyPem = readFileSync(key, 'utf8');
    return { pem, keyPem, protect: byCertificate(createPrivateKey(keyPem), partsOf(new X509Certificate(pem))) };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** A message around others. */
export const nested = (inner: readonly Uint8Array[], parts: Pick<MessageParts, 'protect'> & Partial<MessageParts>): Buffer =>
  writeMessage({ type: bodies.nested, body: sequence(...inner), ...parts });
