// The HTTP side of the house: endpoints and resources become one request handler, one route list and one API description.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { H3, type H3Event, toNodeHandler } from 'h3';
import type { Audit } from '../audit/record.ts';
import { withTenants } from './tenants/audit-tenants.ts';
import type { Hsm } from '../../hsm/api.ts';
import { createAccessControl } from '../access/access-control.ts';
import { approleLoginEndpoint } from './approles/login-endpoint.ts';
import { approleResource } from './approles/approle-resource.ts';
import { secretIdEndpoints } from './approles/secret-id-endpoints.ts';
import { tokenCreateEndpoint } from './tokens/create-endpoint.ts';
import { tokenEndpoints } from './tokens/token-endpoints.ts';
import type { Clock, Log } from '../base/context.ts';
import type { ErrorTable } from '../base/errors.ts';
import { policyCheckEndpoint } from './policies/policy-check-endpoint.ts';
import { policyResource } from './policies/policy-resource.ts';
import { reachOf, type Reach } from './policies/reach.ts';
import { openPolicies } from '../access/policy/policies.ts';
import type { Store } from '../store/store.ts';
import { tenantResource } from './tenants/tenant-resource.ts';
import { openTenants } from '../access/tenants.ts';
import { descriptionEndpoints } from './system/description-endpoints.ts';
import type { AnyEndpoint } from '../http/endpoint.ts';
import { healthEndpoint, type Health } from './system/health-endpoint.ts';
import { buildOpenApi, type OpenApiDocument } from '../http/description/openapi.ts';
import type { BodyRoom } from '../http/request/body-room.ts';
import type { Answered } from '../http/context/request-context.ts';
import { createPipeline } from '../http/pipeline.ts';
import { createProblems } from '../http/response/problem.ts';
import type { AnyResource } from '../http/resource/resource.ts';
import { resourceEndpoints } from '../http/resource/resources.ts';
import { buildRoutes } from '../http/routes.ts';
import { topicEndpoints, type TopicDirectories } from './system/topic-endpoints.ts';

export type AppOptions = {
  /** of the plugins; the platform adds its own: tokens, tenants, policies, health, description */
  readonly endpoints: readonly AnyEndpoint[];
  readonly resources: readonly AnyResource[];
  /** error tables of the plugins; the platform's own is always part */
  readonly errors: readonly ErrorTable[];
  readonly store: Store;
  readonly audit: Audit;
  readonly hsm: Hsm;
  readonly clock: Clock;
  readonly log: Log;
  readonly health: () => Health | Promise<Health>;
  /** where audit trail and logs lie, to be read as topics; absent: they cannot be read */
  readonly topics?: TopicDirectories | undefined;
  /** whether the appliance waits for the PIN; default: never */
  readonly sealed?: () => boolean;
  /** Told of every answer, for metrics. */
  readonly onAnswered?: (answered: Answered) => void;
  /** where large bodies wait for memory; absent: one of the usual size */
  readonly bodyRoom?: BodyRoom;
};

export type App = {
  /** For node's http and https servers. */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  /** Every endpoint, those made from resources included. */
  readonly routes: readonly AnyEndpoint[];
  openapi(): OpenApiDocument;
  /** Ends answers that go on until somebody ends them: topics that are followed. For an orderly stop. */
  endStreams(): void;
};

/** Throws when two endpoints share a method and path or two error tables a code. */
export function createApp(options: AppOptions): App {
  const { store } = options;
  const tenants = openTenants(store);
  const policies = openPolicies(store);
  const access = createAccessControl(store, tenants, policies);
  let reach: Reach | undefined;
  const resources: readonly AnyResource[] = [
    tenantResource({ ...options, tenants, policies, resources: () => resources }),
    policyResource(policies, tenants, () => (reach ??= reachOf(routes))),
    approleResource({ ...options, policies }),
    ...options.resources,
  ];
  const topics = options.topics === undefined ? undefined : topicEndpoints({ ...options, access, directories: options.topics });
  const routes: readonly AnyEndpoint[] = [
    healthEndpoint(options.health),
    ...tokenEndpoints({ ...options, tenants, access }),
    tokenCreateEndpoint({ ...options, policies }),
    ...secretIdEndpoints(options),
    approleLoginEndpoint({ ...options, tenants }),
    policyCheckEndpoint({ store, access, policies, routes: () => table }),
    ...(topics?.endpoints ?? []),
    ...options.endpoints,
    ...resources.flatMap((resource) => resourceEndpoints(resource, store)),
    ...descriptionEndpoints(() => openapi()),
  ];
  const table = buildRoutes(routes);
  const openapi = (): OpenApiDocument => buildOpenApi(routes, options.errors);
  const receive = createPipeline({
    ...options,
    audit: withTenants(options.audit, tenants),
    access,
    sealed: options.sealed ?? (() => false),
    routes: table,
    problems: createProblems(options.errors),
  });
  return { handler: handlerOf(receive), routes, openapi, endStreams: () => topics?.endStreams() };
}

/**
 * The pipeline as the one handler of h3: routes, refusals and bodies are ours, because h3 would answer 404 for a wrong method, echo
 * URLs and read any media type (api 77). The answer goes straight to the node response, which is half again as fast as a Response.
 */
function handlerOf(receive: (request: IncomingMessage, response: ServerResponse) => void): App['handler'] {
  const throughH3 = toNodeHandler(new Door(receive));
  return (request, response) => {
    // h3 makes a URL of Host and target and throws when that is none; the pipeline reads all forms of a target, and no Host.
    if (request.url?.startsWith('/') !== true) return receive(request, response);
    try {
      void throughH3(request, response);
    } catch {
      // Only before it hands the request on: what is thrown after that, h3 keeps to itself.
      receive(request, response);
    }
  };
}

/** h3 with one handler for everything: its router took as long to find the only route there was as ours takes. */
class Door extends H3 {
  readonly #receive: (request: IncomingMessage, response: ServerResponse) => void;

  constructor(receive: (request: IncomingMessage, response: ServerResponse) => void) {
    super({ allowMalformedURL: true, silent: true });
    this.#receive = receive;
  }

  override handler(event: H3Event): PromiseLike<never> {
    const { req, res } = event.runtime?.node ?? {};
    if (req === undefined || res === undefined) throw new Error('this app runs on node servers only');
    this.#receive(req as IncomingMessage, res as ServerResponse);
    return answered;
  }
}

/** Tells h3 to wait for an answer that never comes from the handler: a settled one would make it end the response a second time. */
// oxlint-disable-next-line unicorn/no-thenable -- a thenable is the point: h3 asks it for an answer that is out already
const answered: PromiseLike<never> = { then: () => answered };
