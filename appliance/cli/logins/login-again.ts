// Logins that are made again by themselves, with what their files have then: for programs whose platform keeps a fresh token in a file.
import { resolve } from 'node:path';
import { Client } from '../client.ts';
import type { Connection } from '../connection-options.ts';
import { changeContexts, type LoginAgain, type Profile } from '../profile.ts';
import { CommandFailed, exitCodes, usageError } from '../terminal/failure.ts';
import { readText, type Io } from '../terminal/io.ts';

/** A login as it was typed: texts, and the secret fields by their files. */
export type TypedLogin = {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly files: ReadonlyMap<string, string>;
};

/** The answer to a login, as far as it says how long the token lives. */
type Answered = { readonly token?: string; readonly 'expires-in'?: number };

/** Part of the life of a token after which it is replaced, as `renewal-time` of the answer has it. */
const renewedAfter = 2 / 3;

/** Throws a usage error if no secret of the login comes from a file that can be read again. */
export function requireFiles({ files }: Pick<TypedLogin, 'files'>, secrets: readonly string[]): void {
  if (secrets.length > 0 && secrets.every((field) => files.has(field) && files.get(field) !== '-')) return;
  const wanted = secrets.map((field) => `--${field} @FILE`).join(' and ') || 'a login with a secret';
  throw usageError(`--renew needs ${wanted}: the file is read again for each login`);
}

/** The part of a login that the profile keeps, to make it again. */
export function loginAgain({ path, body, files }: TypedLogin, { 'expires-in': seconds = 0 }: Answered): LoginAgain {
  const texts = Object.entries(body).flatMap(([field, value]) => (files.has(field) || typeof value !== 'string' ? [] : [[field, value]]));
  const absolute = [...files].map(([field, file]) => [field, resolve(file)]);
  return {
    path,
    body: Object.fromEntries(texts) as LoginAgain['body'],
    files: Object.fromEntries(absolute) as LoginAgain['files'],
    ...lifeOf(seconds),
  };
}

/** Times by the clock of this machine. */
function lifeOf(seconds: number): Pick<LoginAgain, 'from' | 'until'> {
  const now = Temporal.Now.instant();
  const after = (part: number): string => now.add({ milliseconds: Math.round(seconds * part * 1_000) }).toString();
  return { from: after(renewedAfter), until: after(1) };
}

/**
 * The token of a profile, or a new one where its time has come, or where the appliance has refused it. While no login succeeds, the one of
 * before is used to its end. Throws as the login after that.
 */
export async function tokenOf(profile: Profile, connection: Connection, io: Io, refused?: string): Promise<string | undefined> {
  const { token, again } = profile;
  if (token === undefined || again === undefined) return token;
  const now = Temporal.Now.instant();
  const isOver = (time: string): boolean => Temporal.Instant.compare(now, Temporal.Instant.from(time)) >= 0;
  if (token !== refused && !isOver(again.from)) return token;
  try {
    return await replaceToken(profile, again, connection, io);
  } catch (error) {
    if (!(error instanceof CommandFailed) || token === refused || isOver(again.until)) throw error;
    io.stderr.write(`keystorectl: the token could not be renewed, and is used until it ends: ${error.message}\n`);
    return token;
  }
}

async function replaceToken(profile: Profile, again: LoginAgain, connection: Connection, io: Io): Promise<string> {
  const body: Record<string, string> = { ...again.body };
  for (const [field, file] of Object.entries(again.files)) body[field] = (await readText(file, io)).trim();
  const client = new Client({ ...connection, token: undefined });
  try {
    const answer = (await client.json({ method: 'POST', path: again.path, body })) as Answered;
    const { token, 'expires-in': seconds = 0 } = answer;
    if (token === undefined) throw new CommandFailed(exitCodes.fault, 'the login was answered without a token');
    await changeContexts(io, { set: [connection.context, { ...profile, token, again: { ...again, ...lifeOf(seconds) } }] });
    return token;
  } finally {
    client.close();
  }
}
