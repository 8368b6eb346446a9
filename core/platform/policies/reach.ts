// Existing requests from the view of policies, and rules that match none of them.
import { FieldsTogether, knownFieldsOf, type KnownFields } from './known-fields.ts';
import { namePattern } from '../../wire/fields.ts';
import { defaultPolicy } from '../../access/policy/built-in.ts';
import type { AnyEndpoint } from '../../http/endpoint.ts';
import { judgedSegments } from '../../http/judged-path.ts';
import { namedFieldsOf, type NamedField } from '../../http/named-entries.ts';
import { operations, readPattern, type PatternSegment, type PolicyOperation } from '../../access/policy/patterns.ts';
import type { PolicyRule } from '../../access/policy/policy.ts';

/** A path that policies decide about: literals, and patterns of the names in it (undefined: any name). */
type Asked = {
  readonly path: Places;
  readonly operations: readonly PolicyOperation[];
  /** the field that names entries in the answers, which no policy hides */
  readonly nameField?: string | undefined;
  /** path of the request, if policies judge it as another action */
  readonly sentTo?: Places;
  /** absent: no request has this path */
  readonly fields?: KnownFields;
};
type Places = readonly (string | RegExp | undefined)[];

/** All paths of the API; those without operations need no token. */
export type Reach = readonly Asked[];

/** Tells whether policies decide about this path, be it that of a request or of a further right of a request. */
export function isAsked(segments: readonly string[], reach: Reach): boolean {
  return reach.some((asked) => fits(segments.map(literal), asked));
}

/** The fields by which a request to an endpoint needs rights at other entries: its own, and those of the entry in its path. */
export function namedFieldsIn(endpoint: AnyEndpoint): readonly NamedField[] {
  if (endpoint.access === 'public') return [];
  const schema = endpoint.documented?.input ?? endpoint.input;
  const own = schema === undefined ? [] : namedFieldsOf(schema);
  return [...own, ...(endpoint.usesNamed ?? [])].filter(({ entry }) => entry.needs.length > 0 || entry.isGiven === true);
}

/** The rights that fields of all requests need where they name an entry. */
function neededRights(endpoints: readonly AnyEndpoint[], names: ReadonlyMap<string, RegExp>): Reach {
  const needs = new Map(
    endpoints.flatMap(namedFieldsIn).flatMap(({ entry }) => entry.needs.map((need) => [`${need.operation} ${need.path}`, need])),
  );
  const ofFields = endpoints.flatMap((endpoint) =>
    endpoint.access === 'public' ? [] : (endpoint.fieldRights ?? []).filter((right) => 'path' in right),
  );
  return [...needs.values(), ...ofFields].map(({ operation, path }) => ({ path: placesOf(path, names), operations: [operation] }));
}

/** The operations a request to an endpoint needs: its own, and `create` for a PUT that creates the entry. None for public endpoints. */
export function operationsOf(endpoint: AnyEndpoint): readonly PolicyOperation[] {
  if (endpoint.access === 'public') return [];
  return endpoint.method === 'PUT' ? [endpoint.operation, 'create'] : [endpoint.operation];
}

/** Everything that policies can decide, from the list of endpoints. */
export function reachOf(endpoints: readonly AnyEndpoint[]): Reach {
  const names = new Map<string, RegExp>();
  for (const { path, documented } of endpoints) {
    const { form, facts } = documented?.resource ?? {};
    if (form === 'entry' && facts !== undefined) names.set(placeOf(path), facts.namePattern ?? namePattern);
  }
  const asked = endpoints.map((endpoint) => {
    const sentTo = placesOf(endpoint.path, names);
    const path = judgedSegments(endpoint, sentTo);
    const fields = knownFieldsOf(endpoint);
    return { path, operations: operationsOf(endpoint), nameField: endpoint.nameField, fields, ...(path === sentTo ? {} : { sentTo }) };
  });
  return [...asked, ...neededRights(endpoints, names)];
}

/** Limit of warnings: a policy may have tens of thousands of fields, and a misspelt one is compared with all known fields. */
const mostWarnings = 100;

/**
 * A warning for each rule of a policy, or operation of a rule, that no request can match, for names that it cannot hide, and for unknown fields
 * that it allows: the first hundred.
 */
export function warningsOf(rules: readonly PolicyRule[], reach: Reach): readonly string[] {
  const all = Iterator.from(eachWarning(rules, reach));
  const first = [...all.take(mostWarnings)];
  return first.length < mostWarnings ? first : [...first, `These are the first ${mostWarnings}: the rest was not checked.`];
}

function* eachWarning(rules: readonly PolicyRule[], reach: Reach): Generator<string> {
  const met: Met = new Map();
  for (const [index, rule] of rules.entries()) {
    const place = `rest-api/rules/${index} (${rule.path})`;
    const reason = unmetReason(rule, reach);
    if (reason !== undefined) {
      yield `${place} has no effect: ${reason}.`;
      continue;
    }
    if (isOfDefault(rule, reach)) {
      yield `${place} has no effect: the policy "${defaultPolicy.name}", which every token has, allows the same without limits.`;
      continue;
    }
    const shown = shownName(rule, reach);
    if (shown !== undefined) yield `${place} does not hide "${shown}": answers about an entry always have its name.`;
    for (const text of unknownFields(rule, reach, met)) yield `${place} ${text}.`;
  }
}

/** Yields fields that no request or answer allowed by the rule has: they are misspelt, and the rule does not have the intended effect. */
function* unknownFields(rule: PolicyRule, reach: Reach, met: Met): Generator<string> {
  const { path, operations: effects, allowedValues, hideFields } = rule;
  const [limited, hidden] = [Object.keys(allowedValues), hideFields];
  if (limited.length + hidden.length === 0) return;
  const pattern = readPattern(path) ?? [];
  const allowed = operations.filter((operation) => (effects[operation] ?? effects.all) === 'allow');
  const { asked, answered } = fieldsMet(pattern, allowed, reach, met);
  const kinds = [
    { does: 'limit', fields: limited, known: asked, where: 'request' },
    { does: 'hide', fields: hidden, known: answered, where: 'answer' },
  ] as const;
  for (const { does, fields, known, where } of kinds) {
    for (const field of fields.filter((one) => !known.has(one))) {
      const likely = known.likely(field);
      const remark = likely === undefined ? '' : `; "${likely}" is one`;
      yield `does not ${does} "${field}": no ${where} that it allows has this field${remark}`;
    }
  }
}

type FieldsMet = Readonly<Record<keyof KnownFields, FieldsTogether>>;
/** Fields by pattern and operations. */
type Met = Map<string, FieldsMet>;

/** Fields of the requests that a pattern matches with some operations. */
function fieldsMet(pattern: Pattern, allowed: readonly PolicyOperation[], reach: Reach, met: Met): FieldsMet {
  const key = JSON.stringify([pattern, allowed]);
  const known = met.get(key);
  if (known !== undefined) return known;
  const all = reach.flatMap((one) =>
    one.fields !== undefined && one.operations.some((operation) => allowed.includes(operation)) && fits(pattern, one) ? [one.fields] : [],
  );
  const found = {
    asked: new FieldsTogether(all.map(({ asked }) => asked)),
    answered: new FieldsTogether(all.map(({ answered }) => answered)),
  };
  met.set(key, found);
  return found;
}

function shownName({ path, hideFields }: PolicyRule, reach: Reach): string | undefined {
  if (hideFields.length === 0) return undefined;
  const pattern = readPattern(path) ?? [];
  return reach.find((asked) => asked.nameField !== undefined && hideFields.includes(asked.nameField) && fits(pattern, asked))?.nameField;
}

function unmetReason(rule: PolicyRule, reach: Reach): string | undefined {
  const pattern = readPattern(rule.path) ?? [];
  const stated = operations.filter((operation) => rule.operations[operation] !== undefined);
  if (stated.length === 0 && rule.operations.all === undefined) return 'it allows and rejects nothing';
  const met = reach.filter((asked) => fits(pattern, asked));
  if (met.length === 0) return hints.map((hint) => hint(pattern, reach)).find((text) => text !== undefined) ?? 'the API has no such path';
  const offered = new Set(met.flatMap((asked) => asked.operations));
  if (offered.size === 0) return 'requests there need no token, so no policy applies';
  const unmatched = stated.filter((operation) => !offered.has(operation));
  if (unmatched.length === 0) return undefined;
  const listed = unmatched.map((operation) => `"${operation}"`).join(' or ');
  return `no request there does ${listed}, only ${[...offered].map((operation) => `"${operation}"`).join(', ')}`;
}

/** Tells whether a rule refuses, limits or hides at paths of the default policy alone: among rules of one path the most open one decides. */
function isOfDefault({ path, operations: effects, allowedValues, hideFields }: PolicyRule, reach: Reach): boolean {
  const opens = Object.values(effects).every((effect) => effect === 'allow');
  if (opens && hideFields.length + Object.keys(allowedValues).length === 0) return false;
  const pattern = readPattern(path) ?? [];
  const met = reach.filter((asked) => fits(pattern, asked));
  return met.every(({ path: places }) => everyTokens.has(places.join('/')));
}

const everyTokens = new Set(defaultPolicy.restApi.rules.map(({ path }) => path.slice(1)));

type Pattern = readonly PatternSegment[];

/** Likely reasons why a path does not exist, in this order. */
const hints: readonly ((pattern: Pattern, reach: Reach) => string | undefined)[] = [
  (pattern) =>
    pattern.some((segment) => segment.kind === 'literal' && /^\{.*\}$/.test(segment.text))
      ? 'braces stand for a name in the API description only; here "*" stands for any name'
      : undefined,
  (pattern) =>
    pattern.some((segment) => segment.kind === 'literal' && segment.text.includes('/'))
      ? '"%2F" is a slash inside a name, not one between segments'
      : undefined,
  (pattern, reach) => {
    const judged = reach.find(({ sentTo }) => sentTo !== undefined && fits(pattern, { path: sentTo }))?.path.at(-1);
    return judged === undefined ? undefined : `policies judge this action as "${String(judged)}": a rule for that decides about both`;
  },
  (pattern, reach) => {
    const lower = pattern.map((segment) => (segment.kind === 'literal' ? literal(segment.text.toLowerCase()) : segment));
    return reach.some((asked) => fits(lower, asked)) ? 'upper and lower case count, and the path is not spelled so' : undefined;
  },
];

function fits(pattern: Pattern, { path }: Pick<Asked, 'path'>): boolean {
  const isOpen = pattern.at(-1)?.kind === 'rest';
  const fixed = isOpen ? pattern.slice(0, -1) : pattern;
  if (isOpen ? path.length < fixed.length : path.length !== fixed.length) return false;
  return fixed.every((segment, index) => {
    const place = path[index];
    if (segment.kind !== 'literal' || place === undefined) return true;
    return typeof place === 'string' ? place === segment.text : place.test(segment.text);
  });
}

function literal(text: string): PatternSegment {
  return { kind: 'literal', text };
}

/** The segments of a path, with the patterns of the names in it. */
function placesOf(path: string, names: ReadonlyMap<string, RegExp>): Places {
  const segments = path.slice(1).split('/');
  return segments.map((segment, index) =>
    segment.startsWith('{') ? names.get(placeOf(`/${segments.slice(0, index + 1).join('/')}`)) : segment,
  );
}

/** Identifies the position of a name, in both trees alike and whatever the parameters are called. */
function placeOf(path: string): string {
  return path.replace(/^\/v1\/(?:config|state)\//, '').replaceAll(/\{[^}]*\}/g, '{}');
}
