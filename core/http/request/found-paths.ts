// Finds the path and the route of a request target. Results are cached, because clients repeat their targets.
import { readRequestPath, type RequestPath } from './path.ts';
import type { RouteMatch, RouteTable } from '../route-table.ts';

/** `path` is undefined for a target without a normal form, `match` for an unknown path. */
export type FoundPath<Target> = { readonly path: RequestPath | undefined; readonly match: RouteMatch<Target> | undefined };

/** Number and length of cached targets: half a megabyte at most. */
const keptTargets = 1_000;
const longestKeptTarget = 256;

/** The paths of one route table, which must be complete before the first lookup. */
export class FoundPaths<Target> {
  readonly #routes: RouteTable<Target>;
  readonly #kept = new Map<string, FoundPath<Target>>();

  constructor(routes: RouteTable<Target>) {
    this.#routes = routes;
  }

  find(target: string): FoundPath<Target> {
    const known = this.#kept.get(target);
    if (known !== undefined) return known;
    const path = readRequestPath(target);
    const match = path === undefined ? undefined : this.#routes.match(path.segments);
    const found = { path, match };
    // A query may hold what should not be kept, and is seldom repeated.
    if (match !== undefined && target.length <= longestKeptTarget && !target.includes('?')) this.#keep(target, found);
    return found;
  }

  #keep(target: string, found: FoundPath<Target>): void {
    if (this.#kept.size >= keptTargets) this.#kept.clear();
    this.#kept.set(target, found);
  }
}
