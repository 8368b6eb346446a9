// Renewal information (RFC 9773): when a certificate should be renewed, by its key identifier and serial number.
import { Reader, tag } from '../../../core/der/der.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import { X509Certificate } from 'node:crypto';
import type { HeldCertificate } from '../../../core/plugin/services/certificate-authority.ts';
import type { JsonValue } from '../../../core/wire/json.ts';
import { extensionsOf } from '../certificate-extensions.ts';
import { type Acme, type AcmeAnswer, type AcmeCall, answerJson, notFound, type Site } from '../context.ts';
import { malformed } from '../message/malformed.ts';

const authorityKeyIdentifier = '2.5.29.35';

/** Clients ask again after these seconds. */
const askAgainSeconds = 6 * 3_600;

/** Anybody may ask: serial numbers and lives are in every handshake. */
export function answerRenewalInfo({ clock }: Acme, call: AcmeCall): AcmeAnswer {
  const held = findCertificate(call, call.params[0] ?? '');
  if (held === undefined) throw notFound();
  const { validFromDate, validToDate } = new X509Certificate(held.certificate);
  const [begin, end] = [validFromDate.getTime(), validToDate.getTime()];
  const nowMs = clock.now().epochMilliseconds;
  // A third of the life before its end, spread over a sixth; at once for a revoked one.
  const [from, to] = held.problem === 'revoked' ? [nowMs - 3_600_000, nowMs - 60_000] : [end - (end - begin) / 3, end - (end - begin) / 6];
  const timestamp = (ms: number): string => formatTimestamp(Temporal.Instant.fromEpochMilliseconds(Math.floor(ms)));
  return answerJson(200, { suggestedWindow: { start: timestamp(from), end: timestamp(to) } }, { 'retry-after': String(askAgainSeconds) });
}

/** The serial number of the certificate that an order replaces. Throws `acme-malformed`. */
export function readCertificateId(site: Site, value: JsonValue): string {
  const held = typeof value === 'string' ? findCertificate(site, value) : undefined;
  if (held === undefined) throw malformed('"replaces" is not the identifier of a certificate of this CA (RFC 9773 section 4.1).');
  return held.serial;
}

/** A certificate by its identifier: two parts in base64url, with a dot between. */
function findCertificate({ ca }: Site, text: string): HeldCertificate | undefined {
  const [, key = '', number = ''] = /^([A-Za-z0-9_-]{1,100})\.([A-Za-z0-9_-]{1,40})$/.exec(text) ?? [];
  const serial = Buffer.from(number, 'base64url')
    .toString('hex')
    .replace(/^00(?=[89a-f])/, '');
  const held = serial === '' ? undefined : ca.findBySerial(serial);
  return held !== undefined && keyIdentifierOf(held.certificate) === key ? held : undefined;
}

/** The key identifier of the issuer, in base64url. */
function keyIdentifierOf(certificate: Uint8Array): string | undefined {
  const value = extensionsOf(certificate).get(authorityKeyIdentifier)?.value;
  const found = value === undefined ? undefined : new Reader(value).enter(tag.sequence).optional(tag.primitive(0));
  return found === undefined ? undefined : Buffer.from(found.content).toString('base64url');
}
