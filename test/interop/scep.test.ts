// Clients of others against SCEP: micromdm's scepclient, strongSwan's pki, certmonger.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { X509Certificate, generateKeyPairSync } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../harness/temporary.ts';
import { openScep, type ScepAppliance, secret, startScepAppliance } from '../plugins/scep/scep-appliance.ts';

const path = temporaryDirectory();
let appliance: ScepAppliance;

beforeAll(async () => {
  appliance = await startScepAppliance();
});

type Ran = { readonly status: number | null; readonly said: string };

function run(command: string, args: readonly string[], options: { cwd?: string; input?: string } = {}): Promise<Ran & { stdout: Buffer }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: options.cwd });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, stdout: Buffer.concat(out), said: Buffer.concat([...err, ...out]).toString() }));
  });
}

const kinds = [
  ['ecdsa', {}],
  ['rsa', { 'cert-key-type': 'rsa', 'cert-key-bits': 2048 }],
] as const;

describe.each(kinds)('strongSwan under a CA with key %s', (kind, fields) => {
  test('enrols, renews', { timeout: 60_000 }, async () => {
    const directory = path(`strongswan-${kind}`);
    mkdirSync(directory);
    const ca = await appliance.makeCa({ ...openScep, ...fields });
    const file = (name: string): string => `${directory}/${name}`;
    const url = appliance.urlOf(ca);
    const asked = await run('pki', ['--scepca', '--url', url, '--caout', file('ca.der'), '--raout', file('ra.der'), '--force']);
    console.log(asked.said);
    expect(asked.status).toBe(0);
    writeFileSync(file('key.pem'), generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'pem', type: 'pkcs1' }));
    const enrolled = await run('pki', [
      ...[
        '--scep',
        '--url',
        url,
        '--in',
        file('key.pem'),
        '--dn',
        'CN=dev.example.test',
        '--san',
        'dev.example.test',
        '--password',
        secret,
      ],
      ...['--cacert-enc', file('ra.der'), '--cacert-sig', file('ra.der'), '--cacert', file('ca.der'), '--outform', 'pem'],
    ]);
    console.log(enrolled.said.slice(0, 3000));
    expect(new X509Certificate(enrolled.stdout).subject).toBe('CN=dev.example.test');
    console.log(JSON.stringify(appliance.audited(), undefined, 1));
  });
});

test('micromdm', { timeout: 60_000 }, async () => {
  const directory = path('micromdm');
  mkdirSync(directory);
  const ca = await appliance.makeCa({
    ...openScep,
    'cert-key-type': 'rsa',
    'cert-key-bits': 2048,
    scep: { ...openScep.scep, 'allow-old': ['des', 'sha1'] },
  });
  const ran = await run(
    'scepclient',
    [
      '-server-url',
      appliance.urlOf(ca),
      '-private-key',
      'k.pem',
      '-certificate',
      'c.pem',
      '-challenge',
      secret,
      '-cn',
      'dev.example.test',
      '-debug',
    ],
    { cwd: directory },
  );
  console.log(ran.said);
  console.log(JSON.stringify(appliance.audited().slice(-3), undefined, 1));
  expect(new X509Certificate(readFileSync(`${directory}/c.pem`)).subject).toContain('CN=dev.example.test');
});
