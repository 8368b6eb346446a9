// The page about logins by certificate, run as a reader does: from enrolment by EST to the use of a key, with curl and openssl, at the daemon.
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort, type Daemon, startDaemon } from '../harness/daemon.ts';
import { blocksOf } from '../harness/markdown.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const at = temporaryDirectory();
let daemon: Daemon;
let port: number;

beforeAll(async () => {
  port = await freePort();
  daemon = await startDaemon({ directory: at('data'), args: ['--certificate-listen', `127.0.0.1:${port}`] });
  mkdirSync(at('reader'));
});
afterAll(() => daemon.stop());

test('a device enrols, logs in and encrypts; its token is nothing without the certificate, and nothing once that is revoked', async () => {
  const ca = at('ca.pem');
  writeFileSync(ca, daemon.caPem);
  const blocks = blocksOf('appliance/docs/use/certificate-login.md', '## From enrolment to the use of a key');
  const script = ['set -e', ...blocks.flatMap(({ language, text }) => (language === 'sh' ? [text] : []))].join('\n');
  const env = {
    ...{ PATH: `${join(process.cwd(), 'appliance')}:${process.env['PATH']}`, HOME: at('reader') },
    ...{ KEYSTORED_URL: daemon.url, KEYSTORED_CA: ca, KEYSTORED_TOKEN: daemon.rootToken },
    ...{ CA: ca, KEYSTORE: `https://127.0.0.1:${port}` },
  };
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: at('reader'), env });
  expect(stdout).toContain('"ciphertext":"store:v1:');
  expect(stdout.match(/"code":"invalid-token"/g)).toHaveLength(2);
});
