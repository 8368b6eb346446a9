// Messages of RFC 5424, framed by octet counting (RFC 5425 section 4.3).
import type { Destination } from '../../../core/config/shipping.ts';
import type { ShippedRecord } from './records.ts';
import { cefOf, cutCef } from './cef.ts';
import { ecsOf } from './ecs.ts';
import { fittedJson } from './fitted.ts';

export type SyslogOptions = Pick<Destination, 'enterpriseNumber' | 'maxRecordBytes' | 'format'> & {
  /** HOSTNAME of the messages */
  readonly host: string;
};

/** RFC 5424 section 6.2.1: log audit, system daemons. */
const facilities = { audit: 13, logs: 3, shipping: 13 } as const;

/** LENGTH SP MESSAGE, the length in octets. */
export function frame(message: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(message)} ${message}`);
}

/**
 * One message, ASCII alone, at most `maxRecordBytes` long. MSG is JSON without a byte order mark, which the standard wants before UTF-8 and
 * readers of JSON choke on. Fields that are cut are named in the structured data.
 */
export function syslogMessage(record: ShippedRecord, { enterpriseNumber, maxRecordBytes, format, host }: SyslogOptions): string {
  const { source, severity, stream, kind, sequence, digest, id } = record;
  const priority = facilities[source] * 8 + severity.syslog;
  const header = `<${priority}>1 ${isTimestamp.test(record.occurredAt) ? record.occurredAt : '-'} ${token(host, 255)} keystored ${token(stream, 128)} ${token(kind, 32)}`;
  const place = source === 'audit' ? { chain: stream, sequence, digest } : { stream };
  const data = (cut: readonly string[]): string =>
    element(`${source}@${enterpriseNumber}`, { ...place, id, ...(cut.length === 0 ? {} : { cut: namesOf(cut) }) });
  // Room for the names of the fields that are cut.
  const room = maxRecordBytes - header.length - data([]).length - 2 - namesRoom;
  const { text, cut } = fitted[format](record, room);
  return `${header} ${data(cut)} ${text}`;
}

/** MSG of each format within so many octets. */
const fitted: Readonly<Record<Destination['format'], (record: ShippedRecord, room: number) => ReturnType<typeof fittedJson>>> = {
  json: ({ record }, room) => fittedJson(record, room),
  ecs(record, room) {
    const whole = fittedJson(ecsOf(record), room);
    if (whole.cut.length === 0) return whole;
    const { text, cut } = fittedJson(ecsOf(record, false), room);
    return { text, cut: ['event.original', ...cut] };
  },
  cef(record, room) {
    const text = cefOf(record);
    return text.length <= room ? { text, cut: [] } : { text: cutCef(text, room), cut: ['cef'] };
  },
};

/** For ` cut="…"`. */
const namesRoom = 128;

/** As many names as there is room for; `...` stands for the others. */
function namesOf(cut: readonly string[]): string {
  const most = namesRoom - ' cut="" ...'.length;
  let names = '';
  for (const name of cut) {
    const longer = `${names} ${name}`.trimStart();
    if (element('', { cut: longer }).length > most) return `${names} ...`.trimStart();
    names = longer;
  }
  return names;
}

/** RFC 5424 section 6.2.3; anything else in a record that somebody wrote into the trail would be taken for the next field. */
const isTimestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z$/;

/** `[id name="value" …]`: of the value only `"`, `\` and `]` are escaped (section 6.3.3). */
function element(id: string, parameters: Readonly<Record<string, string | number | undefined>>): string {
  const parts = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [` ${name}="${ascii(String(value)).replaceAll(/["\\\]]/g, '\\$&')}"`],
  );
  return `[${id}${parts.join('')}]`;
}

/** A field of the header: printable ASCII without spaces, `-` when empty. */
function token(text: string, longest: number): string {
  const printable = text.replaceAll(/[^\x21-\x7e]/g, '').slice(0, longest);
  return printable === '' ? '-' : printable;
}

function ascii(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 256);
}
