// The help of every command fits the terminal, and says each choice.
import { mkdirSync, readFileSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Catalog } from '../../../appliance/cli/catalog.ts';
import { runKeystorectl } from '../../../appliance/cli/main.ts';
import { fieldsIn } from '../../../appliance/cli/operations/fields.ts';
import { programCommands } from '../../../appliance/cli/program.ts';
import type { OpenApiDocument } from '../../../core/http/description/document.ts';
import type { TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { startWholeAppliance } from './whole-appliance.ts';

const path = temporaryDirectory();
let appliance: TestAppliance;
let catalog: Catalog;

beforeAll(async () => {
  for (const name of ['appliance', 'home']) mkdirSync(path(name));
  appliance = await startWholeAppliance(path('appliance'));
  const description = (await appliance.request('GET', '/v1/openapi.json')).body as OpenApiDocument;
  catalog = new Catalog(description);
});
afterAll(() => appliance.close());

/** What a command prints on a terminal of so many columns, or into a pipe. */
async function printed(words: readonly string[], columns: number | undefined): Promise<string> {
  let text = '';
  const stdout = new Writable({
    write(chunk: Buffer, _, done) {
      text += chunk.toString();
      done();
    },
  });
  Object.assign(stdout, { isTTY: columns !== undefined, columns });
  const environment = { HOME: path('home'), KEYSTORED_URL: appliance.url, KEYSTORED_CA: path('appliance', 'tls-cert.pem') };
  const code = await runKeystorectl(words, {
    environment,
    stdin: Object.assign(Readable.from([]), { isTTY: true }),
    stdout,
    stderr: stdout,
  });
  expect([code, words]).toEqual([0, words]);
  return text;
}

/** Every command line that shows a help. */
function commandLines(): readonly (readonly string[])[] {
  const ofOperations = catalog.entries.map(({ command: { verb, resource = '', action } }) => [
    verb === 'logout' ? 'logout' : verb,
    ...(verb === 'logout' ? [] : [resource]),
    ...(action === undefined ? [] : [action]),
  ]);
  const own = programCommands.map(({ name }) => [name]);
  const below = [
    ...subcommands('hsm'),
    ...subcommands('audit'),
    ...subcommands('context'),
    ...subcommands('custody'),
    ...subcommands('approvals', '../approvals/command'),
  ];
  return [[], ...own, ...below, ...ofOperations].map((words) => [...words, '--help']);
}

function subcommands(name: string, file = name): readonly string[][] {
  const source = readFileSync(new URL(`../../../appliance/cli/commands/${file}.ts`, import.meta.url), 'utf8');
  return [...source.matchAll(/\b(?:add|\.command|command)\('([a-z-]+)'/g)].map(([, word = '']) => [name, word]);
}

// Every command at the usual width, every fifth at others: they are wrapped by the same code.
describe.each([
  [80, 1],
  [100, 5],
  [120, 5],
  [undefined, 5],
])('in %s columns', (columns, step) => {
  test('no line is longer', async () => {
    const long: string[] = [];
    for (const words of commandLines().filter((_words, at) => at % step === 0))
      for (const line of (await printed(words, columns)).split('\n'))
        // A word that is longer than the line cannot be wrapped.
        if (line.length > (columns ?? 80) && line.trim().includes(' ')) long.push(`${words.join(' ')}: ${line}`);
    expect(long).toEqual([]);
  });
});

test('every choice of a field is in the help', async () => {
  const entry = catalog.require('create', 'transit-keys')[0];
  const cipher = fieldsIn(entry?.input).find(({ path: name }) => name === 'cipher')?.schema.enum ?? [];
  expect(cipher.length).toBeGreaterThan(5);
  const help = await printed(['create', 'transit-keys', '--help'], 80);
  for (const one of cipher) expect(help).toMatch(new RegExp(`\\b${String(one)}\\b`));
});
