// Endpoints and resources become one request handler, one list of routes and one API description, which the app serves too.
import type { ErrorTable } from '../base/errors.ts';
import type { Store } from '../store/store.ts';
import type { Alias } from './alias.ts';
import type { ApiServer } from './context/api-request.ts';
import type { Invoke } from './context/direct-exchange.ts';
import { descriptionEndpoints } from './description/endpoints.ts';
import { buildOpenApi, type OpenApiDocument } from './description/openapi.ts';
import type { AnyEndpoint } from './endpoint.ts';
import { throughH3 } from './h3-adapter.ts';
import { createPipeline, type Handler } from './pipeline.ts';
import type { BodyRoom } from './request/body-room.ts';
import type { AnyResource } from './resource/resource.ts';
import { resourceEndpoints } from './resource/resources.ts';
import { createProblems } from './response/problem.ts';
import type { RouteTable } from './route-table.ts';
import { buildRoutes, type Route } from './routes.ts';
import type { Scheme } from './authentication.ts';

export type HttpAppOptions = Omit<ApiServer, 'problems' | 'approvals'> & {
  readonly endpoints: readonly AnyEndpoint[];
  readonly resources: readonly AnyResource[];
  /** routes of foreign APIs */
  readonly aliases?: readonly Alias[] | undefined;
  /** error tables beyond the core's own */
  readonly errors: readonly ErrorTable[];
  readonly store: Store;
  /** schemes of the Authorization header that plugins add; absent: Bearer alone */
  readonly schemes?: readonly Scheme[] | undefined;
  /** room in which large bodies wait for memory; absent: one of the usual size */
  readonly bodyRoom?: BodyRoom | undefined;
};

export type HttpApp = {
  /** handler for node's http and https servers */
  readonly handler: Handler;
  /** entry for other protocols of this process */
  readonly invoke: Invoke;
  /** true if a route has the method LIST, which listeners accept only on request */
  readonly takesList: boolean;
  /** every endpoint, including those made from resources */
  readonly routes: readonly AnyEndpoint[];
  readonly table: RouteTable<Route>;
  readonly resources: readonly AnyResource[];
  readonly openapi: () => OpenApiDocument;
};

/** Makes the app. Throws if two endpoints share a method and path or two error tables a code. */
export function createHttpApp(options: HttpAppOptions): HttpApp {
  const { endpoints, resources, errors, store } = options;
  const openapi = (): OpenApiDocument => buildOpenApi(routes, errors);
  const routes: readonly AnyEndpoint[] = [
    ...withoutYielding(endpoints),
    ...resources.flatMap((resource) => resourceEndpoints(resource, store)),
    ...descriptionEndpoints(openapi),
  ];
  const table = buildRoutes(routes, options.aliases);
  const { handler, invoke } = createPipeline({ ...options, routes: table, problems: createProblems(errors) });
  return {
    handler: throughH3(handler),
    invoke,
    takesList: options.aliases?.some(({ method }) => method === 'LIST') === true,
    routes,
    table,
    resources,
    openapi,
  };
}

/** Removes endpoints that yield to another one with the same method and path. */
function withoutYielding(endpoints: readonly AnyEndpoint[]): readonly AnyEndpoint[] {
  const nameOf = ({ method, path }: AnyEndpoint): string => `${method} ${path}`;
  const firm = new Set(endpoints.filter(({ yields }) => yields !== true).map(nameOf));
  return endpoints.filter((endpoint) => endpoint.yields !== true || !firm.has(nameOf(endpoint)));
}
