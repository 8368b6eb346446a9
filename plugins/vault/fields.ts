// Reads the body of a request as Vault does: unknown fields and null are nothing, and texts, numbers and booleans stand for each other.
import { decodeBase64, decodeUtf8 } from '../../core/base/bytes.ts';
import { fail } from '../../core/base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/wire/json.ts';

/** The fields of one object. Every reader answers undefined for an absent field, and throws `invalid-value` for what cannot be converted. */
export class Fields {
  readonly #document: JsonObject;
  readonly #known: Set<string>;

  /** `known`: names that are understood besides those that are read. */
  constructor(document: JsonObject, known: readonly string[] = []) {
    this.#document = document;
    this.#known = new Set(known);
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

  /** Standard base64 with padding, as our API reads it; line ends inside are skipped. */
  base64(name: string): string | undefined {
    const text = this.text(name)?.replaceAll(/[\r\n]/g, '');
    if (text === undefined || decodeBase64(text) !== undefined) return text;
    throw fail('invalid-base64', { detail: `failed to base64-decode "${name}": it must be standard base64 with padding.` });
  }

  /** A context: octets in base64, which must be text in UTF-8 here. */
  context(): string | undefined {
    const text = this.base64('context');
    if (text === undefined || text === '') return undefined;
    const context = decodeUtf8(decodeBase64(text) ?? new Uint8Array());
    if (context === undefined)
      throw fail('invalid-value', { detail: 'The context must be UTF-8 here, in base64: a key is derived for a text.' });
    return context;
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
    this.#known.add(name);
  }

  /** Names of the fields that nothing has read. */
  unknown(): readonly string[] {
    return Object.keys(this.#document).filter((name) => !this.#known.has(name));
  }

  #take(name: string): JsonValue | undefined {
    this.#known.add(name);
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

/** The same in our form, in days at most, as people write it in the rules of policies: `90d`, `1h30m`. */
export function durationOf(seconds: number): string {
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const;
  const text = parts.flatMap(([count, unit]) => (count === 0 ? [] : [`${count}${unit}`])).join('');
  return text === '' ? '0s' : text;
}

function inconvertible(name: string, what: string): Error {
  return fail('invalid-value', {
    detail: `Field validation failed: error converting input for field "${name}": it must be ${what}.`,
    items: [{ message: `must be ${what}`, info: name }],
  });
}
