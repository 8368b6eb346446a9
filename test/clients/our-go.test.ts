// The Go client against a running appliance: its own tests and checks, and a program outside that uses it as its README says.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../harness/temporary.ts';
import { requireToolchain } from './commands.ts';
import { obtainGo, onlyThisGo } from './go/toolchain.ts';
import { type OurAppliance, startOurAppliance } from './our-appliance.ts';
import { versions } from './versions.ts';

const path = temporaryDirectory();
const library = resolve(import.meta.dirname, '../../appliance/clients/go');
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

const program = `package main

import (
	"context"
	"fmt"
	"os"

	keystored "keystored-client"
)

func main() {
	ca, err := os.ReadFile(os.Getenv("KEYSTORED_TEST_CA_FILE"))
	if err != nil {
		panic(err)
	}
	client, err := keystored.New(keystored.Config{
		Addresses: []string{os.Getenv("KEYSTORED_TEST_ADDRESS")},
		CAPEM:     ca,
		Token:     os.Getenv("KEYSTORED_TEST_TOKEN"),
	})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	name := fmt.Sprintf("outside-%d", os.Getpid())
	if _, err := client.TransitKeys.Create(ctx, keystored.TransitKeyCreation{Name: name}, nil); err != nil {
		panic(err)
	}
	for key, err := range client.TransitKeys.ListEach(ctx, nil) {
		if err == nil && key.Name == name {
			fmt.Println("found", key.Cipher)
		}
	}
}
`;

test('a program elsewhere uses it', async () => {
  const at = path('outside');
  mkdirSync(at);
  writeFileSync(join(at, 'main.go'), program);
  await go(at, ['mod', 'init', 'outside.example/program']);
  await go(at, ['mod', 'edit', `-replace=keystored-client=${library}`]);
  await go(at, ['mod', 'tidy']);
  expect(await go(at, ['run', '.'])).toContain('found aes256-gcm96');
  const misspelled = program.replace('{Name: name}', '{Nam: name}');
  writeFileSync(join(at, 'main.go'), misspelled);
  await expect(go(at, ['build', './...'])).rejects.toThrow('unknown field Nam');
});
