// AWS Signature Version 4 as a store of S3 computes it of a request that has arrived (AWS General Reference, "Signature Version 4 signing
// process"): another implementation than the one of the appliance.
import { createHash, createHmac } from 'node:crypto';

export type Arrived = {
  readonly method: string;
  /** path and query */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
};

/** The names of the signed headers and the signature that the request should have with the secret, by its scope and time. */
export function expectedSignature({ method, url, headers }: Arrived, secret: string): string {
  const authorization = String(headers['authorization']);
  const [, day = '', region = '', signed = ''] = /\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+),/.exec(authorization) ?? [];
  const { pathname, searchParams } = new URL(url, 'http://store');
  const canonical = [
    method,
    pathname.split('/').map(encoded).join('/'),
    [...searchParams]
      .map((pair) => pair.map(encodeName).join('='))
      .toSorted()
      .join('&'),
    ...signed.split(';').map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    signed,
    headers['x-amz-content-sha256'],
  ].join('\n');
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], `${day}/${region}/s3/aws4_request`, sha256(canonical)].join('\n');
  const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>((before, step) => hmac(before, step), `AWS4${secret}`);
  return hmac(key, text).toString('hex');
}

export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** However the sender has encoded it. */
function encoded(segment: string): string {
  return encodeName(decodeURIComponent(segment));
}

/** Percent-encoding of RFC 3986: everything but letters, digits and `-._~`. */
function encodeName(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
