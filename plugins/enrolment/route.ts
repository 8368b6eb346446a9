// Routing of the listener: a protocol by the first segment of the path; CRLs, OCSP and CA certificates as the management listener serves them.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { clientAddressOf } from '../../core/http/listener/client-address.ts';
import type { Handler } from '../../core/http/pipeline.ts';
import { admitAny, readBody } from '../../core/http/request/body.ts';
import { readRequestPath } from '../../core/http/request/path.ts';
import type { Invoke } from '../../core/http/context/direct-exchange.ts';

/** Octets of an OCSP request at most, as the management listener takes them. */
const bodyLimitBytes = 4_096;

export function routeBySegment(protocols: ReadonlyMap<string, Handler>, invoke: Invoke): Handler {
  return (request, response) => {
    const [first = '', second] = readRequestPath(request.url ?? '')?.segments ?? [];
    const protocol = protocols.get(first);
    if (protocol !== undefined) protocol(request, response);
    else if (first === 'v1' && second === 'ca') passOn(invoke, request, response);
    else answer(response, 404, { 'content-type': 'text/plain; charset=utf-8' }, 'Nothing is served here.\n');
  };
}

/** Asks the API, whose public endpoints below `/v1/ca` need no token; no credential of the client goes along. */
function passOn(invoke: Invoke, request: IncomingMessage, response: ServerResponse): void {
  const { method = 'GET', url = '/', headers } = request;
  readBody(request, bodyLimitBytes, admitAny, (body) => {
    if (!(body instanceof Uint8Array))
      return answer(response, 413, { 'content-type': 'text/plain; charset=utf-8' }, 'The body is too large for a question to OCSP.\n');
    const contentType = headers['content-type'];
    const kept = { host: headers.host ?? '', ...(contentType === undefined ? {} : { 'content-type': contentType }) };
    invoke({ via: 'enrolment', method, target: url, headers: kept, body, clientIp: clientAddressOf(request) }).then(
      (invoked) => answer(response, invoked.status, invoked.headers ?? {}, invoked.body),
      () => response.destroy(),
    );
  });
}

type Headers = Readonly<Record<string, string | readonly string[]>>;

function answer(response: ServerResponse, status: number, headers: Headers, body: unknown): void {
  if (response.destroyed || response.headersSent) return;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.statusCode = status;
  if (typeof body === 'string' || body instanceof Uint8Array) response.end(body);
  else response.end();
}
