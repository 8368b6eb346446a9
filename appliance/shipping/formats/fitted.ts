// JSON in ASCII that fits into so many octets: the longest fields are cut first, and named.
import type { JsonObject, JsonValue } from '../../../core/wire/json.ts';

/** Fields that say which record it is, and who did what: they are never cut. */
const kept: ReadonlySet<string> = new Set([
  ...['chain', 'sequence', 'previous', 'kind', 'event', 'occurred-at', 'request-id', 'tenant', 'tenant-id', 'accessor', 'method', 'status'],
  ...['code', 'hash', 'id', 'level', 'component', '@timestamp'],
]);

const mark = '…';

/** `cut`: names of the fields that are shortened or left out. */
export function fittedJson(record: JsonObject, room: number): { readonly text: string; readonly cut: readonly string[] } {
  let text = asciiJson(record);
  if (text.length <= room) return { text, cut: [] };
  const fields: Record<string, JsonValue> = { ...record };
  const cut: string[] = [];
  const longestFirst = Object.keys(record)
    .filter((name) => !kept.has(name))
    .toSorted((a, b) => lengthOf(record[b]) - lengthOf(record[a]));
  for (const name of longestFirst) {
    const value = record[name] as JsonValue;
    // What is no text cannot be shortened and stay JSON.
    const whole = typeof value === 'string' ? value : asciiJson(value);
    const spare = room - text.length + lengthOf(value) - 2 - asciiJson(mark).length;
    fields[name] = spare > 0 ? `${cutTo(whole, spare)}${mark}` : mark;
    cut.push(name);
    text = asciiJson(fields);
    if (text.length <= room) break;
  }
  return { text, cut };
}

/** JSON whose every character is one octet. */
export function asciiJson(value: JsonValue): string {
  return JSON.stringify(value).replaceAll(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The longest beginning whose JSON has at most so many octets; no half of a pair of surrogates. */
function cutTo(text: string, most: number): string {
  let length = Math.min(text.length, most);
  while (length > 0 && lengthOf(text.slice(0, length)) - 2 > most) length = Math.floor(length * 0.9);
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}

function lengthOf(value: JsonValue | undefined): number {
  return value === undefined ? 0 : asciiJson(value).length;
}
