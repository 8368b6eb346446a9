// What h3 costs a request, in processor time, from the parsed request to the answer in the socket: `node test/bench/dispatch.ts`. Four ways
// to serve the same routes, in alternating rounds of one run: without h3, with h3 passing everything on, with h3 finding the route, and
// with h3 finding the route and sending the answer.
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { H3, HTTPResponse, type H3Event } from 'h3';
import { toNodeHandler } from 'h3/node';
import { throughH3 } from '../../core/http/h3-adapter.ts';
import { HttpExchange } from '../../core/http/context/exchange.ts';
import { definePublicEndpoint, type AnyEndpoint } from '../../core/http/endpoint.ts';
import { sendAnswer } from '../../core/http/response/answer.ts';
import { buildRoutes } from '../../core/http/routes.ts';
import { Router } from '../../core/http/routing.ts';
import { median } from './measure/rounds.ts';

const idle = new Socket();
const answerHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'strict-transport-security': 'max-age=31536000',
  'request-id': 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6',
  'content-type': 'application/json',
};

type Serve = (request: IncomingMessage, response: ServerResponse) => unknown;

const resources = ['tenants', 'policy/policies', 'keystore/transit-keys', 'keystore/openpgp-keys', 'keystore/tls/ca', 'keystore/approles'];
const actions = ['encrypt', 'decrypt', 'sign', 'verify', 'hmac', 'rewrap', 'rotate', 'export', 'trim', 'import', 'backup', 'restore'];
const endpoints = [
  ...resources.flatMap((resource) => [
    ...['config', 'state'].flatMap((tree) => [entry('GET', `/v1/${tree}/${resource}`), entry('GET', `/v1/${tree}/${resource}/{name}`)]),
    ...(['PUT', 'PATCH', 'DELETE'] as const).map((method) => entry(method, `/v1/config/${resource}/{name}`)),
    entry('POST', `/v1/config/${resource}`),
  ]),
  ...actions.map((action) => entry('POST', `/v1/state/keystore/transit-keys/{name}/${action}`)),
];

/** Paths as clients send them: a few names, again and again, and one that is new every time. */
const targets = ['orders', 'payments', 'backups'].map((name) => `/v1/state/keystore/transit-keys/${name}/encrypt`);
const freshEvery = 4;

const requestId = 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6';
const body = JSON.stringify({ ciphertext: 'x'.repeat(120) });

/** Answered by h3 when it is not answered by us. */
// oxlint-disable-next-line unicorn/no-thenable -- as in the adapter: h3 waits for an answer that is out already
const answered: PromiseLike<never> = { then: () => answered };

const ways: Readonly<Record<string, Serve>> = { 'without h3': direct(), 'h3 passes on': throughH3(direct()), ...routed() };

const perRound = 20_000;
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 15);
const found: Record<string, number[]> = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
for (let round = -3; round < rounds; round++) {
  for (const [name, serve] of Object.entries(ways)) {
    const micros = await measure(serve);
    if (round >= 0) found[name]?.push(micros);
  }
}
const base = median(found['without h3'] ?? []);
console.log(`processor time a request, us: median of ${rounds} alternating rounds of ${perRound} requests, ${endpoints.length} endpoints`);
for (const [name, values] of Object.entries(found)) {
  const middle = median(values);
  console.log(`${name.padEnd(28)} ${middle.toFixed(2).padStart(7)}  ${(middle - base >= 0 ? '+' : '') + (middle - base).toFixed(2)}`);
}

async function measure(serve: Serve): Promise<number> {
  const before = process.cpuUsage();
  for (let sent = 0; sent < perRound; sent++) {
    await new Promise<void>((resolve) => {
      const { request, response } = exchangeOf(sent % freshEvery === 0 ? `/v1/config/tenants/t${sent}` : (targets[sent % 3] ?? ''), sent);
      response.once('finish', resolve);
      serve(request, response);
    });
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / perRound;
}

function exchangeOf(url: string, sent: number): { request: IncomingMessage; response: ServerResponse } {
  const request = new IncomingMessage(idle);
  request.url = url;
  request.method = sent % freshEvery === 0 ? 'GET' : 'POST';
  request.httpVersionMajor = 1;
  request.httpVersionMinor = 1;
  const headers = { host: '127.0.0.1:4433', authorization: `Bearer ${requestId}`, 'content-type': 'application/json', accept: '*/*' };
  request.headers = headers;
  request.rawHeaders = Object.entries(headers).flat();
  const response = new ServerResponse(request);
  response.assignSocket(drain() as unknown as Socket);
  return { request, response };
}

function drain(): Duplex {
  return new Duplex({ read() {}, write: (_chunk, _encoding, done) => done(), writev: (_chunks, done) => done() });
}

function direct(): Serve {
  const router = new Router(buildRoutes(endpoints));
  return (request, response) => {
    const routedTo = router.find(new HttpExchange(request, response));
    void sendAnswer(response, requestId, { status: 'route' in routedTo ? 200 : 404, mediaType: 'application/json', body });
  };
}

function routed(): Readonly<Record<string, Serve>> {
  const ours = new H3({ allowMalformedURL: true, silent: true });
  const its = new H3({ allowMalformedURL: true, silent: true });
  for (const { method, path } of endpoints) {
    const template = path.replaceAll(/\{([^}]+)\}/g, ':$1');
    ours.on(method, template, (event: H3Event) => {
      const { res } = event.runtime?.node ?? {};
      void sendAnswer(res as ServerResponse, requestId, {
        status: event.context.params === null ? 404 : 200,
        mediaType: 'application/json',
        body,
      });
      return answered;
    });
    its.on(method, template, () => new HTTPResponse(body, { status: 200, headers: answerHeaders }));
  }
  return { 'h3 finds the route': toNodeHandler(ours), 'h3 finds it and answers': toNodeHandler(its) };
}

function entry(method: AnyEndpoint['method'], path: string): AnyEndpoint {
  return definePublicEndpoint<undefined, undefined>({
    ...{ method, path, tag: { name: 'bench', description: 'Of tests.' }, summary: path },
    access: 'public',
    audit: 'none',
    run: () => undefined,
  });
}
