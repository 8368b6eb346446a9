// Sends by the platform's `fetch`: in browsers and at the edge, and in Node.js for a server whose CA the platform trusts.
import type { Transport } from './transport.ts';

export const fetchTransport: Transport = {
  async send({ method, url, headers, body, signal }) {
    const answer = await fetch(url, {
      method,
      headers,
      signal,
      redirect: 'manual',
      ...(body === undefined ? {} : { body: body as Uint8Array<ArrayBuffer> }),
    });
    return { status: answer.status, header: (name) => answer.headers.get(name) ?? undefined, body: chunksOf(answer.body) };
  },
};

/** Not every browser iterates streams. */
async function* chunksOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array, void, undefined> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
