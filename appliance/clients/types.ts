// The types of the model, read from JSON schemas: named objects, choices and unions, and references to them.
import { defined } from '../../core/base/defined.ts';
import type { JsonSchema } from '../../core/http/description/document.ts';
import { pascalCase } from './words.ts';

/** Type of a value at its use. */
export type TypeReference =
  | { readonly kind: 'anything' | 'boolean' | 'number' }
  /** `base64`: the text always is base64 of octets; other formats are those of JSON Schema */
  | { readonly kind: 'text'; readonly format?: string }
  /** may be above 2^31 */
  | { readonly kind: 'integer' }
  | { readonly kind: 'list'; readonly of: TypeReference }
  | { readonly kind: 'map'; readonly of: TypeReference }
  | { readonly kind: 'named'; readonly name: string }
  | { readonly kind: 'nullable'; readonly of: TypeReference };

/** A type with a name in PascalCase. */
export type NamedType = ObjectType | ChoiceType | UnionType;

export type ObjectType = {
  readonly kind: 'object';
  readonly name: string;
  readonly documentation?: string;
  readonly fields: readonly Field[];
};

/** One of some texts, or of some integers. The server may answer others in later versions. */
export type ChoiceType = {
  readonly kind: 'choice';
  readonly name: string;
  readonly documentation?: string;
  readonly values: readonly string[] | readonly number[];
};

/** A value of one of these types. */
export type UnionType = {
  readonly kind: 'union';
  readonly name: string;
  readonly documentation?: string;
  readonly of: readonly TypeReference[];
};

export type Field = {
  /** as on the wire, in kebab-case */
  readonly name: string;
  readonly type: TypeReference;
  readonly isRequired: boolean;
  readonly documentation?: string;
  readonly example?: unknown;
  /** never to be logged */
  readonly isSecret: boolean;
};

/**
 * Gives every object and every choice a name: its own from the description, else one made of the operation or type around it and its
 * place in there. Two without a name of their own that say the same are one type.
 */
export class TypeReader {
  readonly #schemas: Readonly<Record<string, JsonSchema>>;
  readonly #types = new Map<string, NamedType>();
  /** names by content, of types without a name of their own */
  readonly #unnamed = new Map<string, string>();

  constructor(schemas: Readonly<Record<string, JsonSchema>>) {
    this.#schemas = schemas;
  }

  /** Every type that was referred to. */
  all(): NamedType[] {
    return [...this.#types.values()];
  }

  /** `name`: name of the type unless it has one of its own. Throws if that name is taken by another type. */
  refer(schema: JsonSchema, name: string): TypeReference {
    const { $ref } = schema;
    if ($ref !== undefined) return this.#referNamed($ref.replace(/^.*\//, ''));
    const types = typesOf(schema);
    if (types.includes('null')) return { kind: 'nullable', of: this.refer(withoutNull(schema, types), name) };
    const options = schema.anyOf ?? schema.oneOf;
    if (options !== undefined && schema.properties === undefined) return this.#referOption(schema, options, name);
    const values = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
    if (values !== undefined) return this.#choice(schema, values, name);
    const reader = readers[types[0] ?? (schema.properties === undefined ? '' : 'object')];
    if (reader === undefined) return { kind: 'anything' };
    return reader(schema, (inner, suffix) => this.refer(inner, `${name}${suffix}`)) ?? this.#object(schema, name);
  }

  #referNamed(name: string): TypeReference {
    const schema = this.#schemas[name];
    if (schema === undefined) throw new Error(`the description refers to ${name}, which it does not have`);
    const typeName = pascalCase(name);
    if (this.#types.has(typeName)) return { kind: 'named', name: typeName };
    const of = this.refer(schema, typeName);
    // A schema without a type of its own in any language, like a text with a pattern, is used as its base type.
    return of;
  }

  #referOption(schema: JsonSchema, options: readonly JsonSchema[], name: string): TypeReference {
    const present = options.filter((option) => !typesOf(option).includes('null'));
    const [first] = present;
    if (first === undefined) return { kind: 'anything' };
    if (present.length < options.length) return { kind: 'nullable', of: this.refer({ ...schema, anyOf: present }, name) };
    if (present.length === 1) return this.refer(first, name);
    const constants = present.map((option) => option.const);
    if (constants.every((value) => value !== undefined)) return this.#choice(schema, constants, name);
    const entries = present.find((option) => option.type === 'array' && option.items?.type !== 'string');
    // Entries, names or a number: the answer depends on parameters that the model leaves out.
    if (entries !== undefined && present.some((option) => fieldNames(option).includes('count'))) return this.refer(entries, name);
    const of = present.map((option, index) => this.refer(option, `${name}Option${index + 1}`));
    return this.#add({ kind: 'union', name, ...documented(schema), of });
  }

  #choice(schema: JsonSchema, values: readonly unknown[], name: string): TypeReference {
    if (values.every((value) => typeof value === 'boolean')) return { kind: 'boolean' };
    return this.#add({ kind: 'choice', name, ...documented(schema), values: values as ChoiceType['values'] });
  }

  #object(schema: JsonSchema, name: string): TypeReference {
    const required = new Set(schema.required);
    const fields = Object.entries(schema.properties ?? {}).map(([field, inner]): Field => {
      const target = inner.$ref === undefined ? inner : { ...this.#resolve(inner), ...inner };
      return {
        name: field,
        type: this.refer(inner, `${name}${pascalCase(field)}`),
        isRequired: required.has(field),
        ...documented(target),
        ...defined({ example: target.examples?.[0] }),
        isSecret: target['x-secret'] === true,
      };
    });
    return this.#add({ kind: 'object', name, ...documented(schema), fields });
  }

  #add(type: NamedType): TypeReference {
    const content = JSON.stringify({ ...type, name: '', documentation: '' });
    const isNamed = Object.keys(this.#schemas).some((name) => pascalCase(name) === type.name);
    const same = isNamed ? undefined : this.#unnamed.get(content);
    if (same !== undefined) return { kind: 'named', name: same };
    if (this.#types.has(type.name)) throw new Error(`two types would be called ${type.name}`);
    if (!isNamed) this.#unnamed.set(content, type.name);
    this.#types.set(type.name, type);
    return { kind: 'named', name: type.name };
  }

  #resolve(schema: JsonSchema): JsonSchema {
    return schema.$ref === undefined ? schema : (this.#schemas[schema.$ref.replace(/^.*\//, '')] ?? {});
  }
}

type Inner = (schema: JsonSchema, suffix: string) => TypeReference;

/** By JSON type. An object with fields has no reference of its own kind: it gets a name. */
const readers: Readonly<Record<string, (schema: JsonSchema, inner: Inner) => TypeReference | undefined>> = {
  string: ({ format, contentEncoding }) => ({ kind: 'text', ...defined({ format: contentEncoding ?? format }) }),
  integer: () => ({ kind: 'integer' }),
  number: () => ({ kind: 'number' }),
  boolean: () => ({ kind: 'boolean' }),
  array: ({ items = {} }, inner) => ({ kind: 'list', of: inner(items, 'Item') }),
  object: ({ properties, additionalProperties }, inner) => {
    if (properties !== undefined) return undefined;
    const values = typeof additionalProperties === 'object' ? additionalProperties : {};
    return { kind: 'map', of: Object.keys(values).length === 0 ? { kind: 'anything' } : inner(values, 'Value') };
  },
};

/** JSON types; OpenAPI 3.1 allows several, of which `null` is one. */
function typesOf({ type }: JsonSchema): readonly string[] {
  return type === undefined ? [] : [type].flat();
}

function withoutNull(schema: JsonSchema, types: readonly string[]): JsonSchema {
  const [type] = types.filter((one) => one !== 'null');
  return { ...schema, ...defined({ type, enum: schema.enum?.filter((value) => value !== null) }) };
}

function documented({ description }: JsonSchema): { readonly documentation?: string } {
  return defined({ documentation: description });
}

function fieldNames({ properties }: JsonSchema): readonly string[] {
  return Object.keys(properties ?? {});
}
