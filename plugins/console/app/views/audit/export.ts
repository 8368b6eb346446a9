// The trail as files: lines as the appliance wrote them, with what proves them, or rows for a spreadsheet.
import { requireReadable } from '../../api/may.ts';
import { follow, open, send, type Request } from '../../api/request.ts';
import { csvOf } from '../../marks/csv.ts';
import type { TopicQuery } from '../../topics/read-topic.ts';

export type Range = { readonly fromMs: number; readonly toMs: number };

/** Time after which the last record of a range is under a signature: heads are signed once a minute. */
const signedAfterMs = 120_000;
const headsPath = '/v1/state/system/audit';

/**
 * Every record of a time as the appliance wrote it, one a line, whatever the filters are: a record is proven by those between it and the next
 * signed head, which is why the lines go on for two minutes after the end.
 */
export async function exportLines(path: string, { fromMs, toMs }: Range, signal: AbortSignal): Promise<Blob> {
  const query = { since: timestamp(fromMs), before: timestamp(toMs + signedAfterMs) };
  const parts: Blob[] = [];
  const first: Request = { method: 'GET', path, query };
  await requireReadable(first);
  for (let next: Request | undefined = first; next !== undefined;) {
    const response: Response = await open(next, signal);
    const target = /^<(\/[^>]+)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1];
    parts.push(await response.blob());
    next = target === undefined ? undefined : { method: 'GET', path: target };
  }
  return new Blob(parts);
}

/** Keys and signed heads, as `keystorectl audit verify` takes them. */
export async function exportHeads(signal: AbortSignal): Promise<string> {
  const request = { method: 'GET', path: headsPath };
  await requireReadable(request);
  const { body } = await send(request, signal);
  return `${JSON.stringify(body, undefined, 2)}\n`;
}

/** The records that fit the filters, as rows. */
export async function exportRows(path: string, { fromMs, toMs }: Range, filters: TopicQuery, signal: AbortSignal): Promise<Blob> {
  const query = { ...filters, since: timestamp(fromMs), before: timestamp(toMs) };
  const request = { method: 'GET', path, query };
  await requireReadable(request);
  const parts = [new Blob([csvOf([columns])])];
  for await (const values of follow(request, signal))
    if (values.length > 0) parts.push(new Blob([csvOf(values.map((one) => rowOf(one as Readonly<Record<string, unknown>> | null)))]));
  return new Blob(parts);
}

const columns = [
  ...['occurred-at', 'kind', 'tenant', 'user', 'user-kind', 'method', 'path', 'status', 'code', 'client-ip', 'via', 'request-id'],
  ...['accessor', 'approval', 'request-parameters', 'chain', 'sequence', 'hash'],
];

function rowOf(record: Readonly<Record<string, unknown>> | null): readonly string[] {
  return columns.map((name) => {
    const value = record?.[name];
    if (value === undefined || value === null) return '';
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
}

/** Nothing but digits and letters in the name: it is one on every system. */
export function nameOfRange({ fromMs, toMs }: Range): string {
  const plain = (ms: number): string => `${timestamp(ms).slice(0, 16).replaceAll(/[-:]/g, '')}Z`;
  return `audit-${plain(fromMs)}-${plain(toMs)}`;
}

function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}
