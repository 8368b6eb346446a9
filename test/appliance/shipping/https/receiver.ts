// Receivers over HTTPS as strict as the real ones: Splunk HEC, Elastic _bulk, Loki, OTLP and JSON lines. Each can be made to misbehave.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { JsonObject } from '../../../../core/wire/json.ts';
import type { Pki } from '../pki.ts';

export type HttpsProtocol = 'json-lines' | 'splunk' | 'elastic' | 'loki' | 'otlp';

/** A record as it arrived; `document` is what the receiver would store. */
export type Arrived = { readonly id: string; readonly chain: string; readonly sequence?: number; readonly document: JsonObject };

export type Asked = {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly records: readonly Arrived[];
};

/**
 * Instead of what the receiver does by itself: an answer; `cut`: half of a good answer, then a reset, with the records stored; `silence`: no
 * answer; `trickle`: an octet now and then.
 */
export type Mischief =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | 'cut'
  | 'silence'
  | 'trickle';

export type HttpsReceiver = {
  readonly port: number;
  readonly requests: Asked[];
  /** what was stored, in order; Elastic stores an id once */
  readonly stored: Arrived[];
  /** what a real receiver would not have understood */
  readonly faults: string[];
  /** called for each request but those for acknowledgements */
  onRequest: ((asked: Asked) => Mischief | undefined) | undefined;
  /** status of a record by itself; elastic: in the answer; loki and otlp: one that is not 200 is refused */
  statusOf: (record: Arrived) => number;
  /** splunk: whether an acknowledgement is given now */
  isIndexed: (ackId: number) => boolean;
  close(): Promise<void>;
};

export type HttpsReceiverOptions = {
  readonly protocol: HttpsProtocol;
  readonly authorization?: string;
  readonly acknowledgements?: boolean;
  readonly demandClient?: boolean;
  readonly identity?: 'server' | 'outsider';
};

type Reply = { readonly status: number; readonly body: string; readonly stored: readonly Arrived[] };

export async function startHttpsReceiver(pki: Pki, options: HttpsReceiverOptions): Promise<HttpsReceiver> {
  const { protocol, authorization, demandClient = false, identity = 'server' } = options;
  const sockets = new Set<Socket>();
  const timers = new Set<NodeJS.Timeout>();
  const acknowledgements = new Acknowledgements();
  const server = createServer({
    key: readFileSync(identity === 'server' ? pki.serverKey : pki.outsiderKey),
    cert: readFileSync(identity === 'server' ? pki.server : pki.outsider),
    ca: readFileSync(pki.ca),
    requestCert: demandClient,
    rejectUnauthorized: demandClient,
  });
  const receiver: HttpsReceiver = {
    get port() {
      return (server.address() as AddressInfo).port;
    },
    ...{ requests: [], stored: [], faults: [], onRequest: undefined },
    statusOf: () => 200,
    isIndexed: () => true,
    close() {
      for (const timer of timers) clearInterval(timer);
      for (const socket of sockets) socket.destroy();
      return new Promise((done) => server.close(() => done()));
    },
  };
  const answer = (request: IncomingMessage, response: ServerResponse, body: string): void => {
    const { url = '', headers } = request;
    if (authorization !== undefined && headers.authorization !== authorization)
      return send(response, 401, `{"text":"Invalid: ${headers.authorization ?? 'none'}","code":4}`);
    if (protocol === 'splunk' && url.startsWith('/services/collector/ack'))
      return send(response, 200, acknowledgements.ask(new URL(url, 'https://x'), headers, body, receiver));
    const { path, mediaType, read, reply } = protocols[protocol];
    if (url !== path || request.method !== 'POST') return send(response, 404, 'not found');
    if (headers['content-type'] !== mediaType) receiver.faults.push(`content-type ${headers['content-type']}`);
    let records: readonly Arrived[] = [];
    try {
      records = read(body);
    } catch (error) {
      receiver.faults.push(String(error));
    }
    const asked = { url, headers, body, records };
    receiver.requests.push(asked);
    const mischief = receiver.onRequest?.(asked);
    if (mischief === 'silence') return;
    if (mischief === 'trickle') {
      response.writeHead(200, { 'content-length': 1_000 });
      timers.add(setInterval(() => response.write(' '), 20));
      return;
    }
    if (typeof mischief === 'object') return send(response, mischief.status, mischief.body ?? '', mischief.headers);
    let { status, body: text, stored } = reply(records, receiver);
    if (options.acknowledgements === true) {
      const channel = headers['x-splunk-request-channel'];
      if (typeof channel !== 'string') [status, text, stored] = [400, '{"text":"Data channel is missing","code":10}', []];
      else text = JSON.stringify({ text: 'Success', code: 0, ackId: acknowledgements.give(channel) });
    }
    receiver.stored.push(...stored);
    if (mischief === 'cut') {
      response.writeHead(200, { 'content-length': text.length + 1_000 });
      response.write(`${text} `, () => request.socket.destroy());
      return;
    }
    send(response, status, text);
  };
  server.on('request', (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => answer(request, response, Buffer.concat(chunks).toString('utf8')));
    request.on('error', () => undefined);
  });
  server.on('secureConnection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return receiver;
}

function send(response: ServerResponse, status: number, text: string, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

/** Of Splunk: each belongs to a channel, and is forgotten once it was reported as true. */
class Acknowledgements {
  readonly #byChannel = new Map<string, Set<number>>();
  #last = 0;

  give(channel: string): number {
    const ids = this.#byChannel.get(channel) ?? new Set();
    this.#byChannel.set(channel, ids.add(this.#last));
    return this.#last++;
  }

  ask(url: URL, headers: IncomingHttpHeaders, body: string, { isIndexed, faults }: HttpsReceiver): string {
    const channel = url.searchParams.get('channel') ?? headers['x-splunk-request-channel'];
    if (typeof channel !== 'string') faults.push('acknowledgements without a channel');
    const ids = this.#byChannel.get(String(channel)) ?? new Set();
    const { acks } = JSON.parse(body) as { acks: readonly number[] };
    const found = acks.map((id) => [id, ids.has(id) && isIndexed(id)] as const);
    for (const [id, isTrue] of found) if (isTrue) ids.delete(id);
    return JSON.stringify({ acks: Object.fromEntries(found) });
  }
}

type Protocol = {
  readonly path: string;
  readonly mediaType: string;
  /** throws when the body is not what the protocol wants */
  readonly read: (body: string) => readonly Arrived[];
  readonly reply: (records: readonly Arrived[], receiver: HttpsReceiver) => Reply;
};

const takeAll =
  (status: number, body: string) =>
  (records: readonly Arrived[]): Reply => ({ status, body, stored: records });

export const protocols: Readonly<Record<HttpsProtocol, Protocol>> = {
  'json-lines': {
    path: '/',
    mediaType: 'application/x-ndjson',
    read: (body) => jsonLines(body).map((document) => arrived(document, document['record-id'], document['chain'], document['sequence'])),
    reply: takeAll(200, ''),
  },
  splunk: {
    path: '/services/collector/event',
    mediaType: 'application/json',
    read: (body) =>
      jsonLines(`${body}\n`).map((document) => {
        const { time, host, sourcetype, event, fields } = document as { [name: string]: unknown; fields: JsonObject };
        if (typeof time !== 'number' || typeof host !== 'string' || typeof sourcetype !== 'string' || typeof event !== 'object')
          throw new Error(`no event of HEC: ${JSON.stringify(document)}`);
        return arrived(document, fields['id'], fields['chain'], fields['sequence']);
      }),
    reply: takeAll(200, '{"text":"Success","code":0}'),
  },
  elastic: {
    path: '/_bulk',
    mediaType: 'application/x-ndjson',
    read(body) {
      const lines = jsonLines(body);
      return Array.from({ length: lines.length / 2 }, (_, index) => {
        const { create } = lines[2 * index] as { create: JsonObject };
        const document = lines[2 * index + 1] as JsonObject;
        if (create['_index'] !== 'logs-keystored-default') throw new Error('no index');
        const event = document['event'] as JsonObject;
        return arrived(document, create['_id'], event['provider'], event['sequence']);
      });
    },
    reply: replyBulk,
  },
  loki: {
    path: '/loki/api/v1/push',
    mediaType: 'application/json',
    read(body) {
      const { streams } = JSON.parse(body) as {
        streams: readonly { stream: JsonObject; values: readonly [string, string, JsonObject][] }[];
      };
      return streams.flatMap(({ stream, values }) =>
        values.map(([time, line, meta]) => {
          if (!/^\d{19}$/.test(time) || Object.values({ ...stream, ...meta }).some((value) => typeof value !== 'string'))
            throw new Error(line);
          const { keystored_record_id: id, keystored_record_sequence: sequence } = meta;
          return arrived({ time, line, ...stream, ...meta }, id, stream['chain'], sequence === undefined ? undefined : Number(sequence));
        }),
      );
    },
    reply(records, { statusOf }) {
      // Loki stores what is well in a request and answers 400 for the rest.
      const stored = records.filter((record) => statusOf(record) === 200);
      return stored.length === records.length
        ? { status: 204, body: '', stored }
        : { status: 400, body: "entry with timestamp 2026-01-01 00:00:00 ignored, reason: 'entry too far behind'", stored };
    },
  },
  otlp: {
    path: '/v1/logs',
    mediaType: 'application/json',
    read(body) {
      const { resourceLogs } = JSON.parse(body) as { resourceLogs: readonly OtlpResource[] };
      return resourceLogs.flatMap(({ resource, scopeLogs }) =>
        scopeLogs.flatMap(({ logRecords }) =>
          logRecords.map(({ timeUnixNano, body: text, attributes }) => {
            if (!/^\d{19}$/.test(timeUnixNano)) throw new Error(`time ${timeUnixNano}`);
            const named = (from: readonly OtlpAttribute[], name: string) => from.find(({ key }) => key === name)?.value;
            const chain = named(resource.attributes, 'service.instance.id')?.stringValue?.split('/').at(-1);
            const sequence = named(attributes, 'keystored.record.sequence')?.intValue;
            const id = named(attributes, 'keystored.record.id')?.stringValue;
            return arrived({ line: text.stringValue }, id, chain, sequence === undefined ? undefined : Number(sequence));
          }),
        ),
      );
    },
    reply(records, { statusOf }) {
      const stored = records.filter((record) => statusOf(record) === 200);
      const rejectedLogRecords = String(records.length - stored.length);
      const body = stored.length === records.length ? {} : { partialSuccess: { rejectedLogRecords, errorMessage: 'too old' } };
      return { status: 200, body: JSON.stringify(body), stored };
    },
  },
};

type OtlpAttribute = { readonly key: string; readonly value: { readonly stringValue?: string; readonly intValue?: string } };
type OtlpResource = {
  readonly resource: { readonly attributes: readonly OtlpAttribute[] };
  readonly scopeLogs: readonly {
    readonly logRecords: readonly {
      readonly timeUnixNano: string;
      readonly body: { readonly stringValue: string };
      readonly attributes: readonly OtlpAttribute[];
    }[];
  }[];
};

/** Each record has a status of its own; an id that is there already is a 409. */
function replyBulk(records: readonly Arrived[], { stored, statusOf }: HttpsReceiver): Reply {
  const ids = new Set(stored.map(({ id }) => id));
  const taken: Arrived[] = [];
  const items = records.map((record) => {
    const own = statusOf(record);
    const status = own !== 200 ? own : ids.has(record.id) ? 409 : 201;
    if (status === 201) {
      ids.add(record.id);
      taken.push(record);
    }
    const error =
      status === 201 ? {} : { error: { type: status === 400 ? 'document_parsing_exception' : 'other', reason: `of ${randomUUID()}` } };
    return { create: { _index: 'logs-keystored-default', _id: record.id, status, ...error } };
  });
  const errors = items.some(({ create }) => create.status !== 201);
  return { status: 200, body: JSON.stringify({ took: 1, errors, items }), stored: taken };
}

/** Lines that each end, as NDJSON wants. */
function jsonLines(body: string): JsonObject[] {
  if (!body.endsWith('\n')) throw new Error('the last line does not end');
  return body
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject);
}

/** Records of the shipper itself are in no chain. */
function arrived(document: JsonObject, id: unknown, chain: unknown, sequence: unknown): Arrived {
  if (typeof id !== 'string') throw new Error(`no id: ${JSON.stringify(document)}`);
  return { id, chain: typeof chain === 'string' ? chain : 'shipper', ...(typeof sequence === 'number' ? { sequence } : {}), document };
}

/** Sequence numbers of a chain in the order of their storage. */
export function storedOf({ stored }: HttpsReceiver, chain: string): readonly number[] {
  return stored.flatMap((record) => (record.chain === chain && record.sequence !== undefined ? [record.sequence] : []));
}
