// The rules of the source tree, as functions of its files, so that a test can show each of them a planted violation.
import { dirname, posix } from 'node:path';

/** Text of every source file, by its path from the root. */
export type Sources = ReadonlyMap<string, string>;

/** One rule: its name, and what breaks it, a line each. */
export type Rule = { readonly name: string; readonly violations: (sources: Sources) => readonly string[] };

export const floors = ['hsm', 'core', 'plugins', 'appliance'] as const;

/** Packages only one floor may touch. */
const owners: Readonly<Record<string, string>> = { pkcs11js: 'hsm', 'graphene-pk11': 'hsm', lmdb: 'core' };

/** Files of core whose code names a plugin, and why. */
const namesPlugins: ReadonlySet<string> = new Set([
  // The listener of EST is an option of the configuration and of the command line, which stay.
  'core/config/options.ts',
  'core/config/schema.ts',
  'core/plugin/services/listeners.ts',
  'core/outbound/destinations.ts',
  // Records of enrolments have a kind of their own in the format of the audit trail.
  'core/audit/record.ts',
  'core/audit/unauthenticated-limit.ts',
  // Commands of devices are those of a protocol, and two parts of the appliance show them.
  'core/enrolment/commands.ts',
  // The name of a service is the one of its provider.
  'core/plugin/services/transit-keys.ts',
  // Texts and examples of the API description, and a built-in policy, name paths that users know.
  'core/platform/policies/policy-check-endpoint.ts',
  'core/platform/tenants/tenant-resource.ts',
  'core/http/description/refusals.ts',
  'core/access/policy/policy.ts',
  'core/access/policy/built-in.ts',
]);

const mostLines = 400;
const mostFiles = 14;
/** without blank lines and comments */
const longestFunction = 80;

type Import = { readonly from: string; readonly to: string };

export const rules: readonly Rule[] = [
  {
    name: 'a lower floor never imports a higher one',
    violations: forbiddenImports(({ from, to }) => floors.indexOf(floorOf(to)) > floors.indexOf(floorOf(from))),
  },
  {
    name: 'core and plugins see of the HSM floor only hsm/api.ts',
    violations: forbiddenImports(
      ({ from, to }) => (floorOf(from) === 'core' || floorOf(from) === 'plugins') && floorOf(to) === 'hsm' && to !== 'hsm/api.ts',
    ),
  },
  {
    name: 'the client of a token host imports nothing of the engine',
    violations: forbiddenImports(({ from, to }) => from.startsWith('hsm/client/') && to.startsWith('hsm/engine/')),
  },
  {
    name: 'nobody sees the inside of a plugin; plugins do not see each other at all',
    violations: forbiddenImports(
      ({ from, to }) =>
        floorOf(to) === 'plugins' &&
        pluginOf(from) !== pluginOf(to) &&
        (floorOf(from) === 'plugins' || !/^plugins\/[^/]+\/index\.ts$/.test(to)),
    ),
  },
  {
    name: 'core/plugin/services holds types and typed names only',
    violations: (sources) =>
      [...sources]
        .filter(([file]) => file.startsWith('core/plugin/services/'))
        .filter(([, text]) => /^(export )?(let|function|class|async function) /m.test(text))
        .map(([file]) => file),
  },
  {
    name: 'a package with an owner is imported by its owner only',
    violations: (sources) =>
      [...sources].flatMap(([file, text]) =>
        specifiers(text)
          .filter((name) => owners[name] !== undefined && owners[name] !== floorOf(file))
          .map((name) => `${file} imports ${name}`),
      ),
  },
  {
    name: `no file is above ${mostLines} lines`,
    violations: (sources) => [...sources].filter(([, text]) => text.split('\n').length > mostLines + 1).map(([file]) => file),
  },
  {
    name: `a function above ${longestFunction} lines says in its comment why`,
    violations: (sources) =>
      [...sources].flatMap(([file, text]) =>
        longFunctions(text)
          .filter(({ comment }) => !comment.includes('Long because'))
          .map(({ name, lines }) => `${file}: ${name} has ${lines} lines`),
      ),
  },
  {
    name: 'every file says in its first line what it is for',
    violations: (sources) => [...sources].filter(([, text]) => !/^(#!.*\n)?\/\/ \S/.test(text)).map(([file]) => file),
  },
  {
    name: `no folder has more than ${mostFiles} files`,
    violations: (sources) =>
      [...countBy([...sources.keys()], (file) => dirname(file))].flatMap(([folder, count]) =>
        count > mostFiles ? [`${folder}: ${count}`] : [],
      ),
  },
  {
    name: 'core names no plugin outside of what is listed',
    violations: (sources) =>
      [...sources]
        .filter(([file]) => floorOf(file) === 'core' && !namesPlugins.has(file))
        .flatMap(([file, text]) =>
          [...withoutComments(text).matchAll(/\b(?:est|openpgp|oidc|transit)(?![a-z])/gi)].map(([word]) => `${file}: ${word}`),
        ),
  },
  { name: 'folders beside each other form no circle', violations: (sources) => circles(sources) },
  { name: 'files form no circle', violations: (sources) => circlesOfFiles(sources) },
];

/** The static and dynamic imports of files of the tree from files of the tree. */
function importsOf(sources: Sources): readonly Import[] {
  return [...sources].flatMap(([from, text]) =>
    specifiers(text)
      .filter((name) => name.startsWith('.'))
      .map((name) => ({ from, to: posix.join(posix.dirname(from), name) }))
      .filter(({ to }) => floors.some((floor) => to.startsWith(`${floor}/`))),
  );
}

function forbiddenImports(isForbidden: (one: Import) => boolean): Rule['violations'] {
  return (sources) =>
    importsOf(sources)
      .filter(isForbidden)
      .map(({ from, to }) => `${from} -> ${to}`);
}

/** Files that need each other, whether for a type or for more: neither is read without the other. */
function circlesOfFiles(sources: Sources): string[] {
  const arrows = new Map<string, Set<string>>();
  for (const { from, to } of importsOf(sources))
    if (from !== to && sources.has(to)) arrows.set(from, (arrows.get(from) ?? new Set()).add(to));
  return stronglyConnected(arrows)
    .filter((members) => members.length > 1)
    .map((members) => members.toSorted().join(' '));
}

/** Circles at every level of the tree: the folders in one folder count as wholes, the files in it one by one. */
function circles(sources: Sources): string[] {
  const all = importsOf(sources);
  const folders = new Set([...sources.keys()].flatMap(foldersAbove));
  return [...folders].toSorted().flatMap((folder) => {
    const arrows = new Map<string, Set<string>>();
    for (const { from, to } of all) {
      const [start, end] = [childOf(folder, from), childOf(folder, to)];
      if (start === undefined || end === undefined || start === end) continue;
      arrows.set(start, (arrows.get(start) ?? new Set()).add(end));
    }
    return stronglyConnected(arrows)
      .filter((members) => members.length > 1 && members.some((member) => !member.includes('.')))
      .map((members) => `${folder}: ${members.toSorted().join(' ')}`);
  });
}

function foldersAbove(file: string): string[] {
  const parts = file.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

function childOf(folder: string, file: string): string | undefined {
  return file.startsWith(`${folder}/`) ? file.slice(folder.length + 1).split('/')[0] : undefined;
}

/** Tarjan's algorithm: every group of nodes that reach each other. */
function stronglyConnected(arrows: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const index = new Map<string, number>();
  const stack: string[] = [];
  const groups: string[][] = [];
  const visit = (node: string): number => {
    index.set(node, index.size);
    let lowest = index.size - 1;
    stack.push(node);
    for (const next of arrows.get(node) ?? []) {
      if (!index.has(next)) lowest = Math.min(lowest, visit(next));
      else if (stack.includes(next)) lowest = Math.min(lowest, index.get(next) as number);
    }
    if (lowest === index.get(node)) groups.push(stack.splice(stack.indexOf(node)));
    return lowest;
  };
  for (const node of arrows.keys()) if (!index.has(node)) visit(node);
  return groups;
}

type LongFunction = { readonly name: string; readonly lines: number; readonly comment: string };

/** The head of a function or of a method; the format puts its last brace below the first character of its head. */
const functionHead = /^(\s*)(?:export )?(?:default )?(?:async )?(?:function\*? (\w+)|(?:get |set |static )*([#\w]+)\((?!.*=>)[^;]*[{(,]$)/;

function longFunctions(text: string): readonly LongFunction[] {
  const lines = text.split('\n');
  return lines.flatMap((line, at): readonly LongFunction[] => {
    const [, indent = '', ofFunction, ofMethod] = functionHead.exec(line) ?? [];
    const name = ofFunction ?? (indent === '  ' ? ofMethod : undefined);
    if (name === undefined || /^(?:if|for|while|switch|return|super)$/.test(name)) return [];
    const length = lines.slice(at).findIndex((one) => one === `${indent}}`);
    const body = lines.slice(at, at + length + 1).filter((one) => !/^\s*(?:$|\/\/|\/?\*)/.test(one));
    return body.length > longestFunction ? [{ name, lines: body.length, comment: commentAbove(lines, at) }] : [];
  });
}

function commentAbove(lines: readonly string[], at: number): string {
  const first = lines.slice(0, at).findLastIndex((line) => !/^\s*(?:\/\/|\/?\*)/.test(line));
  return lines.slice(first + 1, at).join('\n');
}

function countBy<T>(values: readonly T[], key: (value: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(key(value), (counts.get(key(value)) ?? 0) + 1);
  return counts;
}

function specifiers(text: string): string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1] as string);
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[^]*?\*\//g, '').replaceAll(/(?:^|\s)\/\/.*$/gm, '');
}

function floorOf(file: string): (typeof floors)[number] {
  return file.split('/')[0] as (typeof floors)[number];
}

function pluginOf(file: string): string | undefined {
  return floorOf(file) === 'plugins' ? file.split('/')[1] : undefined;
}
