// Puts a backup into a bucket of an S3 store: in one request when it is small, otherwise in parts that become one object at the end.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { setTimeout } from 'node:timers/promises';
import type { S3Target } from '../../../core/config/backup.ts';
import { GuardedAgent } from '../../../core/outbound/guarded-connection.ts';
import type { Sending } from './sending.ts';

export type S3Limits = {
  /** Memory of an upload. Each part is repeated by itself, and its digest is known before it is sent, which object lock asks for. */
  readonly partBytes: number;
  /** A store that says nothing for this long does not answer. */
  readonly silenceMs: number;
  /** before the first repetition; doubles with each */
  readonly pauseMs: number;
};

const usual: S3Limits = { partBytes: 16 << 20, silenceMs: 60_000, pauseMs: 1_000 };
/** S3 takes at most 10,000 parts. */
const mostParts = 9_000;
const attempts = 3;
/** Answers are small documents. */
const longestAnswerBytes = 1 << 20;

type Answer = { readonly status: number; readonly headers: http.IncomingHttpHeaders; readonly text: string };

/** Resolves when the object is complete. Rejects with the remedy. */
export async function putToS3(target: S3Target, sending: Sending, signal: AbortSignal, limits = usual): Promise<void> {
  const bucket = new Bucket(target, signal, limits);
  const key = `${target.prefix}${sending.name}`;
  const size = Math.max(limits.partBytes, Math.ceil(sending.bytes / mostParts));
  const parts = inParts(sending.pieces, size);
  if (sending.bytes <= size) {
    const { value } = await parts.next();
    await bucket.send('PUT', key, [], value ?? Buffer.alloc(0));
    await parts.next();
    return;
  }
  const begun = await bucket.send('POST', key, [['uploads', '']], Buffer.alloc(0));
  const uploadId = unescape(element(begun.text, 'UploadId'));
  if (uploadId === '') throw new Error('the store began no upload: is the endpoint one of S3?');
  try {
    const tags: string[] = [];
    for await (const part of parts) {
      const query = [
        ['partNumber', String(tags.length + 1)],
        ['uploadId', uploadId],
      ] as const;
      tags.push((await bucket.send('PUT', key, query, part)).headers.etag ?? '');
    }
    const list = tags.map((tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escape(tag)}</ETag></Part>`).join('');
    const body = Buffer.from(`<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`);
    const completed = await bucket.send('POST', key, [['uploadId', uploadId]], body);
    // A store may find out after it has answered 200.
    if (element(completed.text, 'Code') !== '') throw new Error(describeRefusal(completed, target));
  } catch (error) {
    // A credential that can only write may not be allowed to: a lifecycle rule of the bucket removes unfinished uploads.
    await bucket.send('DELETE', key, [['uploadId', uploadId]], Buffer.alloc(0), 1).catch(() => undefined);
    throw error;
  }
}

class Bucket {
  readonly #target: S3Target;
  readonly #signal: AbortSignal;
  readonly #limits: S3Limits;
  readonly #signing: { readonly accessKeyId: string; readonly secretAccessKey: string; readonly region: string; readonly service: 's3' };
  readonly #ca: string | undefined;

  constructor(target: S3Target, signal: AbortSignal, limits: S3Limits) {
    const { accessKeyId, region, secretAccessKeyFile, caFile } = target;
    this.#target = target;
    this.#limits = limits;
    this.#signal = signal;
    this.#signing = { accessKeyId, region, secretAccessKey: readText(secretAccessKeyFile).trim(), service: 's3' };
    this.#ca = caFile === undefined ? undefined : readText(caFile);
  }

  /** Sends a request, again after a transient failure. Throws for any answer but a success. */
  async send(method: string, key: string, query: readonly (readonly [string, string])[], body: Buffer, times = attempts): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await this.#once(method, key, query, body);
        if (answer.status >= 200 && answer.status < 300) return answer;
        if (answer.status < 500 || attempt >= times) throw new Refused(describeRefusal(answer, this.#target));
      } catch (error) {
        if (error instanceof Refused || attempt >= times || this.#signal.aborted) throw error;
      }
      await setTimeout(this.#limits.pauseMs * 2 ** (attempt - 1), undefined, { signal: this.#signal });
    }
  }

  async #once(method: string, key: string, query: readonly (readonly [string, string])[], body: Buffer): Promise<Answer> {
    const { endpoint, bucket } = this.#target;
    const { silenceMs } = this.#limits;
    const url = new URL(endpoint);
    url.pathname = `${url.pathname === '/' ? '' : url.pathname}/${[bucket, ...key.split('/')].map(encodeURIComponent).join('/')}`;
    for (const [name, value] of query) url.searchParams.set(name, value);
    const options: https.RequestOptions = {
      ...{ method, headers: await this.#signedHeaders(method, url, body), signal: this.#signal, timeout: silenceMs },
      agent: url.protocol === 'https:' ? new GuardedAgent({}, this.#signal) : false,
      ...(this.#ca === undefined ? {} : { ca: this.#ca }),
    };
    return new Promise((resolve, reject) => {
      const request = (url.protocol === 'https:' ? https : http).request(url, options, (response) => {
        readAnswer(response).then(resolve, reject);
      });
      request.once('timeout', () => request.destroy(new Error(`says nothing for ${silenceMs / 1_000} seconds`)));
      request.once('error', (error: NodeJS.ErrnoException) => reject(new Error(describeFailure(error))));
      request.end(body);
    });
  }

  /** The sum of the content is signed: without it the signature would be for any content. */
  async #signedHeaders(method: string, url: URL, body: Buffer): Promise<Record<string, string>> {
    const sum = (algorithm: string, encoding: 'hex' | 'base64'): string => createHash(algorithm).update(body).digest(encoding);
    const headers = {
      'x-amz-content-sha256': sum('sha256', 'hex'),
      ...(method === 'DELETE' ? {} : { 'content-length': String(body.length), 'content-md5': sum('md5', 'base64') }),
    };
    // Not at the start: most processes send no backup.
    const { AwsV4Signer } = await import('aws4fetch');
    const signed = await new AwsV4Signer({ method, url: url.href, headers, ...this.#signing }).sign();
    return Object.fromEntries(signed.headers);
  }
}

class Refused extends Error {}

async function readAnswer(response: http.IncomingMessage): Promise<Answer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > longestAnswerBytes) break;
    pieces.push(piece);
  }
  return { status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(pieces).toString('utf8') };
}

/** Cuts the stream into parts of one size; the last may be shorter. */
async function* inParts(pieces: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Buffer> {
  let kept: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    let rest = piece;
    while (bytes + rest.length >= size) {
      const fits = size - bytes;
      yield Buffer.concat([...kept, rest.subarray(0, fits)]);
      [kept, bytes, rest] = [[], 0, rest.subarray(fits)];
    }
    kept.push(rest);
    bytes += rest.length;
  }
  if (bytes > 0) yield Buffer.concat(kept);
}

/** Remedies for people, by the code of the store. */
const remedies: Readonly<Record<string, string>> = {
  RequestTimeTooSkewed: 'the clocks of this appliance and of the store differ by more than 15 minutes: set the clock',
  RequestExpired: 'the clocks of this appliance and of the store differ by more than 15 minutes: set the clock',
  SignatureDoesNotMatch: 'the secret is not that of the access key: correct secret-access-key-file',
  InvalidAccessKeyId: 'the store does not know the access key: correct access-key-id',
  AccessDenied: 'the credential may not write there: it needs the right to put objects',
  NoSuchBucket: 'the bucket does not exist: make it, or correct bucket',
  AuthorizationHeaderMalformed: 'the bucket is in another region: correct region',
  AuthorizationQueryParametersError: 'the bucket is in another region: correct region',
  PermanentRedirect: 'the bucket is in another region: correct region and endpoint',
  TemporaryRedirect: 'the bucket is in another region: correct region and endpoint',
  QuotaExceeded: 'the store has no room left',
  EntityTooLarge: 'the store takes no object of this size',
};

function describeRefusal({ status, headers, text }: Answer, { region }: S3Target): string {
  const code = element(text, 'Code');
  const said = element(text, 'Message').slice(0, 200);
  const actual = headers['x-amz-bucket-region'] ?? element(text, 'Region');
  const elsewhere = typeof actual === 'string' && actual !== '' && actual !== region ? ` (it names the region ${actual})` : '';
  const remedy = remedies[code] ?? (status === 301 || status === 307 ? remedies['PermanentRedirect'] : undefined);
  const answered = `the store answers ${status}${code === '' ? '' : ` ${code}`}${elsewhere}`;
  return `${answered}: ${remedy ?? (said === '' ? 'is the endpoint one of S3?' : said)}`;
}

const failures: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the store refuses connections: does it run, and is the endpoint right?',
  ENOTFOUND: 'the host of the endpoint is not known to the name server',
  EAI_AGAIN: 'the name server does not answer',
  ECONNRESET: 'the store cut the connection',
  EPROTO: 'the endpoint does not speak TLS: is it http?',
};

function describeFailure({ code, message }: NodeJS.ErrnoException): string {
  if (code !== undefined && /CERT|SIGNATURE|ISSUER/.test(code))
    return `the certificate of the store is not trusted (${code}): name its CA in ca-file`;
  return (code === undefined ? undefined : failures[code]) ?? message;
}

/** The text of the first such element; answers of stores have no attributes there. */
function element(xml: string, name: string): string {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? '';
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

function unescape(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&apos;', "'").replaceAll('&amp;', '&');
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`, { cause: error });
  }
}
