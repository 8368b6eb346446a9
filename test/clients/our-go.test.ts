// The Go client against a running appliance: its own tests and checks, and a program outside that uses it as its README says.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../harness/temporary.ts';
import { type OurAppliance, startOurAppliance } from './our-appliance.ts';

const path = temporaryDirectory();
const library = resolve(import.meta.dirname, '../../appliance/clients/go');
const staticcheck = 'honnef.co/go/tools/cmd/staticcheck@v0.6.1';

let appliance: OurAppliance;
beforeAll(async () => {
  appliance = await startOurAppliance(path());
});
afterAll(() => appliance?.stop());

test('its tests pass', async () => {
  const output = await appliance.run(library, 'go', ['test', '-count=1', '-v', './...']);
  expect(output).not.toContain('--- SKIP');
  expect(output).toContain('--- PASS: TestLiveStreamOfManyItemsInLittleMemory');
});

test('it is formatted, and vet and staticcheck find nothing', async () => {
  expect(await appliance.run(library, 'gofmt', ['-l', '.'])).toBe('');
  expect(await appliance.run(library, 'go', ['vet', './...'])).toBe('');
  expect(await appliance.run(library, 'go', ['run', staticcheck, './...'])).not.toContain('.go:');
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
  await appliance.run(at, 'go', ['mod', 'init', 'outside.example/program']);
  await appliance.run(at, 'go', ['mod', 'edit', `-replace=keystored-client=${library}`]);
  await appliance.run(at, 'go', ['mod', 'tidy']);
  expect(await appliance.run(at, 'go', ['run', '.'])).toContain('found aes256-gcm96');
  const misspelled = program.replace('{Name: name}', '{Nam: name}');
  writeFileSync(join(at, 'main.go'), misspelled);
  await expect(appliance.run(at, 'go', ['build', './...'])).rejects.toThrow('unknown field Nam');
});
