// Finds the endpoint of a request: repeated or missing header 400, path 404, method 405.
import { fail } from '../base/errors.ts';
import type { Routed } from './context/api-request.ts';
import type { Exchange, HttpExchange } from './context/exchange.ts';
import type { Unrouted } from './context/unrouted-request.ts';
import { FoundPaths } from './request/found-paths.ts';
import type { RequestPath } from './request/path.ts';
import { repeatedHeader, unmetHeader } from './request/header-rules.ts';
import type { RouteTable } from './route-table.ts';
import { isPage, type Route } from './routes.ts';

/** Finds the endpoints of one table. */
export class Router {
  readonly #routes: RouteTable<Route>;
  readonly #paths: FoundPaths<Route>;

  constructor(routes: RouteTable<Route>) {
    this.#routes = routes;
    this.#paths = new FoundPaths(routes);
  }

  /**
   * Unknown paths and methods are refused without a token: the list of paths is public in the API description. A person may get lost on
   * any unknown path, and on a page with a method it does not have.
   */
  find(exchange: HttpExchange): Routed | Unrouted {
    const { request } = exchange;
    const repeated = repeatedHeader(request);
    if (repeated !== undefined) return { refusal: repeated, path: undefined, mayBePage: false };
    const found = this.findTarget(exchange);
    const unmet = unmetHeader(request);
    if (unmet === undefined) return found;
    return { refusal: unmet, path: 'route' in found ? found.path.text : found.path, mayBePage: false };
  }

  /** The path of a target of the table, the same object each time: decisions of the policies are remembered by it. Undefined as of readRequestPath. */
  pathOf(target: string): RequestPath | undefined {
    return this.#paths.find(target).path;
  }

  /** As find, for a request without ambiguous headers. */
  findTarget({ method, target }: Pick<Exchange, 'method' | 'target'>): Routed | Unrouted {
    const { path, match } = this.#paths.find(target);
    if (path === undefined || match === undefined) {
      return { refusal: fail('not-found'), path: this.#routes.knownPart(path?.segments ?? []), mayBePage: true };
    }
    const { methods, allow } = match.entry;
    const route = methods.get(method);
    if (route !== undefined) return { path, params: match.params, route };
    const refusal = fail('method-not-allowed', { allow, detail: `The methods of this path are ${allow.join(', ')}.` });
    return { refusal, path: path.text, mayBePage: [...methods.values()].some(isPage) };
  }
}
