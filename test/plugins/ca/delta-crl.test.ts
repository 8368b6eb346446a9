// Delta CRLs (RFC 5280 5.2.4): what was revoked since a list that relying parties may still have. OpenSSL judges by both.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { formatPem } from '../../../core/base/texts/pem.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { startScepAppliance } from '../scep/scep-appliance.ts';

const at = temporaryDirectory();
const appliance = await startScepAppliance();
const file = (name: string, content: string): string => {
  writeFileSync(at(name), content);
  return at(name);
};
const openssl = (...args: string[]) =>
  promisify(execFile)('openssl', args).then(
    ({ stdout, stderr }) => stdout + stderr,
    ({ stdout, stderr }) => `${stdout}${stderr}`,
  );
const days = 86_400;
/** Without the first, openssl takes a delta for a complete list. */
const deltas = ['-extended_crl', '-use_deltas'];

async function fetchList(ca: string, path: string): Promise<{ status: number; pem: string }> {
  const answer = await fetch(`${appliance.plain}/v1/ca/${appliance.tenantId}/${ca}/${path}`);
  return { status: answer.status, pem: formatPem('X509 CRL', Buffer.from(await answer.arrayBuffer())) };
}
const text = async (pem: string) => openssl('crl', '-in', file('shown.pem', pem), '-noout', '-text');
const numberIn = async (pem: string) =>
  BigInt(
    `0x${/CRL Number:\s+(?:0x)?([0-9A-F]+)/i.exec(await openssl('crl', '-in', file('n.pem', pem), '-noout', '-crlnumber').then((said) => said.replace(/crlNumber=/, 'CRL Number: ')))?.[1]}`,
  );

async function makeCa(fields: object = { 'delta-crl': true }): Promise<string> {
  const ca = await appliance.makeCa(fields);
  file('ca.pem', (await appliance.state(ca))['ca-cert']);
  return ca;
}
async function issue(ca: string, name: string): Promise<{ serial: string; pem: string }> {
  const { body } = await appliance.act(ca, 'issue', { 'dns-names': [name] });
  return { serial: body.serial, pem: body.certificate };
}
const revoke = (ca: string, serial: string) => appliance.act(ca, 'revoke', { serial });
const verify = (leaf: string, lists: string, ...options: string[]) =>
  openssl('verify', '-crl_check', ...options, '-CAfile', at('ca.pem'), '-CRLfile', file('lists.pem', lists), file('leaf.pem', leaf));

test('tell relying parties that have an older list what was revoked since, and openssl believes both together', async () => {
  const ca = await makeCa();
  const [before, after, good] = [await issue(ca, 'a.test'), await issue(ca, 'b.test'), await issue(ca, 'c.test')];
  await revoke(ca, before.serial);
  const { pem: older } = await fetchList(ca, 'crl/1');
  appliance.clock.advance(60);
  await revoke(ca, after.serial);
  const { pem: delta } = await fetchList(ca, 'crl/1/delta');
  const said = await text(delta);
  expect(said).toMatch(/X509v3 Delta CRL Indicator: critical/);
  expect(said).not.toContain('Freshest');
  expect(said.toLowerCase()).toContain(after.serial);
  expect(said.toLowerCase()).not.toContain(before.serial);
  expect(await verify(after.pem, older)).toContain('leaf.pem: OK');
  expect(await verify(after.pem, older + delta, ...deltas)).toContain('certificate revoked');
  expect(await verify(before.pem, older + delta, ...deltas)).toContain('certificate revoked');
  expect(await verify(good.pem, older + delta, ...deltas)).toContain('leaf.pem: OK');
});

test('are named by certificates and complete lists, and shown in the state', async () => {
  const ca = await makeCa();
  const { pem } = await issue(ca, 'a.test');
  const url = `https://keystore.example:4646/v1/ca/${appliance.tenantId}/${ca}/crl/1/delta`;
  expect(await openssl('x509', '-in', file('leaf.pem', pem), '-noout', '-text')).toMatch(/X509v3 Freshest CRL:[^]*crl\/1\/delta/);
  expect(await text((await fetchList(ca, 'crl/1')).pem)).toMatch(/X509v3 Freshest CRL:[^]*crl\/1\/delta/);
  expect((await appliance.state(ca))['delta-crl-url']).toBe(url);
});

test('go on from a list of a week ago, and have a number above that of every complete one', async () => {
  const ca = await makeCa();
  const revoked: string[] = [];
  const lists: string[] = [];
  for (let day = 0; day < 10; day++) {
    const { serial } = await issue(ca, `d${day}.test`);
    await revoke(ca, serial);
    revoked.push(serial);
    lists.push((await fetchList(ca, 'crl/1')).pem);
    appliance.clock.advance(days + 1);
  }
  const { pem: delta } = await fetchList(ca, 'crl/1/delta');
  const said = (await text(delta)).toLowerCase();
  // The list of the third day is the last that is over, and that of the fourth the oldest in use.
  expect(revoked.map((serial) => said.includes(serial))).toEqual([...Array(3).fill(false), ...Array(7).fill(true)]);
  expect(await numberIn(delta)).toBeGreaterThan(await numberIn(lists.at(-1) ?? ''));
  const { pem: again } = await fetchList(ca, 'crl/1/delta');
  expect(again).toBe(delta);
  appliance.clock.advance(3_601);
  expect((await fetchList(ca, 'crl/1/delta')).pem).not.toBe(delta);
});

test('are off unless the CA has them, can be turned on later, and are of no deleted CA', async () => {
  const ca = await makeCa({});
  const { pem, serial } = await issue(ca, 'a.test');
  await revoke(ca, serial);
  expect(await openssl('x509', '-in', file('leaf.pem', pem), '-noout', '-text')).not.toContain('Freshest');
  expect((await fetchList(ca, 'crl/1')).status).toBe(200);
  expect((await fetchList(ca, 'crl/1/delta')).status).toBe(404);
  await appliance.patchCa(ca, { 'delta-crl': true });
  expect((await fetchList(ca, 'crl/1/delta')).status).toBe(200);
  for (const path of ['crl/2/delta', 'crl/0/delta', 'crl/x/delta']) expect((await fetchList(ca, path)).status).toBe(404);
  const last = await issue(ca, 'b.test');
  await appliance.patchCa(ca, { 'deletion-allowed': true });
  expect((await appliance.request('DELETE', `/v1/config/keystore/tls/ca/${ca}`)).status).toBe(204);
  expect(await text((await fetchList(ca, 'crl/1')).pem)).not.toContain('Freshest');
  expect((await fetchList(ca, 'crl/1/delta')).status).toBe(404);
  expect(last.serial).not.toBe('');
});
