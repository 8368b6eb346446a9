// Kills between finalize and the certificate: the daemon is ended in every millisecond of that, and the next start gives one certificate for the order.
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { AcmeClient, bindExternally, encode } from '../harness/acme/client.ts';
import { freePort, startDaemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { makeCsr, makeKeys } from '../plugins/ca/pki.ts';

const path = temporaryDirectory();
const ca = '/v1/state/keystore/tls/ca/servers';

test('an order that was finalized gets one certificate, whenever the process ends', { timeout: 600_000 }, async () => {
  const port = await freePort();
  writeFileSync(path('keystored.yaml'), `enrolment:\n  listen: 127.0.0.1:${port}\n`);
  const start = () => startDaemon({ directory: path('data'), args: ['--config', path('keystored.yaml')], workers: 2 });
  let daemon = await start();
  await daemon.request('POST', '/v1/config/keystore/tls/ca', {
    name: 'servers',
    est: { 'allowed-domains': ['example.test'], 'allow-subdomains': true },
    acme: { enabled: true },
  });
  const names = ['k1', 'k2', 'k3', 'k4', 'k5', 'k6'].map((one) => `${one}.example.test`);
  const key = (await daemon.request('POST', `${ca}/make-eab-key`, { names })) as { id: string; key: string };
  const { acme } = (await daemon.request('GET', ca)) as { acme: { 'directory-url': string[] } };
  const directory = acme['directory-url'].find((url) => url.includes('127.0.0.1')) ?? '';
  const client = new AcmeClient(directory, daemon.caPem);
  const other = new AcmeClient(directory, daemon.caPem);
  const nonces = [await other.nonce(), await other.nonce()];
  await client.register({ externalAccountBinding: bindExternally(client.keys, { ...key, url: `${client.base}/new-account` }) });
  const serials: string[] = [];
  for (const [round, name] of names.entries()) {
    const order = await client.order(name);
    expect(order.body.status).toBe('ready');
    const csr = encode(await makeCsr({ keys: await makeKeys('P-256'), names: [{ type: 'dns', value: name }] }));
    const finalized = client.post(order.body.finalize, { csr }).catch(() => undefined);
    if (round > 0) await finalized;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, round - 2) * 3));
    await daemon.kill();
    await finalized;
    daemon = await start();
    const fresh = new AcmeClient(directory, daemon.caPem, client.keys);
    fresh.kid = client.kid;
    // A nonce from before the end is as good as any.
    const [nonce] = nonces.splice(0, 1);
    const again = await fresh.post(order.body.finalize, { csr }, nonce === undefined ? {} : { nonce });
    expect([round, again.status]).toEqual([round, 200]);
    let seen = await fresh.post(order.headers['location'] ?? '', '');
    for (let left = 60; seen.body.status === 'processing' && left > 0; left--) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      seen = await fresh.post(order.headers['location'] ?? '', '');
    }
    expect([round, seen.body.status]).toEqual([round, 'valid']);
    serials.push(seen.body.certificate.split('/').at(-1));
  }
  const issued = (await daemon.request('GET', `${ca}/certificates`)) as { serial: string; names: string[] }[];
  expect(issued.map(({ serial }) => serial).toSorted()).toEqual(serials.toSorted());
  expect(issued.flatMap((one) => one.names).toSorted()).toEqual(names.map((name) => `DNS:${name}`));
  await daemon.stop();
});
