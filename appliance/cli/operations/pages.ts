// Answers in several pages: a search with few results covers a part at a time, and each answer tells where the next one goes on.
import type { IncomingMessage } from 'node:http';

/** Asks for a path and query. */
export type AskFor = (target: string) => Promise<IncomingMessage>;

/** The octets of an answer and of those that follow it, in the order of time: further answers to a search for the newest are older. */
export async function* wholeOf(first: IncomingMessage, askFor: AskFor): AsyncGenerator<Uint8Array> {
  const newer: Uint8Array[][] = [];
  for (let page = first; ;) {
    const target = nextOf(page);
    if (target !== undefined && new URLSearchParams(target.split('?')[1]).has('before')) newer.push(await Array.fromAsync(page));
    else yield* page as AsyncIterable<Uint8Array>;
    if (target === undefined) break;
    page = await askFor(target);
  }
  for (const chunks of newer.toReversed()) yield* chunks;
}

/** Path and query of the next page (RFC 8288, as the appliance writes it). */
export function nextOf({ headers: { link } }: Pick<IncomingMessage, 'headers'>): string | undefined {
  return typeof link === 'string' ? /^<(\/[^>]+)>; rel="next"$/.exec(link)?.[1] : undefined;
}
