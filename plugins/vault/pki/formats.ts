// Certificates in the formats that clients may ask for: PEM, DER in base64, and PEM with the chain behind it.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { fail } from '../../../core/base/errors.ts';
import { formatPem, readPem } from '../../../core/base/texts/pem.ts';
import type { JsonObject } from '../../../core/wire/json.ts';
import type { Fields } from '../fields.ts';
import { pairsOf } from './mount.ts';

/** Forms of a private key: the usual one of its kind, or PKCS#8. */
const keyFormats = ['der', 'pkcs8', ''] as const;

const formats = ['pem', 'der', 'pem_bundle'] as const;
export type Format = (typeof formats)[number];

/** `der`: also keys. `withoutRoots`: the chain ends before a certificate that signs itself. */
export type Wanted = { readonly format: Format; readonly withoutRoots: boolean; readonly isPkcs8: boolean };

/** Throws `invalid-value`. */
export function readWanted(fields: Fields): Wanted {
  const format = formats.find((one) => one === (fields.word('format') ?? 'pem'));
  if (format === undefined) throw fail('invalid-value', { detail: 'the "format" parameter must be "pem", "der", or "pem_bundle"' });
  const keyFormat = fields.text('private_key_format') ?? '';
  if (!(keyFormats as readonly string[]).includes(keyFormat))
    throw fail('invalid-value', { detail: 'the "private_key_format" parameter must be "der" or "pkcs8"' });
  return { format, isPkcs8: keyFormat === 'pkcs8', withoutRoots: fields.flag('remove_roots_from_chain') === true };
}

/** Our answer with a certificate; absent members are hidden by policies. */
export type IssuedDocument = {
  readonly certificate?: string;
  readonly chain?: string;
  readonly serial?: string;
  readonly 'not-after'?: string;
  readonly 'private-key'?: string;
};

/** The certificates of a PEM text, DER. */
export function certificatesIn(pem: string | undefined): readonly Uint8Array[] {
  return pem === undefined ? [] : readPem(pem).flatMap(({ der }) => (der === undefined ? [] : [der]));
}

/** `beginsWithItself`: the chain begins with the certificate, as that of an intermediate does there. */
export function issuedData(issued: IssuedDocument, { format, withoutRoots, isPkcs8 }: Wanted, beginsWithItself = false): JsonObject {
  const [own] = certificatesIn(issued.certificate);
  const above = certificatesIn(issued.chain);
  const [issuer] = above;
  const shown = withoutRoots ? above.filter((der) => !signsItself(der)) : above;
  const chain = beginsWithItself && own !== undefined ? [own, ...shown] : shown;
  const text = (der: Uint8Array): string => (format === 'der' ? Buffer.from(der).toString('base64') : pemOf(der));
  const key = issued['private-key'] === undefined ? undefined : privateKeyOf(issued['private-key'], format, isPkcs8);
  const keyPem = key === undefined || format !== 'pem_bundle' ? [] : [key.private_key];
  const bundle = (der: Uint8Array): string => [...keyPem, ...[der, ...shown].map((one) => pemOf(one))].join('\n');
  const ends = issued['not-after'];
  return {
    ...(own === undefined ? {} : { certificate: format === 'pem_bundle' ? bundle(own) : text(own), not_before: secondsOf(own) }),
    ...(issuer === undefined ? {} : { issuing_ca: text(issuer), ca_chain: chain.map(text) }),
    ...(issued.serial === undefined ? {} : { serial_number: pairsOf(issued.serial) }),
    ...key,
    ...(ends === undefined ? {} : { expiration: Math.floor(Temporal.Instant.from(ends).epochMilliseconds / 1_000) }),
  };
}

function privateKeyOf(pem: string, format: Format, isPkcs8: boolean): { readonly private_key: string; readonly private_key_type: string } {
  const key = createPrivateKey(pem);
  const kind = key.asymmetricKeyType ?? '';
  const type = isPkcs8 || !['rsa', 'ec'].includes(kind) ? 'pkcs8' : kind === 'rsa' ? 'pkcs1' : 'sec1';
  const text = format === 'der' ? key.export({ type, format: 'der' }).toString('base64') : key.export({ type, format: 'pem' }).trimEnd();
  return { private_key: text, private_key_type: kind };
}

/** PEM without a line end behind it, as there. */
export function pemOf(der: Uint8Array, label = 'CERTIFICATE'): string {
  return formatPem(label, der).trimEnd();
}

function secondsOf(der: Uint8Array): number {
  return Math.floor(new X509Certificate(der).validFromDate.getTime() / 1_000);
}

function signsItself(der: Uint8Array): boolean {
  const { subject, issuer } = new X509Certificate(der);
  return subject === issuer;
}
