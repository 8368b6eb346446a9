// Reads the body of a request as Vault does: unknown fields and null are nothing, and texts, numbers and booleans stand for each other.
import { fail } from '../../core/base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/wire/json.ts';

/** The fields of one object. Every reader answers undefined for an absent field, and throws `invalid-value` for what cannot be converted. */
export class Fields {
  readonly #document: JsonObject;
  readonly #known: readonly string[] | 'untold';
  /** names that were read; absent: not kept, for the many items of a batch, whose unknown fields are in no warning */
  readonly #read: string[] | undefined;

  /** `known`: names that are understood besides those that are read; `untold`: nobody asks for the unknown ones. */
  constructor(document: JsonObject, known: readonly string[] | 'untold' = []) {
    this.#document = document;
    this.#known = known;
    this.#read = known === 'untold' ? undefined : [];
  }

  text(name: string): string | undefined {
    const value = this.#take(name);
    if (value === undefined) return undefined;
    if (typeof value === 'object') throw inconvertible(name, 'a text');
    return String(value);
  }

  /** A text of which an empty one says nothing: Go clients send those of settings that were not made. */
  word(name: string): string | undefined {
    const text = this.text(name);
    return text === '' ? undefined : text;
  }

  flag(name: string): boolean | undefined {
    const value = this.#take(name);
    if (value === undefined || value === '') return undefined;
    if (typeof value === 'boolean') return value;
    const word = typeof value === 'object' ? '' : String(value).toLowerCase();
    if (['true', 't', '1'].includes(word)) return true;
    if (['false', 'f', '0'].includes(word)) return false;
    throw inconvertible(name, 'true or false');
  }

  integer(name: string): number | undefined {
    const value = this.#take(name);
    if (value === undefined || value === '') return undefined;
    const number = typeof value === 'boolean' || typeof value === 'object' ? Number.NaN : Number(value);
    if (!Number.isSafeInteger(number) || (typeof value === 'string' && !/^-?\d+$/.test(value))) throw inconvertible(name, 'an integer');
    return number;
  }

  /** Seconds, of a number of seconds or a duration as Go writes it: `24h`, `1h30m`. */
  seconds(name: string): number | undefined {
    const value = this.#take(name);
    if (value === undefined || value === '') return undefined;
    const seconds = typeof value === 'number' ? value : typeof value === 'string' ? secondsOf(value) : undefined;
    if (seconds === undefined || !Number.isSafeInteger(seconds) || seconds < 0)
      throw inconvertible(name, 'seconds, or a duration such as 24h');
    return seconds;
  }

  /** Base64 without the line ends inside, which are skipped. Whether it is base64 is for the endpoint to say, which decodes it. */
  base64(name: string): string | undefined {
    const text = this.text(name);
    return text?.includes('\n') === true || text?.includes('\r') === true ? text.replaceAll(/[\r\n]/g, '') : text;
  }

  /** Octets of a context in base64; an empty one counts as absent. */
  context(): string | undefined {
    const text = this.base64('context');
    return text === '' ? undefined : text;
  }

  items(name: string): readonly JsonObject[] | undefined {
    const value = this.#take(name);
    if (value === undefined) return undefined;
    if (!Array.isArray(value) || !value.every(isJsonObject))
      throw fail('invalid-value', { detail: `failed to parse batch input: "${name}" must be a list of objects.` });
    return value;
  }

  texts(name: string): readonly string[] | undefined {
    const value = this.#take(name);
    if (value === undefined) return undefined;
    const texts = Array.isArray(value) ? (value as readonly JsonValue[]) : typeof value === 'string' ? value.split(',') : [value];
    if (texts.every((text) => typeof text === 'string')) return texts;
    throw inconvertible(name, 'a list of texts');
  }

  /** Tells whether a field says something: neither null nor empty. It counts as understood. */
  states(name: string): boolean {
    const value = this.#take(name);
    const texts: readonly (JsonValue | undefined)[] = Array.isArray(value) ? (value as readonly JsonValue[]) : [value];
    return texts.some((one) => one !== undefined && one !== null && one !== '');
  }

  /** A field that is understood, and has no effect. */
  ignore(name: string): void {
    this.#read?.push(name);
  }

  /** Names of the fields that nothing has read. */
  unknown(): readonly string[] {
    return Object.keys(this.#document).filter((name) => this.#read?.includes(name) === false && !this.#known.includes(name));
  }

  #take(name: string): JsonValue | undefined {
    this.#read?.push(name);
    return (Object.hasOwn(this.#document, name) ? this.#document[name] : undefined) ?? undefined;
  }
}

/** `24h`, `1h30m`, `90d`: whole numbers, each unit once, the largest first. */
const duration = /^(?:(\d{1,6})d)?(?:(\d{1,8})h)?(?:(\d{1,9})m)?(?:(\d{1,10})s)?$/;

function secondsOf(text: string): number | undefined {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  const [, days = 0, hours = 0, minutes = 0, seconds = 0] = duration.exec(text) ?? [];
  const sum = ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
  return duration.test(text) ? sum : undefined;
}

function inconvertible(name: string, what: string): Error {
  return fail('invalid-value', {
    detail: `Field validation failed: error converting input for field "${name}": it must be ${what}.`,
    items: [{ message: `must be ${what}`, info: name }],
  });
}
