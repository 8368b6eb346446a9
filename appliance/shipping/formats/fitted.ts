// JSON in ASCII that fits into so many octets: the longest fields are cut first, and named.
import type { JsonObject, JsonValue } from '../../../core/wire/json.ts';

/** Fields that identify the record, its author and its action: they are cut last. */
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
  const cutOrder = Object.keys(record).toSorted(
    (a, b) => Number(kept.has(a)) - Number(kept.has(b)) || lengthOf(record[b]) - lengthOf(record[a]),
  );
  for (const isLast of [false, true]) {
    const these = cutOrder.filter((name) => kept.has(name) === isLast);
    for (const name of these) {
      const value = record[name] as JsonValue;
      // Cutting a text that is shorter than the mark would save nothing.
      if (lengthOf(value) <= lengthOf(mark)) continue;
      // Only a text can be shortened and stay JSON.
      const whole = typeof value === 'string' ? value : asciiJson(value);
      const spare = room - text.length + lengthOf(value) - lengthOf(mark);
      fields[name] = spare > 0 ? `${cutTo(whole, spare)}${mark}` : mark;
      cut.push(name);
      text = asciiJson(fields);
      if (text.length <= room) return { text, cut };
    }
    // So many fields that not even their marks fit: they are left out.
    for (const name of these) {
      Reflect.deleteProperty(fields, name);
      text = asciiJson(fields);
      if (text.length <= room) return { text, cut };
    }
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
