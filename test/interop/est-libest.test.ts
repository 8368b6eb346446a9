// libest's estclient against the real EST app. Debian builds libest without path segments: here the listener puts the label in.
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { openAuditTrail } from '../../core/audit/trail.ts';
import type { Log } from '../../core/base/context.ts';
import type { Listener } from '../../core/http/listener/listeners.ts';
import { createEstApp } from '../../plugins/est/app.ts';
import { openEstListener } from '../../plugins/est/listener/server.ts';
import { type EstAppliance, estParts, openEst, secret, startEstAppliance } from '../plugins/est/est-appliance.ts';
import { readCertsOnly } from '../plugins/ca/pki.ts';
import { selfSignedIdentity } from '../harness/tls.ts';
import { type Bench, obtainClients } from './est-clients.ts';

const clients = await obtainClients();
let appliance: EstAppliance;
let listener: Listener;
let caPem: string;
let ca = '';

describe.skipIf(typeof clients === 'string')(`libest${typeof clients === 'string' ? ` (${clients})` : ''}`, () => {
  beforeAll(async () => {
    appliance = await startEstAppliance();
    const log: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => log };
    const { clock, directory } = appliance;
    const audit = await openAuditTrail({ directory: join(directory, 'audit-libest'), chain: 'libest', clock, log });
    const app = createEstApp({ ...estParts(appliance), audit, log });
    const identity = selfSignedIdentity(directory);
    caPem = identity.cert;
    listener = await openEstListener({
      host: '127.0.0.1',
      port: 0,
      identity,
      log,
      handler(request, response) {
        request.url = (request.url ?? '').replace('/.well-known/est/', `/.well-known/est/${appliance.tenantId}~${ca}/`);
        app(request, response);
      },
    });
    return async () => {
      await listener.close(1_000);
      await audit.close();
    };
  });

  test.each([
    ['an ECDSA CA', {}],
    ['an RSA CA', { 'cert-key-type': 'rsa', 'cert-key-bits': 2048 }],
    ['an intermediate', { 'issuing-ca': true }],
  ])('%s: cacerts, csrattrs, enrolment with and without channel binding, renewal', async (_what, fields) => {
    const issuing = 'issuing-ca' in fields ? { 'issuing-ca': await appliance.makeCa({}) } : fields;
    ca = await appliance.makeCa({ ...issuing, est: openEst });
    if (typeof clients === 'string') throw new Error(clients);
    const at = clients.bench();
    at.file('trusted.pem', caPem);
    const name = ['--common-name', 'libest.example.test'];
    const password = ['-u', 'estuser', '-h', secret];

    await estclient(at, '-g');
    const trusted = readCertsOnly(at.read('cacert-0-0.pkcs7').toString());
    expect(trusted).toHaveLength('issuing-ca' in fields ? 2 : 1);
    at.file('trusted.pem', [caPem, ...trusted.map(String)].join(''));

    await estclient(at, '-a');
    expect(Buffer.from(at.read('csr-0-0.base64').toString(), 'base64')[0]).toBe(0x30);
    await estclient(at, '-e', ...name, ...password);
    const [held] = readCertsOnly(at.read('cert-0-0.pkcs7').toString());
    expect(held?.subject).toContain('CN=libest.example.test');

    at.file('held.pem', String(held));
    at.file('held.key', at.read('key-x-x.pem'));
    await estclient(at, '-e', '-z', '-x', 'held.key', ...name, ...password);
    await estclient(at, '-r', '-c', 'held.pem', '-k', 'held.key', ...password);
    const [renewed] = readCertsOnly(at.read('cert-0-0.pkcs7').toString());
    expect(renewed?.subject).toBe(held?.subject);
    expect(renewed?.serialNumber).not.toBe(held?.serialNumber);
    const wrong = await run(at, '-e', ...name, '-u', 'estuser', '-h', 'wrong');
    expect(wrong.output).toMatch(/401|auth/i);
  });
});

async function run(at: Bench, ...args: readonly string[]) {
  const where = ['-s', '127.0.0.1', '-p', String(listener.port), '-o', '.', '-v'];
  const { code, stdout, stderr } = await at.run('estclient', [...args, ...where], { EST_OPENSSL_CACERT: 'trusted.pem' });
  return { code, output: stdout + stderr };
}

async function estclient(at: Bench, ...args: readonly string[]): Promise<string> {
  const { code, output } = await run(at, ...args);
  expect(code, output).toBe(0);
  return output;
}
