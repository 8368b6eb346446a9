// Known fields of requests and answers, so that rules about unknown fields can be reported.
import type { z } from 'zod';
import type { AuditRecord } from '../../audit/record.ts';
import type { AnyEndpoint } from '../../http/endpoint.ts';
import { shapeOf, toKebab, type Shape } from '../../wire/schema.ts';

/** Fields of one kind of body; `any`: others besides. */
type Fields = { readonly shapes: readonly Shape[]; readonly names: readonly string[]; readonly any?: true };

/** Fields of requests to an endpoint for `allowed-values`, and of its answers for `hide-fields`. */
export type KnownFields = { readonly asked: Fields; readonly answered: Fields };

export function knownFieldsOf(endpoint: AnyEndpoint): KnownFields {
  const { documented, nameField, produces } = endpoint;
  const judged = endpoint.access === 'public' ? undefined : endpoint.judgedAs?.fields;
  const names = nameField === undefined ? [] : [nameField];
  const output = documented?.output ?? endpoint.output;
  // Nothing is left out of octets and pages.
  const isLines = output === undefined && produces === 'application/x-ndjson';
  return {
    asked: {
      shapes: shapesOf(documented?.input ?? endpoint.input),
      names: [...(endpoint.method === 'GET' ? [] : names), ...Object.keys(judged ?? {})],
    },
    answered: {
      shapes: shapesOf(output),
      names: isLines ? [...names, ...recordFields] : names,
      ...(isLines ? { any: true } : {}),
    },
  };
}

type Kebab<Text extends string> = Text extends `${infer First}${infer Rest}`
  ? `${First extends Uppercase<First> ? (First extends Lowercase<First> ? First : `-${Lowercase<First>}`) : First}${Kebab<Rest>}`
  : Text;

/** Fields of the records of the audit trail, and those that every line of the log has. */
const recordFields = Object.keys({
  ...{ kind: 1, 'occurred-at': 1, 'request-id': 1, tenant: 1, 'tenant-id': 1, user: 1, 'user-kind': 1, 'user-source': 1, accessor: 1 },
  ...{ 'possible-tenants': 1, via: 1, identity: 1, path: 1, method: 1, query: 1, status: 1, code: 1, 'request-time-ms': 1, 'client-ip': 1 },
  ...{
    'user-agent': 1,
    'key-version': 1,
    'signed-digest': 1,
    acts: 1,
    'outside-rules': 1,
    approval: 1,
    approvers: 1,
    isolated: 1,
    created: 1,
    'request-parameters': 1,
  },
} satisfies Record<Kebab<Extract<keyof AuditRecord, string>>, 1>).concat('time', 'level', 'message', 'chain', 'sequence', 'appliance');

/** Several kinds of bodies, with a cache: the rules of a policy mostly have the same fields. */
export class FieldsTogether {
  readonly #all: readonly Fields[];
  readonly #found = new Map<string, boolean>();

  constructor(all: readonly Fields[]) {
    this.#all = all;
  }

  /** Tells whether one of them has the field (`a/b` inside containers). */
  has(field: string): boolean {
    let has = this.#found.get(field);
    if (has === undefined) this.#found.set(field, (has = hasField(this.#all, field)));
    return has;
  }

  /** The field that is most likely meant; undefined if none is similar. */
  likely(field: string): string | undefined {
    return likelyField(this.#all, field);
  }
}

function hasField(all: readonly Fields[], field: string): boolean {
  const path = field.split('/');
  if (all.some(({ names, shapes }) => names.includes(field) || shapes.some((shape) => reaches(shape, path)))) return true;
  if (!all.some(({ any }) => any === true)) return false;
  // Among many answers, one with fields of any name hides no misspelling of those of the others.
  return all.every(({ any }) => any === true) || likelyField(all, field) === undefined;
}

function likelyField(all: readonly Fields[], field: string): string | undefined {
  const known = new Set(all.flatMap(({ names, shapes }) => [...names, ...shapes.flatMap((shape) => namesIn(shape))]));
  const meant = toKebab(field);
  const near = [...known]
    .map((name) => ({ name, edits: editsBetween(name, meant) }))
    .toSorted((left, right) => left.edits - right.edits)[0];
  return near !== undefined && near.edits <= mostEdits && near.edits < meant.length / 2 ? near.name : undefined;
}

const mostEdits = 2;

function shapesOf(schema: z.ZodType | undefined): readonly Shape[] {
  return schema === undefined ? [] : [shapeOf(schema)];
}

function reaches(shape: Shape, path: readonly string[]): boolean {
  if (shape.kind === 'list') return reaches(shape.element, path);
  const [name, ...inner] = path;
  if (name === undefined) return true;
  if (shape.kind === 'value') return false;
  const below = shape.kind === 'map' ? shape.value : shape.byWire.get(name)?.shape;
  return below !== undefined && reaches(below, inner);
}

/** Every field, those of containers as `a/b`. Names in maps are the caller's. */
function namesIn(shape: Shape): readonly string[] {
  if (shape.kind === 'list') return namesIn(shape.element);
  if (shape.kind !== 'object') return [];
  return [...shape.byWire.values()].flatMap(({ wire, shape: inner }) => [wire, ...namesIn(inner).map((name) => `${wire}/${name}`)]);
}

/** Edit distance of two texts: letters added, removed or replaced. */
function editsBetween(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [at, letter] of Array.from(left).entries()) {
    const next = [at + 1];
    for (const [index, other] of Array.from(right).entries()) {
      const [diagonal = 0, above = 0] = [row[index], row[index + 1]];
      next.push(Math.min(diagonal + (letter === other ? 0 : 1), above + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
