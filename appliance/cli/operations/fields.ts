// Fields of a body as options: one flag per field, containers with a slash (`--auto-rotate/rotate-after 90d`), and values read back by
// type.
import { isUtf8 } from 'node:buffer';
import { Option } from 'commander';
import { decodeBase64 } from '../../../core/base/bytes.ts';
import { fieldsOf, type JsonSchema } from '../../../core/http/description/document.ts';
import { rulesOf, typeOf } from '../../../core/http/description/words.ts';
import { usageError } from '../terminal/failure.ts';
import { readOctets, readText, readValue, type Io } from '../terminal/io.ts';

export type Field = {
  /** `auto-rotate/rotate-after`, as in `fields=` and in error messages */
  readonly path: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
};

/** Every field, containers included; members of lists and maps have no flags. */
export function fieldsIn(schema: JsonSchema | undefined, prefix = ''): Field[] {
  const required = new Set(schema?.required);
  return Object.entries(fieldsOf(schema ?? {})).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    return [{ path, schema: field, required: required.has(name) }, ...(field.type === 'object' ? fieldsIn(field, `${path}/`) : [])];
  });
}

/** The option of a field; collects the values as typed. */
export function fieldOption({ path, schema, required }: Field): Option {
  const container = path.split('/').slice(0, -1).join('/');
  const shown = placeholder(schema, path);
  const listed = (schema.enum ?? schema.items?.enum ?? []).map(String);
  const rules = [
    ...(listed.every((one) => shown.includes(one)) ? [] : [`one of ${listed.join(', ')}`]),
    ...(required ? [container === '' ? 'required' : `required in ${container}`] : []),
    ...rulesOf(schema),
  ];
  const { description = '' } = schema;
  const option = new Option(
    isFlag(schema) ? `--${path} [true|false]` : `--${path} <${shown}>`,
    [description, ...(rules.length === 0 ? [] : [`(${rules.join('; ')})`])].filter((part) => part !== '').join(' '),
  );
  return option.helpGroup('Fields:').argParser((text: string, before: readonly string[] | undefined) => [...(before ?? []), text]);
}

/** `--exportable` alone is `--exportable true`, `--no-exportable` is false; commander would take the next word as the value. */
export function spellFlags(words: readonly string[], flags: ReadonlySet<string>): string[] {
  return words.flatMap((word, index) => {
    const next = words[index + 1];
    const before = words[index - 1]?.slice(2) ?? '';
    if ((word === 'true' || word === 'false') && words[index - 1]?.startsWith('--') === true && flags.has(before)) return [];
    if (word.startsWith('--no-') && flags.has(word.slice(5))) return [`--${word.slice(5)}=false`];
    if (!word.startsWith('--') || !flags.has(word.slice(2))) return [word];
    return [`${word}=${next === 'false' ? 'false' : 'true'}`];
  });
}

/**
 * Message about a word after a flag that is neither true nor false, for the case that nothing takes it; undefined if there is no such word.
 */
export function wordBehindFlag(words: readonly string[], flags: ReadonlySet<string>): string | undefined {
  const at = words.findIndex((word, index) => {
    const next = words[index + 1] ?? '-';
    return flags.has(word.slice(2)) && word.startsWith('--') && !next.startsWith('-') && next !== 'true' && next !== 'false';
  });
  return at < 0 ? undefined : `\n  ${words[at]} is true or false, and "${words[at + 1]}" is neither`;
}

/** Names of the fields that are flags. */
export function flagsAmong(fields: readonly Field[]): string[] {
  return fields.filter(({ schema }) => isFlag(schema)).map(({ path }) => path);
}

/** Parses the typed value of a field, given once or several times. Throws a usage error that names the option and its type. */
export async function fieldValue({ path, schema }: Field, typed: readonly string[], io: Io, isRawText: boolean): Promise<unknown> {
  const [text = ''] = typed.slice(-1);
  if (schema.type === 'array') return (await Promise.all(typed.map((one) => listItems(one, schema.items ?? {}, path, io)))).flat();
  if ((schema.contentEncoding === 'base64' || schema['x-payload'] === true) && /^@(?!@)/.test(text)) {
    if (schema['x-produced'] === true) return producedOctets(await readOctets(text.slice(1), io));
    return isRawText ? readText(text.slice(1), io) : (await readOctets(text.slice(1), io)).toString('base64');
  }
  if (schema['x-text-or-base64'] === true && /^@(?!@)/.test(text)) {
    return textOrBase64(await readOctets(text.slice(1), io), schema['x-key-octets'] ?? [], nameOf(text.slice(1)));
  }
  return scalar(await readValue(text, io), schema, path);
}

/** Octets that were made, as they are or as the base64 that the appliance answers. */
function producedOctets(octets: Buffer): string {
  const text = octets.toString('latin1').replaceAll(/\s/g, '');
  return decodeBase64(text) === undefined ? octets.toString('base64') : text;
}

/**
 * Text as it is, other octets as base64. A secret key may consist of printable characters: its length tells it from base64. Throws a usage
 * error where it may be either: another key must not be taken in silence.
 */
function textOrBase64(octets: Buffer, keyOctets: readonly number[], name: string): string {
  if (!isUtf8(octets)) return octets.toString('base64');
  const whole = octets.toString();
  const text = decodeBase64(whole.trim()) === undefined ? whole : whole.trim();
  const isKey = keyOctets.includes(octets.length);
  const isBase64OfKey = keyOctets.includes(decodeBase64(text)?.length ?? -1);
  if (isKey && isBase64OfKey)
    throw usageError(
      `${name} may be a key of ${octets.length} octets or base64 of one: end it with a line end if it is base64, or give base64 of the octets`,
    );
  return isKey ? octets.toString('base64') : text;
}

function nameOf(path: string): string {
  return path === '-' ? 'standard input' : path;
}

async function listItems(typed: string, items: JsonSchema, path: string, io: Io): Promise<unknown[]> {
  const text = await readValue(typed, io);
  if (items.type === 'object' || text.startsWith('[')) {
    const value = await yamlValue(text, path);
    return Array.isArray(value) ? value : [value];
  }
  return [await scalar(text, items, path)];
}

async function scalar(text: string, schema: JsonSchema, path: string): Promise<unknown> {
  const choices = schema.properties === undefined ? (schema.anyOf ?? schema.oneOf) : undefined;
  if (choices !== undefined) {
    const fitting = choices.find((choice) => fits(text, choice)) ?? choices.find(({ type }) => type === undefined || type === 'string');
    return scalar(text, fitting ?? {}, path);
  }
  if (schema.type === 'object') return yamlValue(text, path);
  if (schema['x-words']?.includes(text) === true) return text;
  if (schema.type === 'string' || schema.type === undefined) return text;
  if (!fits(text, schema)) throw usageError(`--${path} must be ${typeOf(schema)}`);
  return schema.type === 'boolean' ? text === 'true' : Number(text);
}

function fits(text: string, { type, const: only }: JsonSchema): boolean {
  if (only !== undefined) return text === only || text === JSON.stringify(only);
  if (type === 'boolean') return text === 'true' || text === 'false';
  if (type === 'integer') return /^-?\d+$/.test(text);
  return type === 'number' && text.trim() !== '' && Number.isFinite(Number(text));
}

async function yamlValue(text: string, path: string): Promise<unknown> {
  const { parse } = await import('yaml');
  try {
    return parse(text) as unknown;
  } catch {
    throw usageError(`--${path} must be YAML or JSON, such as '{a: 1}' or '[a, b]'`);
  }
}

function isFlag({ type }: JsonSchema): boolean {
  return type === 'boolean';
}

/** Long enumerations are in the text: an option has the width of its placeholder. */
const longestPlaceholder = 24;

function placeholder(schema: JsonSchema, path: string): string {
  if (schema.enum !== undefined) {
    const choices = schema.enum.join('|');
    return choices.length <= longestPlaceholder ? choices : (path.split('/').at(-1) ?? '');
  }
  if (schema.type === 'array') return `${placeholder(schema.items ?? {}, path)}...`;
  if (schema.type === 'object') return 'yaml';
  return typeOf(schema).replaceAll(/[^a-z0-9]+/gi, '-');
}
