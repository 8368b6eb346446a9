// The appliance's own CA and the identity of its listeners, on a real token.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { beforeAll, describe, expect, test } from 'vitest';
import { requireIssuingCa } from '../../../plugins/ca/life.ts';
import { rollOwnCa } from '../../../plugins/ca/own/own-ca.ts';
import { applianceCaName, ensureListenerIdentity, listenerNotAfter } from '../../../plugins/ca/own/listener-identity.ts';
import type { ListenerIdentity } from '../../../core/plugin/services/certificate-authority.ts';
import { openTestContext, type TestContext } from '../est/harness.ts';
import { file, openssl } from '../est/openssl.ts';

const tenant = '11111111-1111-4111-8111-111111111111';
const hosts = ['keystore.example', 'localhost', '127.0.0.1', '::1'];
const day = 86_400;
let context: TestContext;
let first: ListenerIdentity;

const certificatesOf = (pem: string): readonly X509Certificate[] =>
  pem.split(/(?<=-----END CERTIFICATE-----\n)/).map((one) => new X509Certificate(one));
const pemOf = ({ key }: ListenerIdentity): string => ('pem' in key ? key.pem : '');

beforeAll(async () => {
  context = await openTestContext();
  // TLS clients look at the clock of the machine.
  context.clock.advance((Date.now() - context.clock.now().epochMilliseconds) / 1_000);
  first = await ensureListenerIdentity(context, tenant, hosts);
});

describe('listener identity', () => {
  test('a second call changes nothing', async () => {
    expect(await ensureListenerIdentity(context, tenant, hosts)).toEqual(first);
  });

  test('the certificate carries every host and verifies under the CA', () => {
    const [leaf, ca] = [new X509Certificate(first.chainPem), new X509Certificate(first.caPem)];
    expect(leaf.subjectAltName).toBe('DNS:keystore.example, DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1');
    expect(leaf.checkIssued(ca) && leaf.verify(ca.publicKey)).toBe(true);
    expect(ca.ca && ca.verify(ca.publicKey)).toBe(true);
    expect(leaf.serialNumber).toMatch(/^[4-7][0-9A-F]{31}$/);
  });

  test('a TLS client that trusts ca.pem accepts a server with it, by name and by address', async () => {
    const server = createServer({ key: pemOf(first), cert: first.chainPem });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    const trusting = { host: '127.0.0.1', port, ca: first.caPem };
    for (const options of [trusting, { ...trusting, servername: 'localhost' }]) {
      const socket = connect(options);
      await once(socket, 'secureConnect');
      expect(socket.authorized).toBe(true);
      socket.destroy();
    }
    server.close();
  });

  test('the private key is nowhere in clear on the disk', () => {
    const text = Buffer.from(createPrivateKey(pemOf(first)).export({ format: 'der', type: 'pkcs8' }));
    const files = readdirSync(context.directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(2);
    for (const file of files) {
      const contents = readFileSync(join(file.parentPath, file.name));
      expect(contents.includes(text) || contents.includes(pemOf(first).slice(30, 90)), file.name).toBe(false);
    }
  });
});

test('other hosts give another certificate', async () => {
  const other = await ensureListenerIdentity(context, tenant, ['other.example']);
  expect(other.serial).not.toBe(first.serial);
  first = await ensureListenerIdentity(context, tenant, hosts);
});

test('two processes that race end with the same identity', async () => {
  const [left, right] = await Promise.all([
    ensureListenerIdentity(context, tenant, ['race.example']),
    ensureListenerIdentity(context, tenant, ['race.example']),
  ]);
  expect(left).toEqual(right);
});

test('renewed when a third of its life is left, by the same CA', async () => {
  const before = await ensureListenerIdentity(context, tenant, hosts);
  context.clock.advance(59 * day);
  expect((await ensureListenerIdentity(context, tenant, hosts)).serial).toBe(before.serial);
  context.clock.advance(2 * day);
  const after = await ensureListenerIdentity(context, tenant, hosts);
  expect(after.serial).not.toBe(before.serial);
  expect(after.caPem).toBe(before.caPem);
});

test('one that was issued while the clock was ahead is replaced when the clock is right again', async () => {
  context.clock.advance(40 * day);
  const ahead = await ensureListenerIdentity(context, tenant, ['ahead.example']);
  context.clock.advance(-40 * day);
  const right = await ensureListenerIdentity(context, tenant, ['ahead.example']);
  expect(right.serial).not.toBe(ahead.serial);
  expect(new X509Certificate(right.chainPem).validFromDate.getTime()).toBeLessThanOrEqual(context.clock.now().epochMilliseconds);
  expect((await ensureListenerIdentity(context, tenant, ['ahead.example'])).serial).toBe(right.serial);
});

test('the CA of the listeners that was made while the clock was ahead has a successor when it is right', async () => {
  const own = await openTestContext();
  own.clock.advance(400 * day);
  await ensureListenerIdentity(own, tenant, hosts);
  own.clock.advance(-400 * day);
  const right = await ensureListenerIdentity(own, tenant, hosts);
  const now = own.clock.now().epochMilliseconds;
  const [leaf, ca] = [certificatesOf(right.chainPem)[0], certificatesOf(right.caPem)[0]];
  for (const certificate of [leaf, ca]) expect(certificate?.validFromDate.getTime()).toBeLessThanOrEqual(now);
  expect(leaf?.verify((ca as X509Certificate).publicKey)).toBe(true);
  expect((await ensureListenerIdentity(own, tenant, hosts)).serial).toBe(right.serial);
});

test('the CA rolls over a year before its end; who trusts only the old root still connects', async () => {
  const old = await ensureListenerIdentity(context, tenant, hosts);
  context.clock.advance(19 * 365 * day);
  const rolled = await ensureListenerIdentity(context, tenant, hosts);
  expect(rolled.caPem.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
  const [leaf, link] = certificatesOf(rolled.chainPem);
  const [newRoot, oldRoot] = certificatesOf(rolled.caPem);
  if (leaf === undefined || link === undefined || newRoot === undefined || oldRoot === undefined) throw new Error('certificates missing');
  expect(oldRoot.toString()).toBe(new X509Certificate(old.caPem).toString());
  expect(leaf.verify(newRoot.publicKey)).toBe(true);
  expect(leaf.verify(link.publicKey)).toBe(true);
  expect(link.verify(oldRoot.publicKey) && link.checkIssued(oldRoot)).toBe(true);
  expect(context.tables.cas.get([tenant, applianceCaName])?.generations).toHaveLength(2);
});

test('after renewals by hand, who trusts any root that has not ended still finds a way to it', async () => {
  const renewals = 3;
  for (let done = 0; done < renewals; done++) {
    const record = context.tables.cas.get([tenant, applianceCaName]);
    if (record === undefined) throw new Error('there is no CA of the listeners');
    await rollOwnCa(context, { tenantId: tenant, record }, { name: applianceCaName, commonName: 'keystored appliance CA' });
  }
  const { chainPem, caPem } = await ensureListenerIdentity(context, tenant, hosts);
  const chain = file(join(context.directory, 'chain.pem'), chainPem);
  const roots = certificatesOf(caPem);
  expect(roots).toHaveLength(renewals + 2);
  const at = String(Math.floor(context.clock.now().epochMilliseconds / 1_000));
  for (const [index, root] of roots.entries()) {
    const trusted = file(join(context.directory, 'trusted.pem'), root.toString());
    expect(openssl('verify', '-attime', at, '-CAfile', trusted, '-untrusted', chain, chain), `root ${index}`).toMatchObject({ code: 0 });
  }
  // What a root that has ended signed helps nobody.
  context.clock.advance(366 * day);
  const later = await ensureListenerIdentity(context, tenant, hosts);
  expect(certificatesOf(later.caPem)).toHaveLength(renewals + 1);
  expect(certificatesOf(later.chainPem)).toHaveLength(renewals + 1);
});

test('no CA of people is certified by the one of the listeners', () => {
  expect(() => requireIssuingCa(context, tenant, applianceCaName)).toThrow('"issuing-ca" cannot be the CA of the listeners');
});

test('no key is left unclaimed', () => {
  expect([...context.tables.pendingKeys.entries([])]).toEqual([]);
});

test('each appliance of a cluster has an identity of its own, under one CA', async () => {
  // As the context of another appliance, whose key differs by its name only.
  const other = { ...context, store: { ...context.store.prefixed('second'), appliance: 'second' } };
  const identity = await ensureListenerIdentity(other, tenant, ['second.example']);
  context.store.refresh();
  expect(identity.caPem).toBe((await ensureListenerIdentity(context, tenant, hosts)).caPem);
  expect(new X509Certificate(identity.chainPem).subjectAltName).toBe('DNS:second.example');
  // Neither replaces that of the other.
  const again = [await ensureListenerIdentity(context, tenant, hosts), await ensureListenerIdentity(other, tenant, ['second.example'])];
  expect(again[1]?.serial).toBe(identity.serial);
  expect(new X509Certificate(again[0]?.chainPem ?? '').subjectAltName).toContain('DNS:keystore.example');
  expect(listenerNotAfter(other)?.epochMilliseconds).toBe(identity.notAfter.epochMilliseconds);
});
