// Two machines on one: every property of a machine that must not reach into the results is different in the second.
import { spawnSync } from 'node:child_process';
import { chownSync, lchownSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Machine = {
  readonly name: string;
  /** directory of the tree */
  readonly tree: string;
  /** properties of the machine, by name, for people */
  readonly properties: Readonly<Record<string, string>>;
  /** Runs an npm script of the tree; throws when it fails. `asRoot` for builds that only root can do. */
  run(artefact: string, asRoot: boolean): void;
};

const isRoot = process.getuid?.() === 0;
/** A user that every system has. */
const nobody = 65_534;

/** With a clone of the committed state of `repository` below `work`. */
export function firstMachine(repository: string, work: string): Machine {
  return makeMachine(repository, {
    ...{ name: 'first', directory: join(work, 'first'), umask: '022', timeZone: 'UTC', locale: 'C.UTF-8' },
    ...{ around: [], inside: [] },
    properties: { user: isRoot ? 'root' : 'this one', processors: 'all', 'host name': 'this one', clock: 'right' },
  });
}

/** The same of another kind. */
export function secondMachine(repository: string, work: string): Machine {
  const [hostName, clock] = [hostNameWords('somewhere-else'), clockWords()];
  return makeMachine(repository, {
    ...{ name: 'second', directory: join(work, 'on/the/second/machine'), umask: '077', timeZone: 'Asia/Kathmandu', locale: 'tr_TR.UTF-8' },
    ...(isRoot ? { user: nobody } : {}),
    ...{ around: [...hostName, 'taskset', '--cpu-list', firstProcessor()], inside: clock },
    properties: {
      user: isRoot ? 'nobody, where root is not needed' : 'this one (root can vary it)',
      processors: 'one',
      'host name': hostName.length > 0 ? 'another' : 'this one (root can vary it)',
      clock: clock.length > 0 ? '26 hours ahead' : 'right (faketime is not installed)',
    },
  });
}

type Plan = {
  readonly name: string;
  readonly directory: string;
  readonly umask: string;
  readonly timeZone: string;
  readonly locale: string;
  readonly user?: number;
  /** before each command line: set-up by root, then set-up by the user of the machine */
  readonly around: readonly string[];
  readonly inside: readonly string[];
  readonly properties: Readonly<Record<string, string>>;
};

function makeMachine(repository: string, plan: Plan): Machine {
  const { name, directory, umask, timeZone, locale, user } = plan;
  const tree = join(directory, 'keystored');
  const [home, temporary] = [join(directory, 'home'), join(directory, 'tmp')];
  for (const place of [home, temporary]) mkdirSync(place, { recursive: true });
  // Git makes files by the umask, as in a clone on that machine.
  must(['sh', '-c', `umask ${umask} && exec git clone --quiet --no-hardlinks "$1" "$2"`, 'sh', repository, tree]);
  if (user !== undefined) give(directory, user);
  const as = user === undefined ? [] : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups'];
  const environment = {
    ...inherited(),
    ...{ PATH: pathWithoutPackages(), npm_config_registry: registry() },
    ...{ HOME: home, TMPDIR: temporary, TZ: timeZone, LC_ALL: locale, LANG: locale },
    // Of a clock that is ahead: only times of day, and those of files as they are.
    ...{ DONT_FAKE_MONOTONIC: '1', NO_FAKE_STAT: '1' },
    // Root builds in the tree of another user, too.
    ...{ GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' },
  };
  return {
    ...{ name, tree },
    properties: { folder: tree, home, umask, 'time zone': timeZone, locale, ...plan.properties },
    run(artefact, asRoot) {
      const inTree = ['sh', '-c', `umask ${umask} && cd "$1" && shift && exec "$@"`, 'sh', tree];
      must(
        [...plan.around, ...(asRoot ? [] : as), ...plan.inside, ...inTree, 'node', 'appliance/setup.mjs', 'build', artefact],
        environment,
      );
    },
  };
}

/** Variables that a build may need: ways into the network, and our settings. */
const passedOn =
  /^(?:https?_proxy|no_proxy|all_proxy|GOPROXY|GOSUMDB|\w+_CA_CERTS|SSL_CERT_\w+|KEYSTORED_(?:IMAGE|TEST)_\w+|SOURCE_DATE_EPOCH)$/i;

function inherited(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value !== undefined && passedOn.test(name) ? [[name, value]] : [])),
  );
}

/** Empty where it cannot be another. */
function hostNameWords(name: string): readonly string[] {
  const words = ['unshare', '--uts', 'sh', '-c', 'hostname "$1" && shift && exec "$@"', 'sh', name];
  return isRoot && spawnSync('unshare', [...words.slice(1), 'true']).status === 0 ? words : [];
}

/** The next day everywhere; not so far away that certificates and indexes of packages are not valid. */
function clockWords(): readonly string[] {
  return spawnSync('faketime', ['--version']).status === 0 ? ['faketime', '-f', '+26h'] : [];
}

function firstProcessor(): string {
  const [, first = '0'] = /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return first;
}

/** As a shell has it: npm puts the programs of packages before everything else. */
function pathWithoutPackages(): string {
  const folders = (process.env['PATH'] ?? '').split(':');
  return folders.filter((folder) => !folder.includes('node_modules') && !folder.includes('node-gyp')).join(':');
}

/** The one that is set for this user, which the homes of the machines do not tell. */
function registry(): string {
  return spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).stdout.trim();
}

function give(directory: string, user: number): void {
  chownSync(directory, user, user);
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true }))
    lchownSync(join(entry.parentPath, entry.name), user, user);
}

function must([command = '', ...args]: readonly string[], env?: Readonly<Record<string, string>>): void {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 2, 2], ...(env === undefined ? {} : { env }) });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? `ended with ${status}`}`);
}
