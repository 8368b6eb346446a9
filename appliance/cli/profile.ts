// The profile: address, CA and token of each context (an appliance, or a tenant of one), in a small file that only its owner may read.
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { usageError } from './terminal/failure.ts';
import { telling } from './terminal/files.ts';
import { homeOf, type Io } from './terminal/io.ts';

/** One context. */
export type Profile = {
  readonly url?: string;
  /** certificates in PEM, copied so that the original file may move */
  readonly ca?: string;
  readonly token?: string;
  /** absolute paths of a certificate, to which the token may be bound, and of its key */
  readonly clientCert?: string;
  readonly clientKey?: string;
  /** true if a login made the token, so that a logout ends it */
  readonly fromLogin?: boolean;
  /** the login is made again with what its files have then */
  readonly again?: LoginAgain;
};

/** A login that can be made again. Its secrets are in files, and not here. */
export type LoginAgain = {
  /** of the API: `/v1/jwt-login` */
  readonly path: string;
  readonly body: Readonly<Record<string, string>>;
  /** absolute paths by the field that has their text */
  readonly files: Readonly<Record<string, string>>;
  /** instants from which on it is made again, and at which the token ends */
  readonly from: string;
  readonly until: string;
};

export type Contexts = {
  /** the context of a command that names none */
  readonly current: string;
  readonly named: ReadonlyMap<string, Profile>;
};

type Environment = Pick<Io, 'environment'>;

/** The context of a profile without contexts: the file then has the fields of the only one, as it had before there were contexts. */
const onlyContext = 'default';
const contextName = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;

/** `KEYSTORED_PROFILE`, else `keystored/profile.yaml` in the configuration folder of the user. */
function profilePath({ environment }: Environment): string {
  const { KEYSTORED_PROFILE: own, XDG_CONFIG_HOME: folder } = environment;
  return own || join(folder || join(homeOf({ environment }), '.config'), 'keystored', 'profile.yaml');
}

/** Every context; none when the file is absent. Throws a usage error when others may read it or it is not a profile. */
export async function readContexts(io: Environment): Promise<Contexts> {
  const path = profilePath(io);
  if (!existsSync(path)) return { current: onlyContext, named: new Map() };
  if ((statSync(path).mode & 0o077) !== 0) throw usageError(`${path} holds a token and may be read by others: chmod 600 ${path}`);
  const { parse } = await import('yaml');
  try {
    return contextsIn(parse(readFileSync(path, 'utf8')));
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n')[0] ?? '') : '';
    throw usageError(`${path} is not a profile (${why}): remove it and log in again`);
  }
}

/** The name that `--context` or `KEYSTORED_CONTEXT` gives, if one does. Throws a usage error for an invalid name. */
export function chosenContext(option: string | undefined, { environment }: Environment): string | undefined {
  const name = option ?? (environment['KEYSTORED_CONTEXT'] || undefined);
  if (name !== undefined) requireContextName(name);
  return name;
}

export function requireContextName(name: string): void {
  if (!contextName.test(name)) throw usageError(`"${name}" cannot name a context: letters, digits, and . _ @ - after the first one`);
}

/** Replaces one context, or removes it, and makes `current` the current one if given; the file is replaced as a whole, mode 0600. */
export async function changeContexts(
  io: Environment,
  change: { readonly set?: readonly [name: string, profile: Profile]; readonly remove?: string; readonly current?: string },
): Promise<void> {
  // The file is read again here, so that a login that ended meanwhile in another context is not lost.
  const { current, named } = await readContexts(io);
  const changed = new Map(named);
  if (change.set !== undefined) changed.set(...change.set);
  if (change.remove !== undefined) changed.delete(change.remove);
  const first = named.size === 0 ? change.set?.[0] : undefined;
  await write({ current: change.current ?? first ?? current, named: changed }, io);
}

/** Throws OutputFailed if the profile could not be changed, before a login makes a token that could not be kept. */
export async function requireWritable(io: Environment): Promise<void> {
  await readContexts(io);
  const path = profilePath(io);
  rmSync(begin(path, existsSync(path) ? readFileSync(path) : ''));
}

async function write({ current, named }: Contexts, io: Environment): Promise<void> {
  const { stringify } = await import('yaml');
  const path = profilePath(io);
  const only = current === onlyContext && [...named.keys()].every((name) => name === onlyContext);
  const text = stringify(only ? (named.get(onlyContext) ?? {}) : { current, contexts: Object.fromEntries(named) });
  const unfinished = begin(path, text);
  telling(path, () => renameSync(unfinished, path));
}

/** Writes the file that is to have the name, beside it. Throws OutputFailed. */
function begin(path: string, content: string | Uint8Array): string {
  const unfinished = `${path}.${process.pid}.tmp`;
  return telling(path, () => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    rmSync(unfinished, { force: true });
    writeFileSync(unfinished, content, { mode: 0o600, flag: 'wx' });
    chmodSync(unfinished, 0o600);
    return unfinished;
  });
}

/** Throws an Error that names the fault. */
function contextsIn(value: unknown): Contexts {
  const file = fieldsIn(value, 'it');
  const { current = onlyContext, contexts } = file;
  if (contexts === undefined) return { current: onlyContext, named: new Map([[onlyContext, profileIn(file, 'it')]]) };
  if (typeof current !== 'string') throw new Error('"current" must be a name');
  const named = Object.entries(fieldsIn(contexts, '"contexts"')).map(
    ([name, one]) => [name, profileIn(fieldsIn(one, name), name)] as const,
  );
  return { current, named: new Map(named) };
}

function profileIn({ url, ca, token, clientCert, clientKey, fromLogin, again }: Record<string, unknown>, name: string): Profile {
  for (const [field, text] of Object.entries({ url, ca, token, clientCert, clientKey }))
    if (text !== undefined && typeof text !== 'string') throw new Error(`"${field}" of ${name} must be text`);
  if (fromLogin !== undefined && typeof fromLogin !== 'boolean') throw new Error(`"fromLogin" of ${name} must be true or false`);
  if (again !== undefined) requireLoginAgain(fieldsIn(again, `"again" of ${name}`), name);
  return JSON.parse(JSON.stringify({ url, ca, token, clientCert, clientKey, fromLogin, again })) as Profile;
}

/** Throws an Error that names the fault. */
function requireLoginAgain({ path, body, files, from, until }: Record<string, unknown>, name: string): void {
  if (typeof path !== 'string' || !path.startsWith('/v1/')) throw new Error(`"again/path" of ${name} must be a path of the API`);
  for (const texts of [fieldsIn(body, `"again/body" of ${name}`), fieldsIn(files, `"again/files" of ${name}`)])
    if (Object.values(texts).some((text) => typeof text !== 'string')) throw new Error(`"again" of ${name} must have texts`);
  for (const time of [from, until]) if (typeof time !== 'string') throw new Error(`"again" of ${name} must have its times`);
  for (const time of [from, until]) Temporal.Instant.from(time as string);
}

function fieldsIn(value: unknown, name: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${name} must map names to values`);
  return value as Record<string, unknown>;
}
