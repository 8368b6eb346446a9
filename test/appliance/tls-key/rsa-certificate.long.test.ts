// `tls-rsa-certificate`: every listener has a second certificate, and each client of OpenSSL is shown the one that it can verify.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type Daemon, freePort, startDaemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
let daemon: Daemon | undefined;
afterEach(async () => {
  await daemon?.kill();
  daemon = undefined;
});

/** The kind of key in the certificate that a client with these options is shown and accepts; its last words when it accepts none. */
function shown(address: string, ca: string, ...options: readonly string[]): Promise<string> {
  const args = ['s_client', '-connect', address, '-CAfile', ca, '-verify_return_error', ...options];
  return new Promise((resolve) => {
    const child = execFile('openssl', args, { timeout: 60_000 }, (_error, out, err) => {
      const kind = /Peer signature type: (\S+)/.exec(out)?.[1];
      resolve(out.includes('Verify return code: 0 (ok)') && kind !== undefined ? kind : (/alert handshake failure/.exec(err)?.[0] ?? err));
    });
    child.stdin?.end();
  });
}

const clients = {
  'ECDSA, TLS 1.2': ['-tls1_2', '-sigalgs', 'ECDSA+SHA256'],
  'RSA, TLS 1.2': ['-tls1_2', '-sigalgs', 'RSA+SHA256'],
  'RSA, TLS 1.3': ['-tls1_3', '-sigalgs', 'RSA-PSS+SHA256'],
  'RSA key exchange with AEAD': ['-tls1_2', '-cipher', 'AES128-GCM-SHA256:@SECLEVEL=0'],
  'RSA key exchange with CBC': ['-tls1_2', '-cipher', 'AES256-SHA:@SECLEVEL=0'],
  'both, TLS 1.2': ['-tls1_2'],
  'both, TLS 1.3': ['-tls1_3'],
};

async function start(name: string, settings: string, firstStart = true) {
  const enrolment = await freePort();
  writeFileSync(path(`${name}.yaml`), `${settings}enrolment:\n  listen: 127.0.0.1:${enrolment}\n`);
  daemon = await startDaemon({ directory: path(name), firstStart, args: ['--config', path(`${name}.yaml`)] });
  const addresses = [new URL(daemon.url).host, new URL(daemon.estUrl).host, `127.0.0.1:${enrolment}`];
  return async () => {
    const seen = addresses.map(async (address) =>
      Promise.all(Object.values(clients).map((options) => shown(address, join(path(name), 'tls/ca.pem'), ...options))),
    );
    const [kinds, ...others] = await Promise.all(seen);
    for (const other of others) expect(other).toEqual(kinds);
    return Object.fromEntries(Object.keys(clients).map((client, at) => [client, kinds?.[at]]));
  };
}

test('clients of RSA alone get it, others the usual one, on every listener', async () => {
  const seen = await start('both', 'tls-rsa-certificate: true\n');
  expect(await seen()).toEqual({
    ...{ 'ECDSA, TLS 1.2': 'ECDSA', 'RSA, TLS 1.2': 'RSA', 'RSA, TLS 1.3': 'RSA-PSS' },
    // Nothing without forward secrecy, for which the key of the certificate would do.
    ...{ 'RSA key exchange with AEAD': 'alert handshake failure', 'RSA key exchange with CBC': 'alert handshake failure' },
    ...{ 'both, TLS 1.2': 'ECDSA', 'both, TLS 1.3': 'ECDSA' },
  });
});

test('beside a key in the token it is refused at the start, with the way out', async () => {
  await expect(start('token', 'tls-key: token\ntls-rsa-certificate: true\n')).rejects.toThrow(
    /no second key beside one in a token: set tls-key: store/,
  );
});

test('without the setting they are refused', async () => {
  const seen = await start('without', '');
  expect(await seen()).toMatchObject({ 'ECDSA, TLS 1.2': 'ECDSA', 'RSA, TLS 1.2': 'alert handshake failure', 'both, TLS 1.3': 'ECDSA' });
});
