// Each client library on a system that has the toolchain of its language and nothing else: its README leads from the package to a ciphertext.
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { measure, must, printMeasures } from '../clients/commands.ts';
import { startDaemon, type Daemon } from '../harness/daemon.ts';
import { blocksOf } from '../harness/markdown.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { canMakeCleanSystems, type CleanSystem, makeCleanSystem, suitesOr } from './clean-system.ts';

const path = temporaryDirectory();
const root = resolve(import.meta.dirname, '../..');
const clone = path('clone');

/** By folder of the client: the Debian packages of the toolchain, commands that must not be there, and where the README wants which file. */
const languages = {
  typescript: { packages: ['nodejs', 'npm'], absent: ['java', 'go'], from: 'dist', file: /\.tgz$/, to: '' },
  python: { packages: ['python3', 'python3-venv'], absent: ['node', 'java', 'go'], from: 'dist', file: /\.whl$/, to: '' },
  go: {
    packages: ['golang-go'],
    absent: ['node', 'java', 'git', 'gcc'],
    from: 'appliance/clients',
    file: /^go$/,
    to: 'third_party/keystored/appliance/clients',
  },
  java: { packages: ['default-jdk-headless', 'maven'], absent: ['node', 'go'], from: 'dist', file: /^maven$/, to: '' },
};

let daemon: Daemon;
let environment: Record<string, string>;
printMeasures();

const possible = canMakeCleanSystems('the clients in clean chroots');
const [suite = ''] = suitesOr('trixie');

describe.skipIf(!possible)('on a system with its own toolchain alone, the README of the client', () => {
  beforeAll(async () => {
    daemon = await startDaemon({ directory: path('data') });
    environment = { KEYSTORED_URL: daemon.url, ...(await identityForAnApplication(daemon)) };
    await makePackages();
  });
  afterAll(() => daemon?.stop());

  test.each(Object.entries(languages))('for %s leads to a ciphertext', async (name, { packages, absent, from, file, to }) => {
    const system = await makeCleanSystem(path(name), suite, { packages });
    measure(`${name}: Debian ${suite} with ${packages.join(', ')}`, system);
    await system.runAsReader(`if command -v ${absent.join(' ')}; then exit 1; fi`, '');
    const project = join(system.home, 'first');
    const wanted = readdirSync(join(clone, from)).filter((one) => file.test(one));
    expect(wanted).toHaveLength(1);
    for (const one of wanted) cpSync(join(clone, from, one), join(project, to, one), { recursive: true });
    writeFileSync(join(project, 'ca.pem'), daemon.caPem);
    expect(await followReadme(name, system)).toMatch(/^store:v1:\S+ 4711\n$/);
  });
});

/** Does what the README says below "Start", block by block; answers what the last one printed. */
async function followReadme(name: string, system: CleanSystem): Promise<string> {
  let [printed, seconds] = ['', 0];
  for (const { language, text, above } of blocksOf(join(clone, 'appliance/clients', name, 'README.md'), '## Start')) {
    const [, saved] = /this as `([^`]+)`:$/.exec(above) ?? [];
    if (saved !== undefined) {
      const target = join(system.home, 'first', saved);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, `${text}\n`);
    }
    if (language !== 'sh') continue;
    const ending = await system.runAsReader(text, 'first', environment);
    printed = ending.stdout;
    seconds += ending.seconds;
  }
  measure(`${name}: from the package to the first ciphertext, by the README`, { seconds });
  return printed;
}

/** The package files, made in a clone of the clients by the commands of their README. */
async function makePackages(): Promise<void> {
  for (const name of ['LICENSE', 'tsconfig.json', 'package.json', 'appliance/clients'])
    cpSync(join(root, name), join(clone, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
  for (const { language, text } of blocksOf(join(clone, 'appliance/clients/README.md'), '## Package files')) {
    if (language === 'sh') measure('the package files', await must('bash', ['-e', '-c', text], { cwd: clone }));
  }
}

/** A key, a policy and an approle, as the README of the appliance makes them under "An identity for an application". */
async function identityForAnApplication(appliance: Daemon): Promise<Record<string, string>> {
  await appliance.request('POST', '/v1/config/keystore/transit-keys', { name: 'orders' });
  const rules = [{ path: '/v1/state/keystore/transit-keys/orders/*', operations: { execute: 'allow' } }];
  await appliance.request('POST', '/v1/config/policy/policies', { name: 'shop', 'rest-api': { rules } });
  await appliance.request('POST', '/v1/config/keystore/authentication/approles', {
    name: 'shop',
    'token-policies': ['shop'],
    'token-ttl': '1h',
  });
  const { 'role-id': roleId } = (await appliance.request('GET', '/v1/state/keystore/authentication/approles/shop')) as {
    'role-id': string;
  };
  const generated = (await appliance.request('POST', '/v1/state/keystore/authentication/approles/shop/generate-secret-id', {})) as {
    'secret-id': string;
  };
  return { KEYSTORED_ROLE_ID: roleId, KEYSTORED_SECRET_ID: generated['secret-id'] };
}
