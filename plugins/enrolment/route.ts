// Routing of the listener: a protocol by the first segment of the path; CRLs, OCSP and CA certificates as the management listener serves them.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { defined } from '../../core/base/defined.ts';
import { clientAddressOf } from '../../core/http/listener/client-address.ts';
import type { Handler } from '../../core/http/pipeline.ts';
import { admitAny, readBody } from '../../core/http/request/body.ts';
import { readRequestPath } from '../../core/http/request/path.ts';
import { sendAnswer } from '../../core/http/response/answer.ts';
import type { Invoke } from '../../core/http/context/direct-exchange.ts';

/** Octets of an OCSP request at most, as the management listener takes them. */
const bodyLimitBytes = 4_096;

export function routeBySegment(protocols: ReadonlyMap<string, Handler>, invoke: Invoke): Handler {
  return (request, response) => {
    const [first = '', second] = readRequestPath(request.url ?? '')?.segments ?? [];
    const protocol = protocols.get(first);
    if (protocol !== undefined) protocol(request, response);
    else if (first === 'v1' && second === 'ca') passOn(invoke, request, response);
    else say(response, 404, 'Nothing is served here.');
  };
}

/** Asks the API, whose public endpoints below `/v1/ca` need no token; no credential of the client goes along. */
function passOn(invoke: Invoke, request: IncomingMessage, response: ServerResponse): void {
  const { method = 'GET', url = '/', headers } = request;
  readBody(request, bodyLimitBytes, admitAny, (body) => {
    if (!(body instanceof Uint8Array)) return say(response, 413, 'The body is too large for a question to OCSP.');
    const kept = {
      host: headers.host ?? '',
      ...defined({ 'content-type': headers['content-type'], 'if-none-match': headers['if-none-match'] }),
    };
    // The length of a HEAD is that of the GET (RFC 9110 8.6): caches that ask by it compare. Node leaves the body out.
    const asked = method === 'HEAD' ? 'GET' : method;
    invoke({ via: 'enrolment', method: asked, target: url, headers: kept, body, clientIp: clientAddressOf(request) }).then(
      (invoked) => sendAnswer(response, invoked.requestId, invoked),
      () => response.destroy(),
    );
  });
}

function say(response: ServerResponse, status: number, text: string): void {
  void sendAnswer(response, randomUUID(), { status, mediaType: 'text/plain; charset=utf-8', body: `${text}\n` });
}
