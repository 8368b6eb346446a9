// What devices ask by genm: the root that follows theirs; and names of issuers, which are the same whatever their string types.
import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { objectIdentifier, Reader, sequence, tag } from '../../../core/der/der.ts';
import { partsOf, send } from '../../harness/cmp/device.ts';
import { bodies, byCertificate, byMac, implicitConfirm, nameOf, newKeys, requestOf, revocationOf } from '../../harness/cmp/messages.ts';
import { cmpSecret, startCmpAppliance } from './cmp-appliance.ts';

const appliance = await startCmpAppliance();
const rootCaCert = objectIdentifier('1.3.6.1.5.5.7.4.20');

test('rootCaCert is answered by the root that has followed, with the links, and without one by the newest', async () => {
  const ca = await appliance.makeCa();
  const rootOf = async (): Promise<Buffer> => new X509Certificate((await appliance.state(ca))['ca-cert']).raw;
  const ask = (...old: readonly Uint8Array[]) =>
    send(appliance.cmpUrl(ca), { type: bodies.genm, body: sequence(sequence(rootCaCert, ...old)), protect: byMac(cmpSecret) }, cmpSecret);
  const before = await rootOf();
  const current = await ask(before);
  expect([current.type, Buffer.from(current.body).includes(before)]).toEqual([bodies.genp, false]);
  await appliance.act(ca, 'renew');
  const after = await rootOf();
  const followed = Buffer.from((await ask(before)).body);
  expect([followed.includes(after), followed.length > 2 * after.length]).toEqual([true, true]);
  const newest = await ask();
  expect([newest.type, Buffer.from(newest.body).includes(after)]).toEqual([bodies.genp, true]);
  expect(await ask(Buffer.from([0x30, 0]))).toMatchObject({ type: bodies.error, failInfo: 'badDataFormat' });
});

test('currentCRL is answered by the list of the CA, as crlStatusList is', async () => {
  const ca = await appliance.makeCa();
  const ask = (type: string, ...value: readonly Uint8Array[]) =>
    send(
      appliance.cmpUrl(ca),
      { type: bodies.genm, body: sequence(sequence(objectIdentifier(type), ...value)), protect: byMac(cmpSecret) },
      cmpSecret,
    );
  const [current, listed] = [await ask('1.3.6.1.5.5.7.4.6'), await ask('1.3.6.1.5.5.7.4.22', sequence())];
  const [info] = new Reader(new Reader(current.body).next(tag.sequence).content).rest();
  const [, list] = new Reader(info?.content ?? new Uint8Array(0)).rest();
  expect([current.type, list?.tag]).toEqual([bodies.genp, tag.sequence]);
  expect(Buffer.from(listed.body).includes(list?.whole ?? '-')).toBe(true);
});

test('an issuer is the same in another string type and case, and malformed ones are refused', async () => {
  const ca = await appliance.makeCa();
  const url = appliance.cmpUrl(ca);
  const keys = newKeys();
  const body = sequence(requestOf({ keys }));
  const { certificate } = await send(url, { type: bodies.ir, body, protect: byMac(cmpSecret), info: [implicitConfirm] }, cmpSecret);
  const parts = partsOf(certificate as X509Certificate);
  const protect = byCertificate(keys.privateKey, parts);
  const revoke = (issuer: Uint8Array) => send(url, { type: bodies.rr, body: revocationOf(issuer, parts.serial, 4), protect });
  expect(await revoke(nameOf('other'))).toMatchObject({ type: bodies.rp, failInfo: 'badCertId' });
  expect(await revoke(Uint8Array.of(0x30, 2, 0x31, 0x30))).toMatchObject({ failInfo: 'badDataFormat' });
  expect(await revoke(nameOf(ca.toUpperCase()))).toMatchObject({ type: bodies.rp, status: 0 });
});
