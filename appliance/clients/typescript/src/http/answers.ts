// Reads answers: documents, problems, and answers of a proxy in their place.
import { AskedForApproval, Problem, type ProblemItem } from '../problem.ts';
import type { TransportAnswer } from '../transport/transport.ts';

const shownCharacters = 200;

/** The whole body. */
export async function readOctets({ body }: TransportAnswer): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  if (chunks.length === 1 && chunks[0] !== undefined) return chunks[0];
  const whole = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

export async function readText(answer: TransportAnswer): Promise<string> {
  return new TextDecoder().decode(await readOctets(answer));
}

/** Reads the document of an answer; undefined for one without a body. Throws Problem `unexpected-answer` for a body that is not JSON. */
export async function readJson(answer: TransportAnswer): Promise<unknown> {
  const text = await readText(answer);
  if (text === '') return undefined;
  if (!isJson(answer)) throw unexpected(answer, text);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw unexpected(answer, text);
  }
}

/** Reads an answer with a status from 300 up. Never rejects because of its body. */
export async function readProblem(answer: TransportAnswer): Promise<Problem> {
  const { status } = answer;
  const text = await readText(answer);
  const document = parsed(answer, text);
  const retryAfterSeconds = secondsOf(answer.header('retry-after'));
  if (!isRecord(document) || typeof document['code'] !== 'string') return unexpected(answer, text, document, retryAfterSeconds);
  const items = Array.isArray(document['errors']) ? (document['errors'] as ProblemItem[]) : [];
  const said = document['detail'] ?? items[0]?.['error-message'] ?? document['title'];
  const requestId = document['request-id'];
  return new Problem({
    ...{ status, items, retryAfterSeconds, document },
    code: document['code'],
    detail: typeof said === 'string' ? said : 'Refused.',
    requestId: typeof requestId === 'string' ? requestId : undefined,
  });
}

/** Reads the answer of a request that now waits for other people. */
export async function readAsked(answer: TransportAnswer): Promise<Problem> {
  const text = await readText(answer);
  const document = parsed(answer, text);
  return isRecord(document) && typeof document['id'] === 'string'
    ? new AskedForApproval(document as ConstructorParameters<typeof AskedForApproval>[0])
    : unexpected(answer, text, document);
}

/** `next` of RFC 8288, as a path with a query. */
export function nextPage(answer: Pick<TransportAnswer, 'header'>): string | undefined {
  const match = /<([^>]*)>[^,]*;\s*rel="?next"?/i.exec(answer.header('link') ?? '');
  if (match?.[1] === undefined) return undefined;
  const { pathname, search } = new URL(match[1], 'https://appliance');
  return pathname + search;
}

function unexpected(answer: TransportAnswer, text: string, document?: unknown, retryAfterSeconds?: number): Problem {
  const mediaType = answer.header('content-type') ?? 'no content-type';
  const shown = text.slice(0, shownCharacters).replaceAll(/\s+/g, ' ').trim();
  const detail = `No document of the appliance, but ${mediaType}${shown === '' ? '' : `: ${shown}`}`;
  return new Problem({ status: answer.status, code: 'unexpected-answer', detail, retryAfterSeconds, document: document ?? text });
}

function parsed(answer: TransportAnswer, text: string): unknown {
  if (!isJson(answer)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isJson(answer: TransportAnswer): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(answer.header('content-type') ?? '');
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Seconds; a date, which gateways may send, counts from now. */
function secondsOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1_000);
}
