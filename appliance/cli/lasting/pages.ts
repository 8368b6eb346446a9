// Lists of the appliance, whole: an answer has a page, and tells where the next one begins.
import { nextOf } from '../operations/pages.ts';
import type { LastingClient } from './client.ts';

/** The entries of every page. Throws CommandFailed. */
export async function askPages<Entry>(client: LastingClient, path: string, query: URLSearchParams): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for (let asked: URLSearchParams | undefined = query; asked !== undefined;) {
    const { headers, body } = await client.ask({ method: 'GET', path, query: asked });
    entries.push(...(JSON.parse(body.toString()) as readonly Entry[]));
    const next = nextOf({ headers });
    asked = next === undefined ? undefined : new URLSearchParams(next.split('?')[1]);
  }
  return entries;
}
