// The Java client against a running appliance: its own tests, its packages, and the project of its README.
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientsDirectory } from '../../appliance/clients/provide.ts';
import manifest from '../../package.json' with { type: 'json' };
import { temporaryDirectory } from '../harness/temporary.ts';
import { type OurAppliance, startOurAppliance } from './our-appliance.ts';
import { ciphertextAndPlaintext, followReadme } from './readme.ts';

const path = temporaryDirectory();
const source = join(clientsDirectory, 'java');
const library = path('library');
const repository = path('repository');

let appliance: OurAppliance;
beforeAll(async () => {
  // Built elsewhere: what it is built of is for others as well.
  cpSync(source, library, { recursive: true, filter: (from) => !from.startsWith(`${source}${sep}target`) });
  appliance = await startOurAppliance(path());
});
afterAll(() => appliance?.stop());

function maven(at: string, ...args: string[]): Promise<string> {
  return appliance.run(at, 'mvn', ['-B', '-ntp', ...args]);
}

test('its tests pass, and the compiler and javadoc warn of nothing', async () => {
  const output = await maven(library, 'deploy', `-DaltDeploymentRepository=here::file://${repository}`);
  expect(output).toMatch(/Tests run: \d+, Failures: 0, Errors: 0, Skipped: 0\n/);
  expect(output).toMatch(/100000 results, at most \d+ KiB in the heap/);
  expect(output).not.toContain('[WARNING]');
  const at = join(repository, 'keystored/keystored-client', manifest.version);
  for (const part of ['.jar', '-sources.jar', '-javadoc.jar', '.pom']) {
    expect(existsSync(join(at, `keystored-client-${manifest.version}${part}`)), part).toBe(true);
  }
});

test('the project of its README leads to a ciphertext', async () => {
  const at = path('outside');
  const reader = await appliance.reader(at);
  cpSync(repository, join(at, 'maven'), { recursive: true });
  // A local repository of its own would fetch every plugin again; the usual one forgets the package before and after.
  const forget = 'mvn -B -ntp -q dependency:purge-local-repository -DmanualInclude=keystored:keystored-client -DreResolve=false';
  await followReadme(join(source, 'README.md'), { save: reader.save, run: async () => '' });
  await reader.run(forget);
  expect(await followReadme(join(source, 'README.md'), reader)).toMatch(ciphertextAndPlaintext);
  const program = readFileSync(join(at, 'src/main/java/First.java'), 'utf8');
  expect(program).toContain('.approle(');
  reader.save('src/main/java/First.java', program.replace('.approle(', '.approl('));
  await expect(reader.run('mvn -B -ntp -q compile')).rejects.toThrow('approl');
  await reader.run(forget);
});
