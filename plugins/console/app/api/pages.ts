// Lists that come in pages.
import { send, type Answer, type Request } from './request.ts';

/** The query parameter `after` of the next page; undefined after the last one. */
export function nextAfter(headers: Headers): string | undefined {
  const next = /<([^>]+)>;\s*rel="?next"?/.exec(headers.get('link') ?? '')?.[1];
  return next === undefined ? undefined : (new URL(next, location.href).searchParams.get('after') ?? undefined);
}

/** Sends a request for a list as often as it has pages: the last answer, with the entries of all. Rejects as `send` does. */
export async function sendAll(request: Request, flow: typeof send = send, signal?: AbortSignal): Promise<Answer> {
  const all: unknown[] = [];
  for (let after: string | undefined; ;) {
    const answer = await flow({ ...request, query: { ...request.query, ...(after === undefined ? {} : { after }) } }, signal);
    all.push(...(answer.body as readonly unknown[]));
    after = nextAfter(answer.headers);
    if (after === undefined) return { ...answer, body: all };
  }
}
