// Objects that need no parsing: they contain only texts that their schema accepts unchanged. Most items of batches are such objects.
import { z } from 'zod';
import type { JsonObject } from './json.ts';
import { parseInput, toKebab } from './schema.ts';

/** As parseInput, for the many objects of a list: one with only such texts is its own parsed form, and is not copied. */
export function readerOf<T>(schema: z.ZodType<T> & z.ZodObject): (value: JsonObject) => T {
  const fields = Object.entries<z.ZodType>(schema.shape);
  const parse = (value: JsonObject): T => parseInput(schema, value);
  // With a default value for an absent field, the parsed form of every object is a new one.
  if (fields.some(([, field]) => field.safeParse(undefined).data !== undefined)) return parse;
  const required = fields.filter(([, field]) => !field.isOptional()).length;
  const texts = new Map<string, { readonly longest: number; readonly isRequired: boolean }>();
  for (const [name, field] of fields) {
    const longest = longestOf(field instanceof z.ZodOptional ? (field.unwrap() as z.ZodType) : field);
    if (longest !== undefined && toKebab(name) === name) texts.set(name, { longest, isRequired: !field.isOptional() });
  }
  return (value) => {
    let missing = required;
    for (const name of Object.keys(value)) {
      const text = value[name];
      const field = texts.get(name);
      const isPlain = field !== undefined && typeof text === 'string' && text.length <= field.longest && text.isWellFormed();
      if (!isPlain) return parse(value);
      if (field.isRequired) missing -= 1;
    }
    return missing === 0 ? (value as T) : parse(value);
  };
}

/** The length up to which a field accepts every text unchanged; undefined if it rejects or changes some texts. */
function longestOf(field: z.ZodType): number | undefined {
  if (!(field instanceof z.ZodString)) return undefined;
  const { checks = [], coerce } = field.def;
  const bounds = checks.map((check) => check._zod.def).filter((one): one is z.core.$ZodCheckMaxLengthDef => one.check === 'max_length');
  return bounds.length < checks.length || coerce === true ? undefined : Math.min(Infinity, ...bounds.map(({ maximum }) => maximum));
}
