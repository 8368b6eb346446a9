// The Python client: runs its tests, which are in Python, against the appliance and against servers of their own.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientsDirectory } from '../../../appliance/clients/provide.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { endWithTests } from '../../harness/children.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';

const directory = temporaryDirectory();
const root = resolve(import.meta.dirname, '../../..');
let appliance: TestAppliance;
let clock: NodeJS.Timeout;
let environment: Record<string, string>;

beforeAll(async () => {
  mkdirSync(directory('appliance'));
  mkdirSync(directory('other'));
  appliance = await startTestAppliance({ directory: directory('appliance') });
  // Tokens of seconds end as they would in the service.
  clock = setInterval(() => appliance.clock.advance(0.1), 100);
  environment = {
    KEYSTORED_URL: appliance.url,
    KEYSTORED_CA: readFileSync(directory('appliance', 'tls-cert.pem'), 'utf8'),
    KEYSTORED_OTHER_CA: selfSignedIdentity(directory('other')).cert,
    KEYSTORED_TOKEN: appliance.rootToken,
  };
});

afterAll(async () => {
  clearInterval(clock);
  await appliance.close();
});

test.each(['test_client', 'test_attempts', 'test_data_keys'])('%s', async (module) => {
  const child = spawn('python3', ['-B', '-W', 'error', '-m', 'unittest', module], {
    cwd: join(root, 'test/appliance/clients/python'),
    env: { ...process.env, ...environment, PYTHONPATH: join(clientsDirectory, 'python/src') },
    stdio: ['ignore', 'inherit', 'pipe'],
    detached: true,
  });
  endWithTests(child);
  const ended = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
  const report = await text(child.stderr);
  expect({ code: await ended, report }).toEqual({ code: 0, report: expect.stringMatching(/^Ran \d+ tests in .*\n\nOK\n$/m) as unknown });
});
