// The named schemas of the API description: every body, every object in it, and every set of values that several fields share.
import { isDeepStrictEqual } from 'node:util';
import { defined } from '../../base/defined.ts';
import { mapValues, schemaPlace, type JsonSchema } from './document.ts';
import type { InlineSchema } from './schema.ts';

/** Names of the objects below a body. */
export type Naming = {
  /** beginning of their names: `TransitKey` makes `TransitKeyAutoRotate` of the field `auto-rotate` */
  readonly base: string;
  /** end of their names: `Input`, `Merge` */
  readonly suffix: string;
  /** replaces `suffix` if the name is taken by another schema: `State` */
  readonly otherwise?: string;
};

/** Collects schemas by name, and leaves a reference in place of each. */
export class NamedSchemas {
  readonly schemas: Record<string, JsonSchema> = {};

  /** Names a body, by its own name or the given one. Throws when the name stands for another schema. */
  add(name: string, schema: InlineSchema, naming: Naming): JsonSchema {
    const { typeName = name, ...body } = schema;
    return this.#define(typeName, this.#lifted(body, naming.base, naming));
  }

  /** Replaces named parts of a schema by references. `place` is the name of an object here. */
  #lift(schema: InlineSchema, place: string, naming: Naming): JsonSchema {
    const { typeName, ...own } = schema;
    const lifted = this.#lifted(own, typeName ?? place, naming);
    if (lifted.properties === undefined && typeName === undefined) return lifted;
    const { use, shared } = separated(lifted);
    if (lifted.properties === undefined) return { ...this.#define(typeName ?? place, shared), ...use };
    const name = typeName ?? place;
    return { ...this.#defineObject(name, shared, naming), ...use };
  }

  #lifted(schema: InlineSchema, place: string, naming: Naming): JsonSchema {
    const { properties, items, additionalProperties: values, anyOf } = schema;
    return {
      ...schema,
      ...defined({
        properties:
          properties === undefined
            ? undefined
            : mapValues(properties, (field, name) => this.#lift(field, `${place}${pascal(name)}`, naming)),
        items: items === undefined ? undefined : this.#lift(items, singular(place), naming),
        additionalProperties: typeof values === 'object' ? this.#lift(values, singular(place), naming) : values,
        anyOf: anyOf?.map((choice) => this.#lift(choice, place, naming)),
      }),
    };
  }

  #defineObject(name: string, schema: JsonSchema, { suffix, otherwise }: Naming): JsonSchema {
    const known = this.schemas[`${name}${suffix}`];
    const isOther = otherwise !== undefined && known !== undefined && !isAlike(known, schema);
    return this.#define(`${name}${isOther ? otherwise : suffix}`, schema);
  }

  #define(name: string, schema: JsonSchema): JsonSchema {
    const known = this.schemas[name];
    if (known !== undefined && !isAlike(known, schema)) throw new Error(`two schemas of the API description are called ${name}`);
    this.schemas[name] ??= schema;
    return { $ref: `${schemaPlace}${name}` };
  }
}

/** `transit key` and `auto-rotate` as parts of names: `TransitKey`, `AutoRotate`; `TLS CA` is `TlsCa`. */
export function pascal(text: string): string {
  return text
    .split(/[\s-]+/)
    .map((word) => `${word.slice(0, 1).toUpperCase()}${word === word.toUpperCase() ? word.slice(1).toLowerCase() : word.slice(1)}`)
    .join('');
}

function singular(name: string): string {
  return name.endsWith('ies') ? `${name.slice(0, -3)}y` : name.replace(/(?<!s)s$/, '');
}

/** Separates the keywords of a single field from those shared by all uses of a schema. */
function separated({ default: preset, readOnly, ...shared }: JsonSchema): { use: JsonSchema; shared: JsonSchema } {
  const { 'x-default': marked, 'x-secret': secret, 'x-creation-only': creationOnly, 'x-one-way': oneWay, ...plain } = shared;
  const { description, examples } = plain;
  const marks = { 'x-default': marked, 'x-secret': secret, 'x-creation-only': creationOnly, 'x-one-way': oneWay } as const;
  return { use: defined({ description, examples, default: preset, readOnly, ...marks }), shared: plain };
}

const said = { description: '', examples: [] };

/** Compares schemas without descriptions and examples, which are those of the first use. */
function isAlike(left: JsonSchema, right: JsonSchema): boolean {
  return isDeepStrictEqual({ ...left, ...said }, { ...right, ...said });
}
