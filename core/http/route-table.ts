// Finds the route of a path: literal segments before parameters, each path with all its methods, so that 405 can list them.

/** The methods of one path. */
export type RouteEntry<Target> = {
  /** `/v1/config/tenants/{name}` */
  readonly template: string;
  readonly methods: ReadonlyMap<string, Target>;
  /** the methods in order, for the Allow header */
  readonly allow: readonly string[];
};

export type RouteMatch<Target> = { readonly entry: RouteEntry<Target>; readonly params: Readonly<Record<string, string>> };

type Node<Target> = {
  readonly literals: Map<string, Node<Target>>;
  parameter: Node<Target> | undefined;
  /** matches all remaining segments, if nothing more specific does */
  rest: Node<Target> | undefined;
  leaf: { entry: RouteEntry<Target> & { readonly methods: Map<string, Target> }; parameterNames: readonly string[] } | undefined;
};

/** A table of path templates whose parameters are whole segments in braces; a last one with a star, `{path*}`, takes one segment or more. */
export class RouteTable<Target> {
  readonly #root: Node<Target> = newNode();

  /** Adds a method at a path. Throws when it is taken, also under other parameter names. */
  add(method: string, template: string, target: Target): void {
    const segments = template.slice(1).split('/');
    let node = this.#root;
    for (const segment of template === '/' ? [] : segments) {
      if (isRest(segment)) node = node.rest ??= newNode();
      else if (isParameter(segment)) node = node.parameter ??= newNode();
      else {
        const next = node.literals.get(segment) ?? newNode<Target>();
        node.literals.set(segment, next);
        node = next;
      }
    }
    node.leaf ??= {
      entry: { template, methods: new Map(), allow: [] },
      parameterNames: segments.filter(isParameter).map((segment) => segment.slice(1, isRest(segment) ? -2 : -1)),
    };
    const { entry } = node.leaf;
    if (entry.methods.has(method)) throw new Error(`two endpoints want ${method} ${template}`);
    if (entry.template !== template) throw new Error(`${template} and ${entry.template} are the same path with different parameter names`);
    entry.methods.set(method, target);
    node.leaf = { ...node.leaf, entry: { ...entry, allow: [...entry.methods.keys()].sort() } };
  }

  /** The entry of decoded segments, or undefined. */
  match(segments: readonly string[]): RouteMatch<Target> | undefined {
    const values: string[] = [];
    const leaf = find(this.#root, segments, 0, values);
    if (leaf === undefined) return undefined;
    const params: Record<string, string> = {};
    for (const [index, name] of leaf.parameterNames.entries()) params[name] = values[index] ?? '';
    return { entry: leaf.entry, params };
  }

  /** The known literals at the start of an unknown path, and an ellipsis for the rest: `/v1/config/…`. */
  knownPart(segments: readonly string[]): string {
    let node: Node<Target> | undefined = this.#root;
    let known = '';
    for (const segment of segments) {
      node = node?.literals.get(segment);
      if (node === undefined) break;
      known += `/${segment}`;
    }
    return `${known}/…`;
  }
}

function newNode<Target>(): Node<Target> {
  return { literals: new Map(), parameter: undefined, rest: undefined, leaf: undefined };
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{');
}

function isRest(segment: string): boolean {
  return segment.endsWith('*}');
}

/** Searches depth first, so that a literal without a match below it does not hide a parameter. */
function find<Target>(node: Node<Target>, segments: readonly string[], at: number, values: string[]): Node<Target>['leaf'] {
  const segment = segments[at];
  if (segment === undefined) return node.leaf;
  const literal = node.literals.get(segment);
  const leaf = literal === undefined ? undefined : find(literal, segments, at + 1, values);
  if (leaf !== undefined) return leaf;
  if (node.parameter !== undefined) {
    values.push(segment);
    const below = find(node.parameter, segments, at + 1, values);
    if (below !== undefined) return below;
    values.pop();
  }
  if (node.rest !== undefined) values.push(segments.slice(at).join('/'));
  return node.rest?.leaf;
}
