// Names of operations on the command line and in generated clients, derived from method and path.
import { defined } from '../../base/defined.ts';
import type { AnyEndpoint } from '../endpoint.ts';
import { toKebab } from '../../wire/schema.ts';

/** `x-command` in the description: the command line is generated from it alone. */
export type Command = {
  readonly verb: 'create' | 'list' | 'show' | 'merge' | 'replace' | 'delete' | 'do' | 'login' | 'logout';
  /** `transit-keys`, `oidc-roles`, `system`; a login's method for `login` */
  readonly resource?: string;
  readonly tree?: 'config' | 'state';
  /** of `do` */
  readonly action?: string;
  /** fields given as arguments after the names of the path */
  readonly positional?: readonly string[];
  /** fields read from and written to files */
  readonly in?: string;
  readonly out?: string;
  /** values of fields with which the field of `out` is base64 of octets */
  readonly 'octets-with'?: Readonly<Record<string, string>>;
  /** the booleans of the answer that decide the exit code: each must be true */
  readonly verdict?: string | readonly string[];
  /** permanent effect, following "this"; confirmed on a terminal first */
  readonly ends?: string;
  /** of `login`: polled until there is a token */
  readonly poll?: string;
};

/** Undefined for endpoints without a command: pages, public files, the description. `paths` are those of all endpoints. */
export function commandOf(endpoint: AnyEndpoint, paths: ReadonlySet<string>): Command | undefined {
  const [version, tree, ...rest] = endpoint.path.slice(1).split('/');
  if (version !== 'v1') return undefined;
  const login = /^(.+)-login$/.exec(tree ?? '');
  if (rest.length === 0 && endpoint.method === 'POST') {
    if (tree === 'logout') return { verb: 'logout' };
    const poll = `${endpoint.path}/poll`;
    return login?.[1] === undefined ? undefined : { verb: 'login', resource: login[1], ...(paths.has(poll) ? { poll } : {}) };
  }
  if (tree !== 'config' && tree !== 'state') return undefined;
  const ofEntry = isParameter(rest.at(-1) ?? '');
  if (endpoint.method === 'GET') {
    const hasEntries = [...paths].some(
      (path) => path.startsWith(`${endpoint.path}/{`) && !path.slice(endpoint.path.length + 1).includes('/'),
    );
    const isList = !ofEntry && (hasEntries || endpoint.output?.def.type === 'array');
    return { verb: isList ? 'list' : 'show', resource: resourceName(rest), tree, ...hintsOf(endpoint) };
  }
  // A batch of creations is an action: it has no entry that could be shown or changed.
  const isBatch = endpoint.method === 'POST' && rest.at(-1)?.endsWith('-batch') === true;
  if (tree === 'config' && !isBatch)
    return { verb: configVerbs[endpoint.method], resource: resourceName(rest), tree, ...hintsOf(endpoint) };
  return { verb: 'do', resource: resourceName(rest.slice(0, -1)), action: rest.at(-1) ?? '', ...hintsOf(endpoint) };
}

/** `transitKeysCreate`, `transitKeysEncrypt`, `transitKeysShowConfig`; of what has no command, its own or one of method and path. */
export function operationIdOf(endpoint: AnyEndpoint, command: Command | undefined): string {
  if (endpoint.operationId !== undefined) return endpoint.operationId;
  if (command === undefined) return toCamel(`${endpoint.method.toLowerCase()}-${endpoint.path.replace(/[{}]/g, '')}`);
  const { verb, resource = '', tree, action } = command;
  const isConfigRead = tree === 'config' && (verb === 'list' || verb === 'show');
  return toCamel(`${resource === '' ? '' : `${resource}-`}${action ?? verb}${isConfigRead ? '-config' : ''}`);
}

const configVerbs = { POST: 'create', PUT: 'replace', PATCH: 'merge', DELETE: 'delete' } as const;

function hintsOf({ commandLine }: AnyEndpoint): Partial<Command> {
  if (commandLine === undefined) return {};
  const { positional, input, output, octetsWith, verdict, ends } = commandLine;
  return defined({
    positional: positional?.map(toKebab),
    in: input === undefined ? undefined : toKebab(input),
    out: output?.split('.').map(toKebab).join('.'),
    'octets-with':
      octetsWith === undefined ? undefined : Object.fromEntries(Object.entries(octetsWith).map(([name, value]) => [toKebab(name), value])),
    verdict: verdict === undefined ? undefined : typeof verdict === 'string' ? toKebab(verdict) : verdict.map(toKebab),
    ends,
  });
}

/**
 * The last word before each parameter: `keystore/authentication/oidc/{service}/roles/{name}` is `oidc-roles`. A word that says nothing alone has the one
 * before it: `keystore/authentication/certificate/roles/{name}` is `certificate-roles`.
 */
function resourceName(segments: readonly string[]): string {
  const isLastOfStretch = (_: string, index: number): boolean => {
    const next = segments[index + 1];
    return !isParameter(segments[index] ?? '') && (next === undefined || isParameter(next));
  };
  const named = (segment: string, index: number): readonly string[] => {
    const before = segments[index - 1] ?? '{';
    if (!isLastOfStretch(segment, index)) return [];
    return segment === 'roles' && !isParameter(before) ? [before, segment] : [segment];
  };
  return segments.flatMap(named).join('-');
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{');
}

function toCamel(text: string): string {
  return text.replace(/[^A-Za-z0-9]+$/, '').replace(/[^A-Za-z0-9]+([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
