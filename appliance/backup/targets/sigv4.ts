// AWS Signature Version 4 for requests to an S3 store, by headers (AWS General Reference, "Signature Version 4 signing process").
import { createHash, createHmac } from 'node:crypto';

export type SigningKey = { readonly accessKeyId: string; readonly secretAccessKey: string; readonly region: string };

export type SignedRequest = {
  readonly method: string;
  readonly host: string;
  /** percent-encoded */
  readonly path: string;
  /** names and values as they are, sorted by name */
  readonly query: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
};

/** All headers of the request, with `authorization`. `at` is the time of signing; stores accept 15 minutes of difference. */
export function signRequest(request: SignedRequest, key: SigningKey, at: Temporal.Instant): Record<string, string> {
  const time = at.toString({ smallestUnit: 'second' }).replaceAll(/[-:]/g, '');
  const scope = `${time.slice(0, 8)}/${key.region}/s3/aws4_request`;
  const headers: Record<string, string> = {
    ...request.headers,
    host: request.host,
    'x-amz-content-sha256': sha256(request.body),
    'x-amz-date': time,
  };
  const names = Object.keys(headers).toSorted();
  const canonical = [
    request.method,
    request.path,
    formatQuery(request.query),
    ...names.map((name) => `${name}:${headers[name]?.trim()}`),
    '',
    names.join(';'),
    headers['x-amz-content-sha256'],
  ].join('\n');
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  const steps = [time.slice(0, 8), key.region, 's3', 'aws4_request'];
  const signingKey = steps.reduce<string | Buffer>((secret, step) => hmac(secret, step), `AWS4${key.secretAccessKey}`);
  const signature = hmac(signingKey, text).toString('hex');
  const authorization = `AWS4-HMAC-SHA256 Credential=${key.accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
  return { ...headers, authorization };
}

/** The query as it is sent and signed. */
export function formatQuery(query: SignedRequest['query']): string {
  return query.map(([name, value]) => `${encodeName(name)}=${encodeName(value)}`).join('&');
}

/** Percent-encoding of RFC 3986: everything but letters, digits and `-._~`. */
export function encodeName(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
