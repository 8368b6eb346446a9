// Table of all endpoints, each with values computed once instead of per request.
import { anyValue } from '../access/policy/constraints.ts';
import { formatOutput, shapeOf, toKebab, unite, type Shape } from '../wire/schema.ts';
import { inOneSpelling, spellingsOf } from './request/spellings.ts';
import type { Alias } from './alias.ts';
import type { AnyEndpoint } from './endpoint.ts';
import { judgedSegments } from './judged-path.ts';
import { namedFieldsOf, type NamedField } from './named-entries.ts';
import { RouteTable } from './route-table.ts';

/** A field of the input in the audit record: by value, or, for payloads and secrets, by size only. */
export type AuditField = {
  readonly camel: string;
  readonly wire: string;
  readonly shape: Shape | undefined;
  readonly sizeOnly: boolean;
  /** base64, or raw text with `base64-encoded` false */
  readonly isPayload: boolean;
};

/** An endpoint in the table. */
export type Route = {
  readonly endpoint: AnyEndpoint;
  /** set for a route of a foreign API that stands for the endpoint */
  readonly alias?: Alias;
  readonly auditFields: readonly AuditField[];
  /** fields of the input that name entries */
  readonly namedFields: readonly NamedField[];
  /** The input in wire form. */
  wireInput(input: unknown): unknown;
  /** The same in the one spelling in which policies judge values. */
  constrainedInput(input: unknown): unknown;
  /**
   * possible fields of that input: of the action itself, and of the one as which policies judge it. Undefined for resources, which judge
   * documents
   */
  readonly constrainedShape: Shape | undefined;
};

/**
 * Builds the table. HEAD is offered with GET, unless the GET has an effect. Throws if two endpoints have the same method and path, and if an
 * alias stands for none.
 */
export function buildRoutes(endpoints: readonly AnyEndpoint[], aliases: readonly Alias[] = []): RouteTable<Route> {
  const table = new RouteTable<Route>();
  const byName = new Map(endpoints.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint]));
  for (const endpoint of endpoints) {
    const route = routeOf(endpoint, byName);
    table.add(endpoint.method, endpoint.path, route);
    if (endpoint.method === 'GET' && endpoint.noHead !== true) table.add('HEAD', endpoint.path, route);
  }
  for (const alias of aliases) {
    const endpoint = byName.get(alias.of);
    if (endpoint === undefined) throw new Error(`${alias.method} ${alias.path} stands for ${alias.of}, which is not an endpoint`);
    table.add(alias.method, alias.path, { ...routeOf(endpoint, byName), alias });
  }
  return table;
}

/** Tells whether the endpoint is for browsers: its refusals are pages unless JSON is preferred. */
export function isPage({ endpoint }: Route): boolean {
  return endpoint.access === 'public' && endpoint.page === true;
}

function routeOf(endpoint: AnyEndpoint, byName: ReadonlyMap<string, AnyEndpoint>): Route {
  const secret = new Set<string>(endpoint.secretInput ?? []);
  const shown = (endpoint.auditFields ?? []).filter((camel) => !secret.has(camel));
  const judgedFields = endpoint.access === 'public' ? undefined : endpoint.judgedAs?.fields;
  const shape = endpoint.input === undefined ? undefined : shapeOf(endpoint.input);
  const spellings = spellingsOf([endpoint.input, judgedOf(endpoint, byName)?.input]);
  const auditField = (camel: string, sizeOnly: boolean): AuditField => ({
    camel,
    wire: toKebab(camel),
    shape: shape?.kind === 'object' ? shape.byCamel.get(camel)?.shape : undefined,
    sizeOnly,
    isPayload: spellings.payloads.has(toKebab(camel)),
  });
  const wireInput = (input: unknown): unknown =>
    Object.assign({}, judgedFields, endpoint.input === undefined ? undefined : formatOutput(input, endpoint.input)) as unknown;
  return {
    endpoint,
    auditFields: [...shown.map((camel) => auditField(camel, false)), ...[...secret].map((camel) => auditField(camel, true))],
    namedFields: endpoint.input === undefined ? [] : namedFieldsOf(endpoint.input),
    constrainedShape: constrainedShapeOf(endpoint, byName),
    wireInput,
    constrainedInput: (input) => inOneSpelling(spellings, wireInput(input), anyValue),
  };
}

/** As `constrainedShape` of a route; `byName`: every endpoint, by method and path. */
export function constrainedShapeOf(endpoint: AnyEndpoint, byName: ReadonlyMap<string, AnyEndpoint>): Shape | undefined {
  if (endpoint.access === 'public' || endpoint.input === undefined || endpoint.documented?.resource !== undefined) return undefined;
  // Entries of a batch are judged as documents.
  if (endpoint.operation === 'create') return undefined;
  const own = shapeOf(endpoint.input);
  const other = judgedOf(endpoint, byName);
  return other?.input === undefined || other === endpoint ? own : unite(own, shapeOf(other.input));
}

/** The endpoint as which policies judge this one; undefined if that is not one. */
function judgedOf(endpoint: AnyEndpoint, byName: ReadonlyMap<string, AnyEndpoint>): AnyEndpoint | undefined {
  if (endpoint.access === 'public') return undefined;
  return byName.get(`${endpoint.method} ${judgedSegments(endpoint, endpoint.path.split('/')).join('/')}`);
}
