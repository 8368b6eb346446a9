// Bodies of EST on the wire: base64 of DER in both directions, in the one form that every client we know accepts.
import { decodeBase64 } from '../../../core/base/bytes.ts';
import { failRequest } from '../errors.ts';

/** An answer: header names in canonical case, since one widespread client compares them with regard to case. */
export type EstAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** Media types of answers, to the letter: one widespread client compares the whole text, with the space (RFC 7030 4.1.3, 4.5.2). */
const mediaTypes = {
  certificates: 'application/pkcs7-mime; smime-type=certs-only',
  attributes: 'application/csrattrs',
  key: 'application/pkcs7-mime; smime-type=server-generated-key',
} as const;

/** 200 with DER as base64, 64 to a line, lines ended by LF (RFC 8951 3.1 allows it; clients differ in what else they read). */
export function answerDer(kind: keyof typeof mediaTypes, der: Uint8Array): EstAnswer {
  return { status: 200, headers: headersOf(kind), body: base64Lines(der) };
}

/** Parts of DER in one answer (RFC 7030 section 4.4.2, RFC 2046 section 5.1). No line of base64 has a hyphen, as the boundary has. */
export function answerParts(parts: readonly (readonly [kind: keyof typeof mediaTypes, der: Uint8Array])[]): EstAnswer {
  const boundary = 'keystored-est-part';
  const lines = parts.flatMap(([kind, der]) => [
    `--${boundary}`,
    ...Object.entries(headersOf(kind)).map(([name, value]) => `${name}: ${value}`),
    '',
    base64Lines(der).trimEnd().replaceAll('\n', '\r\n'),
  ]);
  return {
    status: 200,
    headers: { 'Content-Type': `multipart/mixed; boundary=${boundary}` },
    body: [...lines, `--${boundary}--`, ''].join('\r\n'),
  };
}

const headersOf = (kind: keyof typeof mediaTypes) => ({ 'Content-Type': mediaTypes[kind], 'Content-Transfer-Encoding': 'base64' });
const base64Lines = (der: Uint8Array): string =>
  Buffer.from(der)
    .toString('base64')
    .replace(/.{1,64}/g, '$&\n');

/** An error as one line of text. */
export function answerText(status: number, line: string, headers: Readonly<Record<string, string>> = {}): EstAnswer {
  return { status, headers: { 'Content-Type': 'text/plain; charset=utf-8', ...headers }, body: `${line.replaceAll(/\s+/g, ' ')}\n` };
}

/**
 * DER of a request body. White space is ignored everywhere, and so is Content-Transfer-Encoding (RFC 8951 3). Throws
 * `invalid-csr` with what to send instead.
 */
export function readRequestBody(contentType: string | undefined, body: Uint8Array): Uint8Array {
  const mediaType = (contentType ?? '').split(';')[0]?.trim().toLowerCase();
  if (mediaType !== 'application/pkcs10') throw refusal('Content-Type must be application/pkcs10');
  const text = Buffer.from(body).toString('latin1');
  if (text.includes('-----BEGIN')) throw refusal('it is PEM; leave out the BEGIN and END lines');
  if (body[0] === 0x30 && (body[1] ?? 0) >= 0x80) throw refusal('it is raw DER; encode it as base64');
  const der = decodeBase64(text.replaceAll(/[\r\n\t ]/g, ''));
  if (der === undefined || der.length === 0) throw refusal('it is not base64 (RFC 4648 section 4, with padding)');
  return der;
}

const refusal = (problem: string) =>
  failRequest('invalid-csr', { detail: `The body must be a PKCS#10 request, DER, base64-encoded, and was refused: ${problem}.` });
