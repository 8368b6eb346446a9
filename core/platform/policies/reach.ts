// Which requests there are, as policies see them, and which rules are about none of them.
import { namePattern } from '../../wire/fields.ts';
import type { AnyEndpoint } from '../../http/endpoint.ts';
import { operations, readPattern, type PatternSegment, type PolicyOperation, type PolicyRule } from '../../access/policy/policy.ts';

/** A path that policies are asked about: literals, and what names in it look like (undefined: anything). */
type Asked = { readonly path: readonly (string | RegExp | undefined)[]; readonly operations: readonly PolicyOperation[] };

/** Every path of the service; those without operations need no token. */
export type Reach = readonly Asked[];

/** Asked besides the path of the request itself: actions on the token of somebody else. */
const besides: Asked = { path: ['v1', 'state', 'keystore', 'tokens', undefined], operations: ['read', 'delete'] };

/** Whether policies are asked about a path that no request has. */
export function isAskedBesides(segments: readonly string[]): boolean {
  return fits(segments.map(literal), besides);
}

/** What a request to an endpoint needs: its operation, and `create` as well for a PUT that makes the entry. Public ones need nothing. */
export function operationsOf(endpoint: AnyEndpoint): readonly PolicyOperation[] {
  if (endpoint.access === 'public') return [];
  return endpoint.method === 'PUT' ? [endpoint.operation, 'create'] : [endpoint.operation];
}

/** What requests can ask policies about, by the endpoints there are. */
export function reachOf(endpoints: readonly AnyEndpoint[]): Reach {
  const names = new Map<string, RegExp>();
  for (const { path, documented } of endpoints) {
    const { form, facts } = documented?.resource ?? {};
    if (form === 'entry' && facts !== undefined) names.set(placeOf(path), facts.namePattern ?? namePattern);
  }
  const asked = endpoints.map((endpoint) => {
    const segments = endpoint.path.slice(1).split('/');
    const path = segments.map((segment, index) =>
      segment.startsWith('{') ? names.get(placeOf(`/${segments.slice(0, index + 1).join('/')}`)) : segment,
    );
    return { path, operations: operationsOf(endpoint) };
  });
  return [...asked, besides];
}

/** What the rules of a policy say in vain: one sentence for each rule, or operation of it, that no request can meet. */
export function warningsOf(rules: readonly PolicyRule[], reach: Reach): readonly string[] {
  return rules.flatMap((rule, index) => {
    const reason = unmetReason(rule, reach);
    return reason === undefined ? [] : [`rest-api/rules/${index} (${rule.path}) has no effect: ${reason}.`];
  });
}

function unmetReason(rule: PolicyRule, reach: Reach): string | undefined {
  const pattern = readPattern(rule.path) ?? [];
  const stated = operations.filter((operation) => rule.operations[operation] !== undefined);
  if (stated.length === 0 && rule.operations.all === undefined) return 'it allows and rejects nothing';
  const met = reach.filter((asked) => fits(pattern, asked));
  if (met.length === 0) return hints.find((hint) => hint.applies(pattern, reach))?.text ?? 'the API has no such path';
  const offered = new Set(met.flatMap((asked) => asked.operations));
  if (offered.size === 0) return 'no token is asked for there, and so no policy';
  const vain = stated.filter((operation) => !offered.has(operation));
  if (vain.length === 0) return undefined;
  const spoken = vain.map((operation) => `"${operation}"`).join(' or ');
  return `no request there does ${spoken}, only ${[...offered].map((operation) => `"${operation}"`).join(', ')}`;
}

type Pattern = readonly PatternSegment[];

/** Why a path is none, the likeliest first. */
const hints: readonly { readonly text: string; readonly applies: (pattern: Pattern, reach: Reach) => boolean }[] = [
  {
    text: 'braces stand for a name in the API description only; here "*" stands for any name',
    applies: (pattern) => pattern.some((segment) => segment.kind === 'literal' && /^\{.*\}$/.test(segment.text)),
  },
  {
    text: '"%2F" is a slash inside a name, not one between segments',
    applies: (pattern) => pattern.some((segment) => segment.kind === 'literal' && segment.text.includes('/')),
  },
  {
    text: 'upper and lower case count, and the path is not spelled so',
    applies: (pattern, reach) => {
      const lower = pattern.map((segment) => (segment.kind === 'literal' ? literal(segment.text.toLowerCase()) : segment));
      return reach.some((asked) => fits(lower, asked));
    },
  },
];

function fits(pattern: Pattern, { path }: Asked): boolean {
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

/** The place of a name, the same in both trees and whatever the parameters are called. */
function placeOf(path: string): string {
  return path.replace(/^\/v1\/(?:config|state)\//, '').replaceAll(/\{[^}]*\}/g, '{}');
}
