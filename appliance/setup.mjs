// Prepares a fresh clone: installs what is missing (npm packages, the pinned Node.js, SoftHSM2), then runs the requested task.
// Plain JavaScript without dependencies, because nothing is installed yet and the system's Node.js may be as old as 20.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const packages = join(root, 'node_modules');
const pinnedNode = join(packages, 'node', 'bin', 'node');
const stampFile = join(packages, '.keystored-setup');
const services = join(root, 'dist', 'service');
/** True if npm runs this. */
const isLaunched = process.env.npm_lifecycle_event !== undefined;

const softhsmModules = [
  '/usr/lib/softhsm/libsofthsm2.so',
  `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/softhsm/libsofthsm2.so`,
  '/usr/lib64/pkcs11/libsofthsm2.so',
  '/usr/local/lib/softhsm/libsofthsm2.so',
];

const tests = (config) => ['node_modules/vitest/vitest.mjs', 'run', '--config', `test/${config}.config.ts`];
const drills = (folder) => ({ line: tests('drills'), drills: folder });
const packaging = (program) => ({ line: [`appliance/packaging/${program}.ts`] });

/**
 * Commands for the pinned Node.js, by npm script and the word after it. `drills` is the folder below test/ that is run, `bare` marks those
 * that need nothing but the npm packages.
 */
const tasks = {
  start: { line: ['appliance/keystored.ts'] },
  dev: { line: ['appliance/dev/command.ts'] },
  ctl: { line: ['appliance/cli/keystorectl.ts'], bare: true },
  test: { line: tests('vitest') },
  'test long': { line: tests('long') },
  'test interop': drills('interop'),
  'test clients': drills('clients'),
  'test cluster': drills('cluster'),
  'test image': drills('image'),
  'test package': drills('package'),
  soak: drills('soak'),
  check: { line: ['test/architecture/check.ts'] },
  format: { line: ['node_modules/oxfmt/bin/oxfmt', '.'] },
  'generate docs': { line: ['appliance/docs/generate.ts'] },
  'generate clients': { ...packaging('clients/command'), bare: true },
  'build package': packaging('build-deb'),
  'build oci': packaging('oci/build-oci'),
  'build image': packaging('image/build-image'),
  'build etcd': packaging('etcd/build-deb'),
  'build keystorectl': { ...packaging('keystorectl/build-keystorectl'), bare: true },
  'build bundle': packaging('os/make-bundle'),
  'build reproduce': { ...packaging('reproduce/command'), bare: true },
  'build provenance': { ...packaging('provenance/command'), bare: true },
  bench: { line: ['test/bench/run.ts'] },
  audit: { line: ['test/architecture/audit.ts'], bare: true },
  setup: {},
};

/** Debian packages of the programs that tests run, by command. */
const testPackages = { openssl: 'openssl', 'pkcs11-tool': 'opensc', ps: 'procps', python3: 'python3', cc: 'g++', strace: 'strace' };

/** strongSwan's pki, with the plugins that it needs for URLs and EC keys. */
const strongSwan = ['strongswan-pki', 'libcharon-extra-plugins', 'libstrongswan-extra-plugins', 'libstrongswan-standard-plugins'];

/** Debian packages of the clients that interop tests use, by command. */
const clientPackages = {
  ...{ openssl: 'openssl', curl: 'curl', gpg: 'gnupg', gpgv: 'gpgv', sq: 'sq', sqv: 'sqv', sqop: 'sqop', gosop: 'gosop', rnp: 'rnp' },
  ...{ debsign: 'devscripts', debsigs: 'debsigs', 'debsig-verify': 'debsig-verify', reprepro: 'reprepro', aptly: 'aptly' },
  ...{ scepclient: 'scep', getcert: 'certmonger', 'dbus-run-session': 'dbus', pki: strongSwan.join(' ') },
  ...{ java: 'default-jdk-headless', mvn: 'maven' },
  ...{ certbot: 'certbot', lego: 'lego', dehydrated: 'dehydrated', caddy: 'caddy' },
  ...{ age: 'age', rpmbuild: 'rpm', 'apt-ftparchive': 'apt-utils', chromium: 'chromium', promtool: 'prometheus' },
  ...{ 'p11-kit': 'p11-kit', p11tool: 'gnutls-bin', 'pkcs11-tool': 'opensc', keytool: 'default-jdk-headless', certutil: 'libnss3-tools' },
  // sscep is built from its sources.
  ...{ cmake: 'cmake', git: 'git', cc: 'gcc' },
  ...{ osslsigncode: 'osslsigncode', sbsign: 'sbsigntool', nginx: 'nginx-light', sshd: 'openssh-server' },
};

const libraries = `/usr/lib/${{ x64: 'x86_64', arm64: 'aarch64' }[process.arch] ?? process.arch}-linux-gnu`;

/** Debian packages that clients need and that have no command, by a file in each. */
const clientFiles = {
  '/usr/include/openssl/ssl.h': 'libssl-dev',
  [`${libraries}/engines-3/pkcs11.so`]: 'libengine-pkcs11-openssl',
  [`${libraries}/pkcs11/p11-kit-client.so`]: 'p11-kit-modules',
  '/usr/lib/ipsec/plugins/libstrongswan-pkcs11.so': 'libstrongswan-extra-plugins',
  '/usr/lib/systemd/boot/efi': 'systemd-boot-efi',
};

/**
 * Debian packages of the syslog receivers that interop tests run. They conflict as services of one system, so they are unpacked, not
 * installed.
 */
const receiverPackages = [['rsyslog', 'rsyslog-openssl'], ['syslog-ng-core']];
const receivers = join(packages, '.cache', 'receivers');

/** Debian packages of the languages whose generated clients are tried, by command. */
const languagePackages = {
  ...{ javac: 'default-jdk-headless', mvn: 'maven', go: 'golang-go', cargo: 'cargo-web', rustc: 'rustc-web' },
  ...{ cc: 'gcc', 'pkg-config': 'pkg-config', python3: 'python3' },
};

/** Debian packages of the tools that pack a client library, by its language. The others need npm alone. */
const packers = { python: { python3: 'python3' }, java: { javac: 'default-jdk-headless', mvn: 'maven' } };

class SetupError extends Error {}

try {
  await main(process.argv[2] ?? 'start', process.argv.slice(3));
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(`keystored: ${error.message}`);
  process.exitCode = 1;
}

async function main(script, words) {
  const [name, args] = chooseTask(script, words);
  const task = tasks[name];
  if (process.platform !== 'linux') throw new SetupError(`keystored runs on Linux; this is ${process.platform}`);
  if (Number(process.versions.node.split('.')[0]) < 20) {
    throw new SetupError(`Node.js 20 or newer is needed to set up; this is ${process.versions.node}`);
  }
  installPackages();
  if (!task.bare) installSoftHsm();
  installFor(name, args);
  if (!task.bare && name !== 'setup') buildConsole();
  const line = name === 'start' ? [provideService()] : task.line;
  if (line !== undefined) process.exitCode = await run(line, args, name);
}

/** Returns the name of the task, and its words. Throws with a usage line if a word is missing or does not belong to the script. */
function chooseTask(script, words) {
  const [word, ...others] = words;
  if (tasks[`${script} ${word}`] !== undefined) return [`${script} ${word}`, others];
  if (tasks[script] !== undefined && (script !== 'test' || word === undefined || choosesTests(word))) return [script, words];
  const choices = Object.keys(tasks).flatMap((name) => (name.startsWith(`${script} `) ? [name.slice(script.length + 1)] : []));
  if (choices.length === 0) throw new SetupError(`unknown task ${script}; known: ${Object.keys(tasks).join(', ')}`);
  const problem =
    word === undefined
      ? `${script} needs a word`
      : `${script} has no word ${word}${script === 'test' ? ', and no test has it in its path' : ''}`;
  const usage =
    script === 'test'
      ? `npm test [-- [${choices.join('|')}] [PART OF A PATH | OPTION OF VITEST]...]`
      : `npm run ${script} ${choices.join('|')} [-- ARGUMENTS]`;
  throw new SetupError(`${problem}. Usage: ${usage}`);
}

/** Tells whether a word is an option of the runner or part of the path of a test, which may have a line number. */
function choosesTests(word) {
  const part = word.replace(/^\.\//, '').replace(/:\d+$/, '');
  const paths = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' });
  return word.startsWith('-') || paths.some((path) => join(root, 'test', path).includes(part));
}

/** Installs the packages of a task that the machine lacks. */
function installFor(name, args) {
  if (['test', 'test long', 'soak'].includes(name)) installDebianPackages('for the tests', missing(testPackages));
  if (name === 'bench') installDebianPackages('for the benchmark', missing({ wrk: 'wrk', openssl: 'openssl' }));
  if (name === 'test interop') {
    installDebianPackages('for the clients of others', [
      ...missing(clientPackages),
      ...Object.keys(clientFiles).flatMap((file) => (existsSync(file) ? [] : [clientFiles[file]])),
    ]);
    unpackReceivers();
  }
  if (name === 'generate clients') installDebianPackages('to pack the client libraries', missingPackers(args));
  if (name === 'test clients') installDebianPackages('to compile generated clients', missingLanguages());
  if (['test cluster', 'soak'].includes(name)) installDebianPackages('to build etcd', missing({ go: 'golang-go' }));
  if (name === 'test cluster' && process.getuid() === 0)
    installDebianPackages('for one address of several appliances', missing({ keepalived: 'keepalived', nft: 'nftables', curl: 'curl' }));
  if (['test image', 'build image'].includes(name))
    installDebianPackages('to build images', missing({ mmdebstrap: 'mmdebstrap', git: 'git' }));
  if (name === 'build reproduce' && process.getuid() === 0)
    installDebianPackages('to build twice', missing({ faketime: 'faketime', git: 'git', mmdebstrap: 'mmdebstrap' }));
}

/** npm packages, exactly as the lock file says, and the native addon built; skipped while the lock file is unchanged. */
function installPackages() {
  const stamp = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp && existsSync(pinnedNode)) return;

  installDebianPackages('to build the PKCS#11 addon', missing({ python3: 'python3', make: 'make', 'g++': 'g++' }));
  // node-gyp would download headers; those of the running Node.js also work, because the addon uses only the stable Node-API.
  const prefix = dirname(dirname(process.execPath));
  const headers = existsSync(join(prefix, 'include', 'node', 'node_api.h')) ? { npm_config_nodedir: prefix } : {};
  step('installing npm packages (about a minute the first time)');
  // Not `npm ci`, which first removes everything, including the built addon. Without saving, `install` takes the locked versions and leaves
  // the lock file as it is.
  const npm = ['install', '--no-save', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  // A script that package.json neither allows nor denies ends the installation, where npm knows of such lists; others pay no attention.
  const scripts = { npm_config_strict_allow_scripts: 'true' };
  if (spawnSync('npm', npm, { cwd: root, stdio: ['ignore', 2, 'inherit'], env: { ...process.env, ...headers, ...scripts } }).status !== 0) {
    throw new SetupError('npm could not install the packages; its message is above');
  }
  verifyNode();
  if (!runs(pinnedNode, ['--version'])) {
    throw new SetupError(
      'the pinned Node.js did not install: allow install scripts for the packages listed under allowScripts in package.json',
    );
  }
  if (!existsSync(join(packages, 'pkcs11js', 'build', 'Release', 'pkcs11.node'))) {
    throw new SetupError('the PKCS#11 addon was not built: run "npm rebuild pkcs11js" and read its output');
  }
  writeFileSync(stampFile, stamp);
}

/** The package `node` fetches the program while it is installed, and the lock file does not cover that: its sum is kept beside it. */
function verifyNode() {
  const { version, platforms } = JSON.parse(readFileSync(join(root, 'appliance', 'packaging', 'pinned-node.json'), 'utf8'));
  const pinned = platforms[{ x64: 'amd64', arm64: 'arm64' }[process.arch]];
  if (pinned === undefined || !existsSync(pinnedNode)) return;
  const found = createHash('sha256').update(readFileSync(pinnedNode)).digest('hex');
  if (found !== pinned.binarySha256) throw new SetupError(`${pinnedNode} is not Node.js ${version} as it was published: SHA-256 ${found}`);
}

/** The browser application of the console, when its sources or the packages have changed since it was built. */
function buildConsole() {
  const folder = join(root, 'plugins', 'console');
  const below = (part) =>
    readdirSync(join(folder, part), { recursive: true, encoding: 'utf8' }).map((name) => `plugins/console/${part}/${name}`);
  const sources = ['package-lock.json', 'plugins/console/build.ts', ...below('app').sort(), ...below('words').sort()];
  const hash = createHash('sha256');
  for (const name of sources.filter((one) => statSync(join(root, one)).isFile())) hash.update(name).update(readFileSync(join(root, name)));
  const stamp = hash.digest('hex');
  const stampOfBuild = join(folder, 'built', 'stamp');
  if (existsSync(stampOfBuild) && readFileSync(stampOfBuild, 'utf8') === stamp) return;
  step('building the console');
  if (spawnSync(pinnedNode, [join(folder, 'build.ts'), stamp], { cwd: root, stdio: ['ignore', 2, 'inherit'] }).status !== 0)
    throw new SetupError('the console could not be built; the message is above');
}

/** Finds the program of the appliance: the bundle of the present sources, made if it does not exist, or the sources if none can be made. */
function provideService() {
  const found = findService();
  if (found !== undefined) return found;
  step('bundling the service');
  const { status } = spawnSync(pinnedNode, ['appliance/packaging/service/provide.ts'], { cwd: root, stdio: ['ignore', 2, 'inherit'] });
  const made = status === 0 ? findService() : undefined;
  if (made === undefined)
    console.error('keystored: without a bundle of the service the start takes longer and more memory; the message is above');
  return made ?? tasks.start.line[0];
}

/** The bundle all of whose sources are as they were when it was made. */
function findService() {
  if (!existsSync(services)) return undefined;
  const isPresent = (folder) => {
    const list = join(folder, 'sources.json');
    return existsSync(list) && Object.entries(JSON.parse(readFileSync(list, 'utf8'))).every(([name, sum]) => sumOf(name) === sum);
  };
  const folder = readdirSync(services)
    .map((name) => join(services, name))
    .find((one) => !one.endsWith('.tmp') && isPresent(one));
  return folder === undefined ? undefined : join(folder, 'keystored.js');
}

function sumOf(name) {
  const path = join(root, name);
  return existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('hex') : undefined;
}

function installSoftHsm() {
  if (softhsmModules.some((path) => existsSync(path))) return;
  installDebianPackages('for the embedded token', ['softhsm2']);
}

/** The packages whose commands are missing. */
function missing(packageOf) {
  return Object.keys(packageOf).flatMap((command) => (found(command) ? [] : [packageOf[command]]));
}

/**
 * Debian 12 has a newer Rust beside its own, for web browsers; headers and virtual environments of Python are packages without a command.
 */
function missingLanguages() {
  const isDebian12 = existsSync('/etc/os-release') && readFileSync('/etc/os-release', 'utf8').includes('VERSION_CODENAME=bookworm');
  const openssl = runs('pkg-config', ['--exists', 'openssl']) ? [] : ['libssl-dev'];
  const languages = missing(languagePackages).map((name) => (isDebian12 ? name : name.replace(/-web$/, '')));
  return [...languages, ...missingVenv(), ...openssl];
}

/** For the languages that are named, or all. */
function missingPackers(names) {
  const wanted = Object.keys(packers).filter((name) => names.length === 0 || names.includes(name));
  return [...wanted.flatMap((name) => missing(packers[name])), ...(wanted.includes('python') ? missingVenv() : [])];
}

function missingVenv() {
  return runs('python3', ['-c', 'import ensurepip, venv']) ? [] : ['python3-venv'];
}

function found(command) {
  return (process.env.PATH ?? '').split(':').some((directory) => existsSync(join(directory, command)));
}

function installDebianPackages(reason, names) {
  if (names.length === 0) return;
  const command = `apt-get update && apt-get install -y --no-install-recommends ${names.join(' ')}`;
  if (!runs('apt-get', ['--version'])) throw new SetupError(`install ${names.join(', ')} ${reason}, then run this again`);
  if (process.getuid() !== 0)
    throw new SetupError(`${names.join(', ')} missing ${reason}. Run this line, then start again: sudo sh -c '${command}'`);
  step(`as root, installing on this machine, ${reason}: ${command}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const result = spawnSync('sh', ['-c', command.replaceAll('apt-get', 'apt-get -qq')], { stdio: ['ignore', 2, 'inherit'], env });
  if (result.status !== 0) throw new SetupError(`could not install ${names.join(', ')}; run this line and read its output: ${command}`);
}

/** Receivers with the libraries that this system lacks, from the distribution; only the user's own files are written. */
function unpackReceivers() {
  if (existsSync(receivers)) return;
  const names = receiverPackages.flat().join(', ');
  step(`unpacking ${names} from the distribution, for the syslog receivers of others`);
  const [unfinished, archives] = [`${receivers}.new`, `${receivers}.debs`];
  for (const directory of [unfinished, archives]) rmSync(directory, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  mkdirSync(join(archives, 'partial'), { recursive: true });
  if (process.getuid() === 0) runsAloud('apt-get', ['-qq', 'update']);
  const options = ['-o', `Dir::Cache::archives=${archives}`, '-o', 'Debug::NoLocking=true', '-o', 'APT::Sandbox::User='];
  const fetch = ['-qq', 'install', '--download-only', '--reinstall', '--no-install-recommends', '-y', ...options];
  const isFetched = receiverPackages.every((group) => runsAloud('apt-get', [...fetch, ...group]));
  const files = readdirSync(archives).filter((name) => name.endsWith('.deb'));
  if (!isFetched || !files.every((name) => runs('dpkg', ['-x', join(archives, name), unfinished])))
    throw new SetupError(`could not fetch and unpack ${names}: run "apt-get update" as root, then this again`);
  rmSync(archives, { recursive: true });
  renameSync(unfinished, receivers);
}

/** Runs one command line with the pinned Node.js, and answers its exit code. */
function run(line, args, name) {
  const { drills } = tasks[name];
  const drill = drills === undefined ? {} : { KEYSTORED_DRILLS: drills };
  // With the compile cache, later starts take a third of the time.
  const env = { NODE_COMPILE_CACHE: join(packages, '.cache', 'compile'), ...drill, ...process.env };
  if (name === 'start' && process.execve !== undefined) become([...line, ...args], env);
  return runBeside([...line, ...args], name, env);
}

/** The appliance takes the place of this process, which Node.js offers since 22.15: nothing of the set-up stays in memory. */
function become(words, env) {
  process.chdir(root);
  process.execve(pinnedNode, [pinnedNode, ...words], { ...env, ...(isLaunched ? { KEYSTORED_LAUNCHER: String(process.ppid) } : {}) });
}

/** Forwards signals and waits. The daemon notices the end of this process by its channel. */
function runBeside(words, name, env) {
  const stdio = name === 'start' ? ['inherit', 'inherit', 'inherit', 'ipc'] : 'inherit';
  const child = spawn(pinnedNode, words, { cwd: root, stdio, env });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  dieWithLauncher(child);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(code ?? (signal === 'SIGKILL' ? 137 : 143)));
  });
}

/** As the daemon does itself in processes/launcher.ts: a killed npm cannot forward a signal. */
function dieWithLauncher(child) {
  if (!isLaunched) return;
  const launcher = process.ppid;
  setInterval(() => {
    if (process.ppid !== launcher) child.kill('SIGTERM');
  }, 250).unref();
}

function runs(command, args) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** As runs, with the output of the command. */
function runsAloud(command, args) {
  return spawnSync(command, args, { stdio: ['ignore', 2, 'inherit'] }).status === 0;
}

function step(text) {
  console.error(`keystored: ${text} …`);
}
