// RFC 5280 section 5.2.4: a delta CRL without a revocation, or with one taken back, hides it from relying parties that have the list before.
import { expect, test } from 'vitest';
import { startScepAppliance } from '../../plugins/scep/scep-appliance.ts';

const appliance = await startScepAppliance();

async function fetchList(ca: string, path: string): Promise<Buffer> {
  const answer = await fetch(`${appliance.plain}/v1/ca/${appliance.tenantId}/${ca}/${path}`);
  expect(answer.status).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
}
const issue = async (ca: string, name: string): Promise<string> => (await appliance.act(ca, 'issue', { 'dns-names': [name] })).body.serial;
const has = (list: Buffer, serial: string): boolean => list.includes(Buffer.from(serial, 'hex'));

test('revocations that run beside readers of the delta are all in the next one', async () => {
  const ca = await appliance.makeCa({ 'delta-crl': true });
  await fetchList(ca, 'crl/1');
  const serials: string[] = [];
  for (let n = 0; n < 8; n++) serials.push(await issue(ca, `h${n}.test`));
  await Promise.all(serials.flatMap((serial) => [appliance.act(ca, 'revoke', { serial }), fetchList(ca, 'crl/1/delta')]));
  const delta = await fetchList(ca, 'crl/1/delta');
  expect(serials.filter((serial) => !has(delta, serial))).toEqual([]);
});

test('a clock that was set back, and a flag that was turned off and on, hide none', async () => {
  const ca = await appliance.makeCa({ 'delta-crl': true });
  const [first, second, third] = [await issue(ca, 'a.test'), await issue(ca, 'b.test'), await issue(ca, 'c.test')];
  await appliance.act(ca, 'revoke', { serial: first });
  await fetchList(ca, 'crl/1');
  appliance.clock.step(-7_200);
  expect((await appliance.request('POST', '/v1/state/system/accept-clock')).status).toBe(204);
  await appliance.act(ca, 'revoke', { serial: second });
  expect(has(await fetchList(ca, 'crl/1/delta'), second)).toBe(true);
  await appliance.patchCa(ca, { 'delta-crl': false });
  await appliance.act(ca, 'revoke', { serial: third });
  await appliance.patchCa(ca, { 'delta-crl': true });
  const [delta, complete] = [await fetchList(ca, 'crl/1/delta'), await fetchList(ca, 'crl/1')];
  for (const serial of [second, third]) expect([has(delta, serial), has(complete, serial)]).toEqual([true, true]);
  expect(has(complete, first)).toBe(true);
});

test('the delta of one CA, or of one of its keys, is none for another', async () => {
  const [ca, other] = [await appliance.makeCa({ 'delta-crl': true }), await appliance.makeCa({ 'delta-crl': true })];
  const serial = await issue(ca, 'a.test');
  await fetchList(ca, 'crl/1');
  await appliance.act(ca, 'revoke', { serial });
  await appliance.act(ca, 'renew');
  const renewed = (await appliance.state(ca))['key-version'];
  expect(renewed).toBe(2);
  expect(has(await fetchList(ca, 'crl/1/delta'), serial)).toBe(true);
  for (const list of [await fetchList(ca, 'crl/2/delta'), await fetchList(other, 'crl/1/delta')]) expect(has(list, serial)).toBe(false);
});
