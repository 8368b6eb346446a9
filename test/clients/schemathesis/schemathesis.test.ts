// schemathesis asks a running appliance everything that its description allows, and much that it forbids: no answer is undescribed.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { measure, printMeasures, requireToolchain, run } from '../commands.ts';
import { startSubject, type Subject } from '../story.ts';
import { virtualEnvironment } from '../virtual-environment.ts';

/** Repeat a run with its seed; more examples find more, in longer. */
const seed = process.env['SCHEMATHESIS_SEED'] ?? '1';
const examples = process.env['SCHEMATHESIS_EXAMPLES'] ?? '10';

/** Status, media type, headers and schema of every answer are described, and none is a fault of the appliance. */
const checks = [
  ...['not_a_server_error', 'status_code_conformance', 'content_type_conformance'],
  ...['response_headers_conformance', 'response_schema_conformance'],
];

const keys = '/v1/config/keystore/transit-keys';

const at = temporaryDirectory();
printMeasures();
let subject: Subject;
let bin: string;

beforeAll(async () => {
  await requireToolchain('python3');
  bin = await virtualEnvironment('schemathesis', ['schemathesis'], [], import.meta.dirname);
  subject = await startSubject(at());
  await makeThings();
});

test('no answer of the appliance is undescribed', async () => {
  writeFileSync(at('schemathesis.toml'), configuration());
  const { daemon, descriptionFile, caFile } = subject;
  const args = [
    ...['--config-file', at('schemathesis.toml'), 'run', descriptionFile, '--url', daemon.url, '--tls-verify', caFile],
    ...['--header', `Authorization: Bearer ${daemon.rootToken}`, '--checks', checks.join()],
    ...['--phases', 'examples,coverage,fuzzing', '--seed', seed, '--max-examples', examples],
    ...['--continue-on-failure', '--no-shrink', '--workers', '1'],
  ];
  const hooks = { SCHEMATHESIS_HOOKS: join(import.meta.dirname, 'hooks.py'), PYTHONDONTWRITEBYTECODE: '1' };
  const ended = await run(join(bin, 'schemathesis'), args, { cwd: at(), environment: hooks });
  measure(`schemathesis: ${/[\d,]+ generated/.exec(ended.output)?.[0] ?? 'nothing generated'}`, ended);
  expect(ended.code, ended.output.slice(ended.output.search(/^=+ (ERRORS|FAILURES)/m))).toBe(0);
  expect(ended.output).toMatch(/\d{4,} generated/);
  expect((await daemon.exchange('GET', '/v1/state/system/health')).status).toBe(200);
});

/** Things with fixed names, so that requests reach what acts on them and do not end at "not found". */
async function makeThings(): Promise<void> {
  const { daemon } = subject;
  await daemon.request('POST', keys, { name: 'fuzzed', exportable: true, 'allow-plaintext-backup': true });
  await daemon.request('POST', '/v1/config/keystore/authentication/approles', { name: 'fuzzed' });
  await daemon.request('POST', '/v1/config/keystore/tls/ca', { name: 'fuzzed' });
}

/**
 * Actions and reads use the things that are there; what creates, replaces and deletes draws its names.
 * Left out is what would end the run: sealing, and the end of its own token; following a log does not end.
 */
function configuration(): string {
  const named = [
    ...['/v1/state/keystore/transit-keys/{name}/.+', '/v1/state/keystore/authentication/approles/{name}/.+'],
    '/v1/state/keystore/tls/ca/{name}/.+',
  ];
  const ending = ['systemSeal', 'logout', 'tokenDisable'];
  const operations = [
    ...named.map(
      (path) => `include-path-regex = ${JSON.stringify(path.replace('{name}', '\\{name\\}'))}\nparameters = { "path.name" = "fuzzed" }`,
    ),
    ...ending.map((id) => `include-operation-id = "${id}"\nenabled = false`),
    'include-operation-id = "topicsShow"\nparameters = { "query.follow" = false }',
  ];
  return operations.map((operation) => `[[operations]]\n${operation}\n`).join('\n');
}
