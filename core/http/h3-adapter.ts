// h3 in front of a handler: it creates the request event and passes every request on. Files are served with it in pages/static-file.ts.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { H3, type H3Event } from 'h3';
import { toNodeHandler } from 'h3/node';
import type { Handler } from './pipeline.ts';

/**
 * Serves a handler through h3. Routes, refusals and bodies stay with the handler, because h3 answers a wrong method with 404, echoes URLs
 * in its errors and matches several spellings of a path. The answer goes straight to the node response.
 */
export function throughH3(receive: Handler): Handler {
  const served = toNodeHandler(new PassOn(receive));
  return (request, response) => {
    // h3 makes a URL of Host and target and throws if it is invalid; the handler reads all forms of a target, and no Host.
    if (request.url?.startsWith('/') !== true) return receive(request, response);
    try {
      void served(request, response);
    } catch {
      // Only before it passes the request on: h3 keeps later errors to itself.
      receive(request, response);
    }
  };
}

/** h3 with one handler for everything. */
class PassOn extends H3 {
  readonly #receive: Handler;

  constructor(receive: Handler) {
    super({ allowMalformedURL: true, silent: true });
    this.#receive = receive;
  }

  override handler(event: H3Event): PromiseLike<never> {
    const { req, res } = event.runtime?.node ?? {};
    if (req === undefined || res === undefined) throw new Error('this app runs on node servers only');
    this.#receive(req as IncomingMessage, res as ServerResponse);
    return answered;
  }
}

/** Tells h3 to wait for an answer that never comes from the handler: a settled one would make it end the response a second time. */
// oxlint-disable-next-line unicorn/no-thenable -- a thenable is the point: h3 asks it for an answer that is out already
const answered: PromiseLike<never> = { then: () => answered };
