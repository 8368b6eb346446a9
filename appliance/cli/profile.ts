// The profile: address, CA and token of the last login, in a small file that only its owner may read.
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { usageError } from './terminal/failure.ts';
import type { Io } from './terminal/io.ts';

export type Profile = {
  readonly url?: string;
  /** certificates in PEM, copied so that the original file may move */
  readonly ca?: string;
  readonly token?: string;
  /** whether a login made the token, so that a logout ends it */
  readonly fromLogin?: boolean;
};

/** `KEYSTORED_PROFILE`, else `keystored/profile.yaml` in the configuration folder of the user. */
function profilePath({ environment }: Pick<Io, 'environment'>): string {
  const { KEYSTORED_PROFILE: own, XDG_CONFIG_HOME: folder, HOME: home = homedir() } = environment;
  return own || join(folder || join(home, '.config'), 'keystored', 'profile.yaml');
}

/** Empty when the file is absent. Throws a usage error when others may read it or it is not a profile. */
export async function readProfile(io: Pick<Io, 'environment'>): Promise<Profile> {
  const path = profilePath(io);
  if (!existsSync(path)) return {};
  if ((statSync(path).mode & 0o077) !== 0) throw usageError(`${path} holds a token and may be read by others: chmod 600 ${path}`);
  const { parse } = await import('yaml');
  const profile: unknown = parse(readFileSync(path, 'utf8'));
  if (typeof profile !== 'object' || profile === null) throw usageError(`${path} is not a profile: remove it and log in again`);
  return profile;
}

/** Replaces the profile as a whole, mode 0600. */
export async function writeProfile(profile: Profile, io: Pick<Io, 'environment'>): Promise<void> {
  const { stringify } = await import('yaml');
  const path = profilePath(io);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const unfinished = `${path}.${process.pid}.tmp`;
  rmSync(unfinished, { force: true });
  writeFileSync(unfinished, stringify(profile), { mode: 0o600, flag: 'wx' });
  chmodSync(unfinished, 0o600);
  renameSync(unfinished, path);
}
