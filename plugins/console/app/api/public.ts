// Requests that need no session: in the name of nobody.
import { Refusal, unreachable } from './request.ts';

/** Posts JSON and answers the parsed body. Rejects with Refusal. */
export async function ask(path: string, body: object): Promise<unknown> {
  const response = await fetch(path, {
    method: 'POST',
    credentials: 'omit',
    cache: 'no-store',
    redirect: 'error',
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch(() => {
    throw new Refusal(0, unreachable, undefined);
  });
  const answer: unknown = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  throw new Refusal(response.status, answer as Readonly<Record<string, unknown>>, response.headers.get('request-id') ?? undefined);
}
