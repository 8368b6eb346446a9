// What libraries of others have sealed to keys of X-Wing, in each token that has both halves: crypto/hpke of Go, @hpke/hybridkem-x-wing, Bouncy Castle, which
// reads the public key as it is shown, and age with its post-quantum recipients, by age-plugin-keystored.
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { must, requireToolchain, run, toolDirectory } from '../clients/commands.ts';
import { obtainGo, onlyThisGo } from '../clients/go/toolchain.ts';
import { versions } from '../clients/versions.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { findModules } from '../harness/token/modules.ts';
import { base64, startTransitHarness, type TransitHarness } from '../plugins/transit/harness.ts';

const path = temporaryDirectory();
const programs = join(import.meta.dirname, 'senders');
const cipher = 'mlkem768-x25519';
const aeads = ['aes-128-gcm', 'aes-256-gcm', 'chacha20-poly1305'];
const suites = ['256', '384', '512'].flatMap((bits) => aeads.map((aead) => `${cipher} hkdf-sha${bits} ${aead}`));
const [, ...modules] = await findModules({ builds: true });
const ageVersion = 'v1.3.2';

test('a module has both halves', () => expect(modules.length).toBeGreaterThan(0));

/** age as its makers release it: that of Debian has no post-quantum recipients. */
async function obtainAge(): Promise<string> {
  const directory = toolDirectory(`age-${ageVersion}`);
  if (existsSync(join(directory, 'age'))) return directory;
  const packages = ['age', 'age-keygen'].map((name) => `filippo.io/age/cmd/${name}@${ageVersion}`);
  await must(await obtainGo(versions.go), ['install', ...packages], { cwd: path(), environment: { ...onlyThisGo, GOBIN: directory } });
  return directory;
}

describe.each(modules)('in $name', (module) => {
  const place = module.name.replaceAll(/\W/g, '-');
  let harness: TransitHarness;
  let keys: string;

  beforeAll(async () => {
    for (const toolchain of ['go', 'java', 'mvn', 'npm'] as const) await requireToolchain(toolchain);
    keys = path(`${place}-keys`);
    for (const directory of [keys, path(`${place}-token`), path(place)]) mkdirSync(directory);
    harness = await startTransitHarness(path(place), { moreTokens: [await module.make(path(`${place}-token`))] });
    await harness.create(cipher, { cipher });
    writeFileSync(join(keys, `${cipher}.pem`), (await harness.state(cipher)).keys['1']);
  });
  afterAll(() => harness?.stop());

  /** Opens each message of a program, and expects every suite once. */
  async function expectEverySuite(text: string, program: string, ...words: readonly string[]): Promise<void> {
    const { stdout } = await must(program, words);
    const sealed = stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' ') as [string, string, string, string]);
    expect(sealed.map((line) => line.slice(0, 3).join(' ')).toSorted()).toEqual(suites.toSorted());
    for (const [, kdf, aead, ciphertext] of sealed) {
      const request = { format: 'hpke', kdf, aead, ciphertext, info: base64('info'), 'associated-data': base64('bound') };
      expect(await harness.do(cipher, 'decrypt', request)).toEqual({ plaintext: base64(text), 'key-version': 1 });
      await harness.refused(400, 'decryption-failed', cipher, 'decrypt', { ...request, info: base64('other') });
    }
  }

  test('crypto/hpke of Go', async () => {
    const go = await obtainGo(versions.go);
    const sender = path(`${place}-go`);
    await must(go, ['build', '-mod=readonly', '-o', sender, '.'], { cwd: programs, environment: onlyThisGo });
    await expectEverySuite('by Go', sender, 'x-wing', keys);
  });

  test('@hpke/hybridkem-x-wing', async () => {
    const project = path(`${place}-npm`);
    cpSync(programs, project, { recursive: true });
    await must('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: project });
    await expectEverySuite('by @hpke/core', process.execPath, join(project, 'seal.mjs'), keys, 'x-wing');
  });

  test('Bouncy Castle', async () => {
    const jars = join(import.meta.dirname, '../../node_modules/.cache/senders');
    const maven = ['-q', '-B', '-f', join(programs, 'pom.xml'), 'dependency:copy-dependencies', `-DoutputDirectory=${jars}`];
    if (!existsSync(jars)) await must('mvn', maven);
    await expectEverySuite('by Bouncy Castle', 'java', '-cp', `${jars}/*`, join(programs, 'Seal.java'), 'x-wing', keys);
  });

  test('age, by its plugin, beside a recipient of its own', async () => {
    const age = await obtainAge();
    const bin = path(`${place}-bin`);
    mkdirSync(bin);
    const plugin = join(bin, 'age-plugin-keystored');
    writeFileSync(plugin, `#!/bin/sh\nexec ${process.execPath} ${resolve('appliance/cli/keystorectl.ts')} age-plugin "$@"\n`);
    chmodSync(plugin, 0o755);
    const environment = {
      ...{ KEYSTORED_URL: harness.url, KEYSTORED_CA: path(place, 'tls-cert.pem'), KEYSTORED_TOKEN: harness.rootToken },
      ...{ HOME: path(), PATH: `${bin}:${age}:${process.env['PATH']}` },
    };
    const { stdout: identity } = await must(plugin, [cipher], { environment });
    const [recipient = ''] = /age1pq1\w+/.exec(identity) ?? [];
    writeFileSync(join(bin, 'identity.txt'), identity);
    writeFileSync(join(bin, 'plain'), 'a backup for long\n');
    await must('age-keygen', ['-pq', '-o', join(bin, 'other.txt')], { environment });
    const other = (await must('age-keygen', ['-y', join(bin, 'other.txt')], { environment })).stdout.trim();
    await must('age', ['-r', other, '-r', recipient, '-o', join(bin, 'sealed'), join(bin, 'plain')], { environment });
    const opening = ['-d', '-i', join(bin, 'identity.txt')];
    expect((await must('age', [...opening, join(bin, 'sealed')], { environment })).stdout).toBe('a backup for long\n');

    await must('age', ['-r', other, '-o', join(bin, 'foreign'), join(bin, 'plain')], { environment });
    const octets = readFileSync(join(bin, 'sealed'));
    const stanza = octets.lastIndexOf('-> mlkem768x25519 ');
    octets[stanza + 40] = octets[stanza + 40] === 0x41 ? 0x42 : 0x41;
    writeFileSync(join(bin, 'changed'), octets);
    for (const file of ['foreign', 'changed'])
      expect(await run('age', [...opening, join(bin, file)], { environment })).toMatchObject({ code: 1, stdout: '' });
    await harness.do(cipher, 'rotate');
    expect((await must('age', [...opening, join(bin, 'sealed')], { environment })).stdout).toBe('a backup for long\n');
    const later = (await must(plugin, [cipher], { environment })).stdout;
    expect(later).not.toContain(recipient);
    await harness.patch(cipher, { disabled: true });
    const refused = await run('age', [...opening, join(bin, 'sealed')], { environment });
    expect(refused.code).toBe(1);
    expect(refused.output).toContain('disabled');
  });
});
