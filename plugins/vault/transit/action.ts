// An action on a key, as the routes of transit keys translate it; parts that several of them share.
import { fail } from '../../../core/base/errors.ts';
import type { Asked, InvokeFurther, Outcome } from '../../../core/http/alias.ts';
import type { Answer } from '../../../core/http/response/answer.ts';
import type { KeyNature } from '../../../core/plugin/services/transit-keys.ts';
import type { JsonObject, JsonValue } from '../../../core/wire/json.ts';
import type { Facade } from '../facade.ts';
import type { Fields } from '../fields.ts';
import { valueToTheirs } from './values.ts';

/** An action on one key: how an item of a request is read, and one of an answer written. */
export type Action = {
  readonly facade: Facade;
  /** path below the mount, with `{name}` */
  readonly path: string;
  /** action of our endpoint */
  readonly action: string;
  /** Fields of one item, in our words, as a new object. */
  read(fields: Fields, use: Use): Record<string, JsonValue>;
  /** For the many items of a batch; `write` for single answers, too. */
  readonly quick?: {
    readonly field: string;
    readonly prefix: string;
    /** Reads an item that has its main text and nothing else, as most have: the same that `read` makes of it. */
    read(text: string): Record<string, JsonValue>;
    /** Writes the members of `write` as JSON; undefined where one is missing. Values are base64, which JSON has as it is. */
    write(result: JsonObject): string | undefined;
  };
  /** Fields beside a batch that hold for every item of it, as there. */
  readonly shared?: readonly string[];
  /** Writes the answer of one item as a new object, without fields that a policy hides. */
  write(result: JsonObject): Record<string, JsonValue>;
  /** members of a failed item of a batch beside `error` and `reference` */
  readonly failed?: JsonObject;
  /** a batch in which an item failed is 400, as for encrypt and decrypt */
  readonly failsWithItem?: true;
  readonly reply?: (action: Action, outcome: Outcome, asked: Asked, invoke: InvokeFurther) => Promise<Answer | undefined>;
};

/** Request, and the key it is for. */
export type Use = { readonly asked: Asked; readonly nature: KeyNature | undefined; readonly isStrict: boolean };

export const field = (name: string, value: JsonValue | undefined): Record<string, JsonValue> =>
  value === undefined ? {} : { [name]: value };
export const version = (fields: Fields): JsonObject => {
  const number = fields.integer('key_version');
  return number === undefined || number === 0 ? {} : { 'key-version': number };
};
export const keyVersion = (result: JsonObject): JsonObject => field('key_version', result['key-version']);
/** A value and the version that made it, without those that a policy hides. */
export function writtenValue(name: string, value: JsonValue | undefined, number: JsonValue | undefined): Record<string, JsonValue> {
  const written: Record<string, JsonValue> = {};
  const text = valueToTheirs('value', value);
  if (text !== undefined) written[name] = text;
  if (number !== undefined) written['key_version'] = number;
  return written;
}
export const required = (text: string | undefined, name: string, what: string): string => {
  if (text === undefined) throw fail('missing-field', { detail: what, items: [{ message: 'is required', info: name }] });
  return text;
};
