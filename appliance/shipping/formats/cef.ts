// Records in the Common Event Format (ArcSight). It has no nesting, so the parameters of requests are left out.
import type { ShippedRecord } from './records.ts';
import { asciiJson } from './fitted.ts';
import { actionOf } from './ecs.ts';

/** Extension keys by field of the record; those that may be long are last, where a message that is too long is cut. */
const extensions: readonly (readonly [key: string, field: string])[] = [
  ['suser', 'user'],
  ['suid', 'accessor'],
  ['src', 'client-ip'],
  ['requestMethod', 'method'],
  ['externalId', 'request-id'],
  ['reason', 'code'],
  ['request', 'path'],
  ['requestClientApplication', 'user-agent'],
  ['msg', 'message'],
];

/** `CEF:0|keystored|keystored|1|kind|name|severity|key=value …` */
export function cefOf({ kind, stream, occurredAt, severity, sequence, digest, record }: ShippedRecord): string {
  const milliseconds = Date.parse(occurredAt);
  const fields: readonly (readonly [string, unknown])[] = [
    ['rt', Number.isNaN(milliseconds) ? undefined : milliseconds],
    ['outcome', typeof record['status'] === 'number' ? (record['status'] < 400 ? 'success' : 'failure') : undefined],
    ['cn1', sequence],
    ['cn1Label', sequence === undefined ? undefined : 'sequence'],
    ['cs1', digest],
    ['cs1Label', digest === undefined ? undefined : 'digest'],
    ['cs3', stream],
    ['cs3Label', 'chain'],
    ['cn2', record['request-time-ms']],
    ['cn2Label', record['request-time-ms'] === undefined ? undefined : 'milliseconds'],
    ['cs2', record['tenant']],
    ['cs2Label', record['tenant'] === undefined ? undefined : 'tenant'],
    ...extensions.map(([key, field]) => [key, record[field]] as const),
  ];
  const extension = fields.flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${valueText(value)}`])).join(' ');
  return `CEF:0|keystored|keystored|1|${headerText(kind)}|${headerText(actionOf(record, kind))}|${severity.cef}|${extension}`;
}

/** The beginning of a CEF text, without a part of an escape at its end. */
export function cutCef(text: string, most: number): string {
  const whole = /^(?:[^\\]|\\u[0-9a-f]{4}|\\[^u])*/.exec(text.slice(0, most));
  return whole?.[0] ?? '';
}

function headerText(text: string): string {
  return ascii(text.replaceAll(/[|\\]/g, '\\$&'));
}

function valueText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return ascii(text.replaceAll(/[=\\]/g, '\\$&'));
}

/** ASCII; other characters as JSON escapes them, line ends as `\n`. */
function ascii(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, (character) => asciiJson(character).slice(1, -1));
}
