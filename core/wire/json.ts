// Parses JSON from outside: strict UTF-8, an object, limited depth and number of members, no duplicate members.
import { isUtf8 } from 'node:buffer';
import { fail } from '../base/errors.ts';

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [name: string]: JsonValue };

/** Deepest accepted nesting of objects and lists. */
const maxJsonDepth = 32;
/** Limit of members and list elements of a body: a batch of 1,000 needs about 10,000. */
const maxJsonMembers = 65_536;
/** Limit of members of one object: the check of each name (rule of a map, unknown field) is cheap only up to about a thousand. */
const maxObjectMembers = 1_024;

/**
 * Parses a body. Throws `invalid-json` for everything that is not one JSON object in UTF-8. Duplicate members are refused (RFC 7493
 * section 2.3): readers disagree about which one counts, so a proxy may have judged another one.
 */
export function parseJsonObject(body: Uint8Array): JsonObject {
  if (!isUtf8(body)) throw refuse('The body must be UTF-8.');
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  if (text.startsWith('\u{feff}'))
    throw refuse('The body begins with a byte order mark, which JSON does not allow (RFC 8259 section 8.1): leave it out.');
  const members = countMembers(text);
  const value = parse(text);
  if (!isJsonObject(value)) throw refuse('The body must be a JSON object.');
  if (members > 1 && members !== countNames(value)) throw refuse('The body has the same member twice.');
  return value;
}

/** A JSON value that is an object; lists and null are not. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value that no rule of bodies is for; undefined where the text is not JSON. */
export function parseIfJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // The parser's own message quotes the text.
    throw refuse('The body is not JSON.');
  }
}

/**
 * The number of members in the text: the colons outside strings. Runs before the parser, so that a deeply nested or crowded text costs
 * nothing; skips from quote to quote, so that long strings are fast.
 */
function countMembers(text: string): number {
  let depth = 0;
  let colons = 0;
  let commas = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === 0x22) at = endOfString(text, at);
    else if (character === 0x3a) colons++;
    else if (character === 0x2c) commas++;
    else if (character === 0x7b || character === 0x5b) depth++;
    else if (character === 0x7d || character === 0x5d) depth--;
    if (depth > maxJsonDepth) throw refuse(`The body is nested deeper than ${maxJsonDepth} levels.`);
    if (colons + commas > 2 * maxJsonMembers) throw refuse(`The body has more than ${maxJsonMembers} members.`);
  }
  return colons;
}

/** Index of the closing quote; without one the end of the text, which the parser then reports. */
function endOfString(text: string, open: number): number {
  let close = text.indexOf('"', open + 1);
  while (close !== -1 && isEscaped(text, close)) close = text.indexOf('"', close + 1);
  return close === -1 ? text.length : close;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++;
  return backslashes % 2 === 1;
}

/** The number of members that the parser kept: of duplicates it keeps one. */
function countNames(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 0;
  let names = 0;
  if (Array.isArray(value)) {
    for (const element of value) names += countNames(element);
    return names;
  }
  const own = Object.keys(value);
  if (own.length > maxObjectMembers) throw refuse(`An object of the body has more than ${maxObjectMembers} members.`);
  for (const name of own) names += 1 + countNames((value as JsonObject)[name] as JsonValue);
  return names;
}

function refuse(detail: string) {
  return fail('invalid-json', { detail });
}
