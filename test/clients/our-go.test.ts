// The Go client against a running appliance: its own tests and checks, and the project of its README.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientsDirectory } from '../../appliance/clients/provide.ts';
import { packers } from '../../appliance/packaging/clients/pack.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { requireToolchain } from './commands.ts';
import { obtainGo, onlyThisGo } from './go/toolchain.ts';
import { type OurAppliance, startOurAppliance } from './our-appliance.ts';
import { ciphertextAndPlaintext, followReadme } from './readme.ts';
import { versions } from './versions.ts';

const path = temporaryDirectory();
const library = join(clientsDirectory, 'go');
const staticcheck = 'honnef.co/go/tools/cmd/staticcheck@v0.6.1';

/** The last patch of the oldest release, which go.mod names, and the newest one: both from the Go proxy, because Debian 12 has an older one. */
const oldest = versions['go, oldest of our client'];
const newest = versions.go;

let appliance: OurAppliance;
const goOf: Record<string, string> = {};
beforeAll(async () => {
  await requireToolchain('go');
  for (const release of [oldest, newest]) goOf[release] = await obtainGo(release);
  appliance = await startOurAppliance(path());
});
afterAll(() => appliance?.stop());

function go(at: string, args: readonly string[], release: string = newest): Promise<string> {
  return appliance.run(at, goOf[release] ?? '', args, onlyThisGo);
}

test('the oldest release is the one that go.mod names', () => {
  const [, named = ''] = /^go (\S+)$/m.exec(readFileSync(join(library, 'go.mod'), 'utf8')) ?? [];
  expect(oldest.startsWith(`${named}.`)).toBe(true);
});

test.each([
  ['the oldest release', oldest, []],
  ['the newest release', newest, []],
  ['the newest release, without a race', newest, ['-race']],
])('its tests pass with %s', async (_, release, flags) => {
  const output = await go(library, ['test', '-count=1', '-v', ...flags, './...'], release);
  expect(output).not.toContain('--- SKIP');
  expect(output).toContain('--- PASS: TestLiveStreamOfManyItemsInLittleMemory');
});

test('it is formatted, and vet and staticcheck find nothing', async () => {
  expect(await appliance.run(library, join(dirname(goOf[newest] ?? ''), 'gofmt'), ['-l', '.'])).toBe('');
  expect(await go(library, ['vet', './...'])).toBe('');
  expect(await go(library, ['run', staticcheck, './...'])).not.toContain('.go:');
});

test.each([oldest, newest])('the project of its README leads to a ciphertext with Go %s', async (release) => {
  const at = path(`outside-${release}`);
  // Go takes programs of the path that it is told, like the reader's shell.
  const reader = await appliance.reader(at, { ...onlyThisGo, PATH: `${dirname(goOf[release] ?? '')}:${process.env['PATH']}` });
  packers.go(library, at);
  expect(await followReadme(join(library, 'README.md'), reader)).toMatch(ciphertextAndPlaintext);
  const program = readFileSync(join(at, 'main.go'), 'utf8');
  expect(program).toContain('RoleID: ');
  reader.save('main.go', program.replace('RoleID: ', 'RoleIdent: '));
  await expect(reader.run('go build ./...')).rejects.toThrow('unknown field RoleIdent');
});
