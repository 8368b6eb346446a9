// otherNames in certificates (RFC 5280 4.2.1.6) whose value is a text, as a user principal name, and the patterns by which a policy allows them.
import { encode, explicit, objectIdentifier, readObjectIdentifier, Reader, tag, utf8String } from '../../../core/der/der.ts';
import { decodeUtf8 } from '../../../core/base/bytes.ts';
import { normaliseDomain } from './domain.ts';

/** Mail addresses beyond ASCII (RFC 9598): name constraints on mail bind them, and few verifiers know that. */
const smtpUtf8Mailbox = '1.3.6.1.5.5.7.8.9';

/** Tells whether an otherName is a mail address beyond ASCII, well-formed or not. */
export function isUtf8Mailbox(content: Uint8Array): boolean {
  const type = objectIdentifier(smtpUtf8Mailbox);
  return Buffer.compare(content.subarray(0, type.length), type) === 0;
}

/** The value of an otherName that is a UTF8String, as with UPN. */
export type OtherName = { readonly type: string; readonly value: string };

/** Reads the content of an otherName: `type-id, [0] EXPLICIT UTF8String`; undefined for a value of another type, or one that is not there. */
function readOtherName(content: Uint8Array): OtherName | undefined {
  try {
    const fields = new Reader(content);
    const type = readObjectIdentifier(fields.next(tag.oid).content);
    const explicitly = new Reader(fields.next(tag.constructed(0)).content);
    fields.end();
    const value = explicitly.next(tag.utf8String).content;
    explicitly.end();
    const text = decodeUtf8(value);
    return text === undefined || text === '' || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text) ? undefined : { type, value: text };
  } catch {
    return undefined;
  }
}

/** Reads `1.3.6.1.4.1.311.20.2.3;UTF8:alice@example.com`, as OpenSSL writes it; undefined for another text, and for mail addresses beyond ASCII. */
export function parseOtherName(text: string): OtherName | undefined {
  const [, type = '', value = ''] = /^([0-9]+(?:\.[0-9]+)+);UTF8:(.+)$/u.exec(text) ?? [];
  if (value === '' || type === smtpUtf8Mailbox) return undefined;
  try {
    return readObjectIdentifier(new Reader(objectIdentifier(type)).next(tag.oid).content) === type ? { type, value } : undefined;
  } catch {
    return undefined;
  }
}

/** Tells whether an otherName is one of those that are allowed: a value in full, `*` for any, or `*@example.com` for those of a domain, as of UPN. */
export function isOtherNameWithin(allowed: readonly string[], content: Uint8Array): boolean {
  const name = readOtherName(content);
  return name !== undefined && allowed.some((pattern) => isWithin(parseOtherName(pattern), name));
}

function isWithin(pattern: OtherName | undefined, { type, value }: OtherName): boolean {
  // A value that reads as a pattern would be one to programs that take patterns.
  if (pattern?.type !== type || value.startsWith('*')) return false;
  if (pattern.value === '*' || pattern.value === value) return true;
  if (!pattern.value.startsWith('*@')) return false;
  const [local = '', domain = '', ...more] = value.split('@');
  const wanted = normaliseDomain(pattern.value.slice(2));
  return more.length === 0 && local !== '' && !domain.endsWith('.') && wanted !== undefined && normaliseDomain(domain) === wanted;
}

/** `1.3.6.1.4.1.311.20.2.3;UTF8:alice@example.com`; undefined where the value is not a text. */
export function formatOtherName(content: Uint8Array): string | undefined {
  const name = readOtherName(content);
  return name && `${name.type};UTF8:${name.value}`;
}

/** GeneralName of an otherName. */
export function otherName({ type, value }: OtherName): Uint8Array {
  return encode(tag.constructed(0), objectIdentifier(type), explicit(0, utf8String(value)));
}
