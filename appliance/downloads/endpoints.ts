// Endpoints that hand out keystorectl: for machines that have only the address and the CA of the appliance.
import { z } from 'zod';
import { once } from '../../core/base/async/once.ts';
import { fail } from '../../core/base/errors.ts';
import { definePublicEndpoint, Reply, type AnyEndpoint, type PublicCall } from '../../core/http/endpoint.ts';
import { documentedCopies } from '../../core/http/description/published.ts';
import { hasPresentCopy } from '../../core/http/response/entity-tag.ts';
import { readDownloads, readSpan, type Download, type Span } from './files.ts';

const tag = { name: 'keystorectl', description: 'The command line, for machines that have only the address of the appliance.' };
const shared = { tag, access: 'public', method: 'GET', audit: 'none', errors: ['not-found'] } as const;

/** Name of the file with the sums of the others, in the form that `sha256sum --check` reads. */
const sums = 'SHA256SUMS';

const listed = z.object({
  name: z
    .string()
    .meta({ description: 'Name of the file, to be put behind the address of this list.', example: 'keystorectl-linux-amd64' }),
  description: z.string().meta({ description: 'What it is, and what it needs.', example: 'One executable file for Linux on amd64.' }),
  size: z.int().meta({ description: 'Octets.', example: 117_076_160 }),
  sha256: z.string().meta({
    description: 'SHA-256 of the file in hexadecimal digits.',
    example: '8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4',
  }),
});

/** The list of files, and each of them. `directory` is that of the package unless a test names another. */
export function keystorectlEndpoints(directory?: string): AnyEndpoint[] {
  const files = once(() => readDownloads(directory));
  return [
    definePublicEndpoint({
      ...shared,
      path: '/v1/keystorectl',
      operationId: 'keystorectlList',
      named: 'KeystorectlFile',
      summary: 'The forms of keystorectl that this appliance hands out',
      description: `With sizes and SHA-256; ${sums} has the same sums for sha256sum. A source tree that was not packaged has none.`,
      output: z.array(listed),
      run: async () => (await existing(files())).map(({ name, description, size, sha256 }) => ({ name, description, size, sha256 })),
    }),
    definePublicEndpoint({
      ...shared,
      path: '/v1/keystorectl/{name}',
      operationId: 'keystorectlDownload',
      summary: 'Download keystorectl',
      description: 'Answers a range of octets (RFC 9110 14.2) when one is asked for, so that a download can go on where it was cut off.',
      produces: 'application/octet-stream',
      documented: {
        names: { name: { description: `A name of the list, or ${sums}.`, example: 'keystorectl-linux-amd64' } },
        otherStatuses: {
          206: 'The octets that `Range` asks for; `Content-Range` says which these are',
          ...documentedCopies.otherStatuses,
        },
        headers: { ...documentedCopies.headers, ...rangeHeaders.answer },
        requestHeaders: { ...documentedCopies.requestHeaders, ...rangeHeaders.request },
      },
      async run(call) {
        const all = await existing(files());
        const { name } = call.params;
        if (name === sums) return new Reply(200, sumsOf(all), { 'content-type': 'text/plain; charset=utf-8' });
        const file = all.find((one) => one.name === name);
        if (file === undefined) {
          throw fail('not-found', {
            detail: `There is no such file; GET /v1/keystorectl lists: ${all.map((one) => one.name).join(', ')}.`,
          });
        }
        return answerWith(file, call, directory);
      },
    }),
  ];
}

/** Throws not-found without files. */
async function existing(files: Promise<readonly Download[]>): Promise<readonly Download[]> {
  const found = await files;
  if (found.length > 0) return found;
  throw fail('not-found', {
    detail:
      'This appliance runs from a source tree and has no keystorectl to hand out; "npm run build keystorectl" makes the files, and a package has them.',
  });
}

function answerWith(file: Download, { headers }: PublicCall, directory: string | undefined): Reply {
  const etag = `"${file.sha256}"`;
  const lasting = { etag, 'accept-ranges': 'bytes', 'cache-control': 'no-cache' };
  if (hasPresentCopy(headers['if-none-match'], etag)) return new Reply(304, undefined, lasting);
  const whole = { start: 0, end: file.size };
  // A range of a file that has changed since would be put behind octets of another one.
  const isSame = headers['if-range'] === undefined || headers['if-range'] === etag;
  const range = isSame ? rangeOf(headers['range'], file.size) : undefined;
  const { start, end } = range ?? whole;
  const about = {
    ...lasting,
    'content-type': 'application/octet-stream',
    'content-length': String(end - start),
    'content-disposition': `attachment; filename="${file.name}"`,
  };
  const body = readSpan(file, { start, end }, directory);
  if (range === undefined) return new Reply(200, body, about);
  return new Reply(206, body, { ...about, 'content-range': `bytes ${start}-${end - 1}/${file.size}` });
}

const rangeHeaders = {
  answer: {
    'Content-Range': {
      description: 'Of 206: the first octet, the last one, and the size of the file.',
      schema: { type: 'string', examples: ['bytes 1048576-2097151/117076160'] },
    },
  },
  request: {
    Range: {
      description: 'One range of octets; of several, or one outside of the file, the whole file is answered.',
      schema: { type: 'string', examples: ['bytes=1048576-2097151'] },
    },
    'If-Range': {
      description: 'Entity tag of the file that the range is of: when it is another one now, the whole file is answered.',
      schema: { type: 'string', examples: ['"q1W8mZ0bq1c"'] },
    },
  },
} as const;

/**
 * The one range that is asked for. Undefined for none, several, or one outside of the file: the whole file is answered then (RFC 9110
 * 14.2).
 */
function rangeOf(text: string | undefined, size: number): Span | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(text ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  const span =
    first === ''
      ? { start: Math.max(0, size - Number(last)), end: size }
      : { start: Number(first), end: last === '' ? size : Math.min(size, Number(last) + 1) };
  return span.start < span.end ? span : undefined;
}

function sumsOf(files: readonly Download[]): string {
  return files.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join('');
}
