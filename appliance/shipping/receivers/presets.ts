// Presets of each HTTPS receiver: path, body, and the records that an answer refuses.
import type { Destination, ShippingProtocol } from '../../../core/config/shipping.ts';
import type { JsonObject, JsonValue } from '../../../core/wire/json.ts';
import { ecsOf } from '../formats/ecs.ts';
import type { ShippedRecord } from '../formats/records.ts';
import { ReceiverError, type Refused } from './receiver.ts';

export type Preset = {
  /** path for a URL that has none */
  readonly path: string;
  readonly mediaType: string;
  /** `host`: name of this appliance */
  body(records: readonly ShippedRecord[], destination: Destination, host: string): string;
  headers?(destination: Destination, channel: string): Readonly<Record<string, string>>;
  /** Reads an answer of 2xx: the records that were refused nevertheless. Throws ReceiverError if some are to be sent again. */
  judge?(answer: object, records: readonly ShippedRecord[]): readonly Refused[];
};

export const presets: Readonly<Record<Exclude<ShippingProtocol, 'syslog'>, Preset>> = {
  'json-lines': {
    path: '/',
    mediaType: 'application/x-ndjson',
    body: (records, destination) => records.map((record) => `${JSON.stringify(documentOf(record, destination))}\n`).join(''),
  },
  splunk: {
    path: '/services/collector/event',
    mediaType: 'application/json',
    body: (records, destination, host) => records.map((record) => JSON.stringify(splunkEvent(record, destination, host))).join('\n'),
    headers: ({ acknowledgements }, channel) => (acknowledgements ? { 'x-splunk-request-channel': channel } : {}),
  },
  elastic: {
    path: '/_bulk',
    mediaType: 'application/x-ndjson',
    body: (records, destination) => records.map((record) => elasticLines(record, destination)).join(''),
    judge: judgeBulk,
  },
  loki: {
    path: '/loki/api/v1/push',
    mediaType: 'application/json',
    body: (records, destination, host) => JSON.stringify({ streams: lokiStreams(records, destination, host) }),
    headers: ({ tenant }) => (tenant === undefined ? {} : { 'x-scope-orgid': tenant }),
  },
  otlp: {
    path: '/v1/logs',
    mediaType: 'application/json',
    body: (records, destination, host) => JSON.stringify(otlpLogs(records, destination, host)),
    judge: judgeOtlp,
  },
};

/** The record as it is with the id that tells doubles, or as ECS. */
function documentOf(record: ShippedRecord, { format }: Destination): JsonObject {
  return format === 'ecs' ? ecsOf(record) : { ...record.record, 'record-id': record.id };
}

/** Seconds since 1970 with six decimals, as text and exact; undefined when the record has no time. */
function epochOf({ occurredAt }: ShippedRecord): { readonly seconds: number; readonly nanoseconds: string } | undefined {
  const milliseconds = Date.parse(occurredAt);
  if (Number.isNaN(milliseconds)) return undefined;
  const micro = /\.(\d{6})Z$/.exec(occurredAt)?.[1] ?? '000000';
  const whole = Math.floor(milliseconds / 1_000);
  return { seconds: Number(`${whole}.${micro}`), nanoseconds: `${whole}${micro}000` };
}

function splunkEvent(record: ShippedRecord, destination: Destination, host: string): JsonObject {
  const { index, sourceType } = destination;
  const { source, stream, sequence, id } = record;
  const time = epochOf(record)?.seconds;
  return {
    ...(time === undefined ? {} : { time }),
    ...{ host, source: `keystored:${stream}`, sourcetype: sourceType ?? `keystored:${source}` },
    ...(index === undefined ? {} : { index }),
    event: documentOf(record, destination),
    fields: { id, chain: stream, ...(sequence === undefined ? {} : { sequence }) },
  };
}

/** `create` with an id that we give: a record that is sent twice is a 409, and data streams take nothing but `create`. */
function elasticLines(record: ShippedRecord, destination: Destination): string {
  const { index } = destination;
  const action = { create: { ...(index === undefined ? {} : { _index: index }), _id: record.id } };
  return `${JSON.stringify(action)}\n${JSON.stringify(documentOf(record, destination))}\n`;
}

/** HTTP 200 says nothing about the records: each has a status of its own. */
function judgeBulk(answer: object, records: readonly ShippedRecord[]): readonly Refused[] {
  const { items } = answer as { readonly items?: readonly Readonly<Record<string, BulkItem | undefined>>[] };
  if (!Array.isArray(items) || items.length !== records.length)
    throw new ReceiverError('the receiver does not answer as _bulk does: correct url');
  return items.flatMap((item: Readonly<Record<string, BulkItem | undefined>>, index): readonly Refused[] => {
    const { status = 0, error } = Object.values(item)[0] ?? {};
    if ((status >= 200 && status < 300) || status === 409) return [];
    const reason = `status ${status}: ${error?.type ?? 'no type'}: ${error?.reason ?? 'no reason'}`;
    if (status === 429 || status >= 500 || status === 401 || status === 403 || status === 404 || status === 0)
      throw new ReceiverError(`the receiver did not take every record (${reason.slice(0, 200)})`);
    return [{ index, reason }];
  });
}

type BulkItem = { readonly status?: number; readonly error?: { readonly type?: string; readonly reason?: string } };

/** Few labels, all with few values: each combination is a stream of its own. Properties of single records are structured metadata. */
function lokiStreams(records: readonly ShippedRecord[], destination: Destination, host: string): readonly JsonValue[] {
  const byStream = Map.groupBy(records, ({ source, stream }) => `${source} ${stream}`);
  return [...byStream.values()].map((members) => {
    const [{ source, stream }] = members as [ShippedRecord];
    return {
      stream: { ...destination.labels, service_name: 'keystored', host, source, chain: stream },
      values: members.map((record) => [
        epochOf(record)?.nanoseconds ?? '0',
        destination.format === 'ecs' ? JSON.stringify(ecsOf(record)) : record.text,
        Object.fromEntries(attributes(record).map(([key, value]) => [key.replaceAll('.', '_'), String(value)])),
      ]),
    };
  });
}

function attributes({ id, kind, sequence, digest }: ShippedRecord): readonly (readonly [string, string | number])[] {
  return [
    ['keystored.record.id', id],
    ['keystored.record.kind', kind],
    ...(sequence === undefined ? [] : ([['keystored.record.sequence', sequence]] as const)),
    ...(digest === undefined ? [] : ([['keystored.record.digest', digest]] as const)),
  ];
}

/** OpenTelemetry in JSON: 64-bit numbers are texts. */
function otlpLogs(records: readonly ShippedRecord[], destination: Destination, host: string): JsonObject {
  const text = (key: string, value: string): JsonObject => ({ key, value: { stringValue: value } });
  const byStream = Map.groupBy(records, ({ source, stream }) => `${source} ${stream}`);
  return {
    resourceLogs: [...byStream.values()].map((members) => {
      const [{ source, stream }] = members as [ShippedRecord];
      return {
        resource: {
          attributes: [text('service.name', 'keystored'), text('host.name', host), text('service.instance.id', `${host}/${stream}`)],
        },
        scopeLogs: [
          {
            scope: { name: `keystored.${source}` },
            logRecords: members.map((record) => ({
              timeUnixNano: epochOf(record)?.nanoseconds ?? '0',
              severityNumber: record.severity.otlp,
              severityText: record.severity.text,
              body: { stringValue: destination.format === 'ecs' ? JSON.stringify(ecsOf(record)) : record.text },
              attributes: attributes(record).map(([key, value]) =>
                typeof value === 'number' ? { key, value: { intValue: String(value) } } : text(key, value),
              ),
            })),
          },
        ],
      };
    }),
  };
}

/** A collector says how many it refused, and not which: all are refused, and are then sent one by one. */
function judgeOtlp(answer: object, records: readonly ShippedRecord[]): readonly Refused[] {
  const { partialSuccess } = answer as { partialSuccess?: { rejectedLogRecords?: number | string; errorMessage?: string } };
  if (Number(partialSuccess?.rejectedLogRecords ?? 0) === 0) return [];
  const reason = partialSuccess?.errorMessage ?? 'no reason';
  return records.map((_, index) => ({ index, reason }));
}
