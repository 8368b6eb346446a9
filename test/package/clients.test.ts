// Each client library on a system that has the toolchain of its language and nothing else: its README leads from the package to a ciphertext.
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientsDirectory } from '../../appliance/clients/provide.ts';
import { measure, must, printMeasures } from '../clients/commands.ts';
import { ciphertextAndPlaintext, followReadme, identityForAnApplication } from '../clients/readme.ts';
import { startDaemon, type Daemon } from '../harness/daemon.ts';
import { blocksOf } from '../harness/markdown.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { canMakeCleanSystems, type CleanSystem, makeCleanSystem, suitesOr } from './clean-system.ts';

const path = temporaryDirectory();
const root = resolve(import.meta.dirname, '../..');

/** By folder of the client: the Debian packages of the toolchain, commands that must not be there, and the file that the README wants. */
const languages = {
  typescript: { packages: ['nodejs', 'npm'], absent: ['java', 'go'], file: /\.tgz$/ },
  python: { packages: ['python3', 'python3-venv'], absent: ['node', 'java', 'go'], file: /\.whl$/ },
  go: { packages: ['golang-go'], absent: ['node', 'java', 'git', 'gcc'], file: /^keystored-client-go-.*\.tar\.gz$/ },
  java: { packages: ['default-jdk-headless', 'maven'], absent: ['node', 'go'], file: /^maven$/ },
};

let daemon: Daemon;
let environment: Record<string, string>;
printMeasures();

const possible = canMakeCleanSystems('the clients in clean chroots');
const [suite = ''] = suitesOr('trixie');

describe.skipIf(!possible)('on a system with its own toolchain alone, the README of the client', () => {
  beforeAll(async () => {
    daemon = await startDaemon({ directory: path('data') });
    environment = await identityForAnApplication(daemon);
    await makePackages();
  });
  afterAll(() => daemon?.stop());

  test.each(Object.entries(languages))('for %s leads to a ciphertext', async (name, { packages, absent, file }) => {
    const system = await makeCleanSystem(path(name), suite, { packages });
    measure(`${name}: Debian ${suite} with ${packages.join(', ')}`, system);
    await system.runAsReader(`if command -v ${absent.join(' ')}; then exit 1; fi`, '');
    const project = join(system.home, 'first');
    const wanted = readdirSync(join(clientsDirectory, 'packages')).filter((one) => file.test(one));
    expect(wanted).toHaveLength(1);
    for (const one of wanted) cpSync(join(clientsDirectory, 'packages', one), join(project, one), { recursive: true });
    writeFileSync(join(project, 'ca.pem'), daemon.caPem);
    expect(await follow(name, system)).toMatch(ciphertextAndPlaintext);
  });
});

/** Does what the README says below "Start"; answers what the last commands printed. */
async function follow(name: string, system: CleanSystem): Promise<string> {
  let seconds = 0;
  const printed = await followReadme(join(clientsDirectory, name, 'README.md'), {
    save(file, text) {
      const target = join(system.home, 'first', file);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, text);
    },
    async run(commands) {
      const ending = await system.runAsReader(commands, 'first', environment);
      seconds += ending.seconds;
      return ending.stdout;
    },
  });
  measure(`${name}: from the package to the first ciphertext, by the README`, { seconds });
  return printed;
}

/** The package files, made by the command of their README. */
async function makePackages(): Promise<void> {
  for (const { language, text } of blocksOf(join(root, 'appliance/clients/README.md'), '## Package files')) {
    if (language === 'sh') measure('the package files', await must('bash', ['-e', '-c', text], { cwd: root }));
  }
}
