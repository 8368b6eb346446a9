// Fields and values by which a rule of approvals is narrowed, compared with the requests that there are: a misspelt value would make a rule about nothing.
import { z } from 'zod';
import type { Act } from '../../approvals/acts.ts';
import type { Values } from '../../approvals/narrowing.ts';
import { fail } from '../../base/errors.ts';
import type { AnyEndpoint } from '../../http/endpoint.ts';
import { toKebab } from '../../wire/schema.ts';
import { FieldsTogether, knownFieldsOf } from '../policies/known-fields.ts';

type Narrowed = { readonly acts: readonly Act[]; readonly values: Values };

/** Throws `invalid-value` for a value that no request with an act of the rule can give the field, where such requests have it. */
export function requireKnownValues(endpoints: readonly AnyEndpoint[], { acts, values }: Narrowed): void {
  if (Object.keys(values).length === 0) return;
  const acting = actingOf(endpoints, acts);
  for (const [field, some] of Object.entries(values)) {
    const schemas = acting.flatMap((one) => schemasAt(one, field));
    const strange =
      schemas.length === 0 ? undefined : some.find((value) => value !== null && !schemas.some((schema) => takes(schema, value)));
    if (strange === undefined) continue;
    const rule = `names ${JSON.stringify(strange)}, which no request that the rule is about can say there: the rule would never count because of it`;
    throw fail('invalid-value', { detail: `"values/${field}" ${rule}.`, items: [{ message: rule, info: `values/${field}` }] });
  }
}

export function narrowingWarnings(endpoints: readonly AnyEndpoint[], { acts, values }: Narrowed): readonly string[] {
  const fields = Object.keys(values);
  if (fields.length === 0) return [];
  if (acts.every((act) => act === 'change-trust'))
    return ['"values" have no effect: changes of trust fall under every rule, and nothing narrows that.'];
  const known = new FieldsTogether(actingOf(endpoints, acts).map((one) => knownFieldsOf(one).asked));
  return fields
    .filter((field) => !known.has(field))
    .map((field) => {
      const likely = known.likely(field);
      const remark = likely === undefined ? '' : `; "${likely}" is one`;
      return `"values/${field}" narrows nothing: no request that the rule is about has this field${remark}.`;
    });
}

/** The endpoints whose requests may be one of these acts. */
function actingOf(endpoints: readonly AnyEndpoint[], acts: readonly Act[]): readonly AnyEndpoint[] {
  return endpoints.filter((endpoint) => {
    if (endpoint.access === 'public' || endpoint.method === 'GET' || endpoint.act === 'none') return false;
    const { act } = endpoint;
    return act === undefined || act === 'by-document' || typeof act === 'function' || acts.includes(act);
  });
}

/** The schemas of a field of requests to an endpoint. */
function schemasAt(endpoint: AnyEndpoint, field: string): readonly z.ZodType[] {
  const stated = endpoint.access === 'public' ? undefined : endpoint.judgedAs?.fields?.[field];
  const fixed = stated === undefined ? [] : [z.literal(stated as string)];
  const { input, documented } = endpoint;
  // Resources take any body at first.
  return [documented?.resource === undefined ? input : undefined, documented?.input]
    .flatMap((input) => (input === undefined ? [] : leavesOf(input, field.split('/'))))
    .concat(fixed);
}

/** The schemas of the single values at a path (wire form); of a list, those of its elements. */
function leavesOf(schema: z.ZodType, path: readonly string[]): readonly z.ZodType[] {
  if (schema instanceof z.ZodUnion) return (schema.options as z.ZodType[]).flatMap((one) => leavesOf(one, path));
  if (schema instanceof z.ZodIntersection) return [schema.def.left, schema.def.right].flatMap((side) => leavesOf(side as z.ZodType, path));
  if (schema instanceof z.ZodArray) return leavesOf(schema.element as z.ZodType, path);
  if ('unwrap' in schema && typeof schema.unwrap === 'function') return leavesOf(schema.unwrap() as z.ZodType, path);
  const [name, ...inner] = path;
  if (name === undefined) return [schema];
  if (schema instanceof z.ZodPipe) return leavesOf(schema.in as z.ZodType, path);
  if (schema instanceof z.ZodRecord) return leavesOf(schema.valueType as z.ZodType, inner);
  if (!(schema instanceof z.ZodObject)) return [];
  const found = Object.entries<z.ZodType>(schema.shape).find(([camel]) => toKebab(camel) === name);
  return found === undefined ? [] : leavesOf(found[1], inner);
}

function takes(schema: z.ZodType, value: unknown): boolean {
  return schema.safeParse(value).success;
}
