// What a request target names: its path in normal form, and the entry of the route table. Remembered, because clients ask for the same again and again.
import { readRequestPath, type RequestPath } from './path.ts';
import type { RouteMatch, RouteTable } from '../route-table.ts';

/** `path` is undefined for what has no normal form, `match` for what is no route. */
export type FoundPath<Target> = { readonly path: RequestPath | undefined; readonly match: RouteMatch<Target> | undefined };

/** Targets that are remembered, and the longest: half a megabyte, whatever is asked for. */
const keptTargets = 1_000;
const longestKeptTarget = 256;

/** The paths of one route table, which is complete before the first is looked for. */
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
    // What stands in a query is not ours to keep, and seldom comes twice.
    if (match !== undefined && target.length <= longestKeptTarget && !target.includes('?')) this.#keep(target, found);
    return found;
  }

  #keep(target: string, found: FoundPath<Target>): void {
    if (this.#kept.size >= keptTargets) this.#kept.clear();
    this.#kept.set(target, found);
  }
}
