// Managed objects of KMIP: what clients make, find, change and end, by the rules of the specification.
import { createDecipheriv } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Attribute, KmipCall } from '../../../plugins/kmip/objects/object-service.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { aes, codeOf, type KmipHarness, named, startKmipHarness, stateOf } from './harness.ts';

const at = temporaryDirectory();
let harness: KmipHarness;
let call: KmipCall;

beforeAll(async () => {
  harness = await startKmipHarness(at());
  call = await harness.client('array', 'storage');
});
afterAll(() => harness.close());

const make = async (...more: readonly Attribute[]): Promise<string> =>
  (await harness.objects.create(call, { attributes: [...aes(), ...more] })).id;
const attribute = async (id: string, name: string): Promise<unknown> =>
  (await harness.objects.attributes(call, id, [name])).map(({ value }) => ('value' in value ? value.value : value.fields));
const states = { preActive: [1], active: [2], deactivated: [3], compromised: [4], destroyed: [5], destroyedCompromised: [6] };
const date = (name: string, seconds: number): Attribute => ({ name, value: { type: 'date', value: seconds } });
const now = (): number => Math.floor(harness.clock.now().epochMilliseconds / 1_000);
const text = (name: string, value: string): Attribute => ({ name, value: { type: 'text', value } });

describe('material', () => {
  test('of Create comes from the token, and is the same at every Get', async () => {
    const { objects } = harness;
    const [id, other] = [await make(), await make()];
    const [first, again, different] = [
      await objects.get(call, { id }),
      await objects.get(call, { id }),
      await objects.get(call, { id: other }),
    ];
    expect(first).toMatchObject({ objectType: 'symmetric-key', algorithm: 3, length: 256, material: { keyFormat: 1 } });
    expect(first.material.octets).toHaveLength(32);
    expect(again.material.octets).toEqual(first.material.octets);
    expect(different.material.octets).not.toEqual(first.material.octets);
  });

  test('of Register comes back as it was sent, whatever it is', async () => {
    const { objects } = harness;
    const kinds = [
      ['secret-data', { octets: Buffer.from('correct horse'), keyFormat: 2, subtype: 1 }],
      ['opaque-object', { octets: Buffer.alloc(100_000, 7), subtype: 0x8000_0000 }],
      ['certificate', { octets: Buffer.from([0x30, 0]), subtype: 1 }],
      ['private-key', { octets: Buffer.from([0x30, 1]), keyFormat: 4 }],
    ] as const;
    for (const [objectType, material] of kinds) {
      const { id } = await objects.register(call, objectType, material, { attributes: [] });
      expect(await objects.get(call, { id })).toMatchObject({
        objectType,
        material: { ...material, octets: new Uint8Array(material.octets) },
      });
    }
    expect(await codeOf(objects.register(call, 'opaque-object', { octets: Buffer.alloc(131_073) }, { attributes: [] }))).toMatch(/invalid/);
    expect(await codeOf(objects.register(call, 'opaque-object', { octets: Buffer.alloc(0) }, { attributes: [] }))).toBe(
      'kmip-attribute-invalid',
    );
  });

  test('opens in its own record alone', async () => {
    const { kmip } = harness.parts;
    const [one, other] = [await make(), await make()];
    const space = kmip.tables.spaces.get([call.client.tenantId, 'storage']);
    const key = (id: string) => [call.client.tenantId, space?.id ?? '', id];
    const moved = kmip.tables.materials.get(key(one));
    await kmip.store.write((transaction) => transaction.put(kmip.tables.materials, key(other), moved ?? { sealed: new Uint8Array() }));
    expect(await codeOf(harness.objects.get(call, { id: other }))).toBe('decryption-failed');
    expect(await codeOf(harness.objects.get(call, { id: one }))).toBeUndefined();
  });

  test('has not left where a Get is refused, and what has no key block leaves in clear only', async () => {
    const { objects } = harness;
    const { id } = await objects.register(call, 'certificate', { octets: Buffer.from([0x30, 0]), subtype: 1 }, { attributes: [] });
    const key = await make();
    const encode = ({ material }: { material: { octets: Uint8Array } }) => material.octets;
    const wrap = { keyId: (await objects.create(call, { attributes: aes(256, 0x10) })).id, encode };
    expect(await codeOf(objects.get(call, { id: key, keyFormat: 4 }))).toBe('kmip-format-unsupported');
    expect(await codeOf(objects.get(call, { id: key, wrap }))).toBe('kmip-state');
    await objects.activate(call, wrap.keyId);
    expect(await codeOf(objects.get(call, { id, wrap }))).toBe('kmip-format-unsupported');
    expect([await attribute(id, 'Fresh'), await attribute(key, 'Fresh')]).toEqual([[true], [true]]);
    await objects.get(call, { id: key, wrap });
    await objects.noteLeft(call, key);
    expect(await attribute(key, 'Fresh')).toEqual([false]);
  });

  test('is as long as algorithm and length say', async () => {
    const { objects } = harness;
    const register = (octets: number, bits: number) =>
      codeOf(objects.register(call, 'symmetric-key', { octets: Buffer.alloc(octets, 1), keyFormat: 1 }, { attributes: aes(bits) }));
    expect([await register(17, 136), await register(16, 256), await register(16, -5)]).toEqual(Array(3).fill('kmip-attribute-invalid'));
    expect(await register(16, 128)).toBeUndefined();
  });

  test('leaves no notes of clients when it is destroyed, and no digest of what could be guessed', async () => {
    const { objects } = harness;
    const id = await make(named('gone'), text('x-note', 'secret'), text('Contact Information', 'somebody'), date('x-date', 1));
    const { id: password } = await objects.register(
      call,
      'secret-data',
      { octets: Buffer.from('hunter2'), keyFormat: 2, subtype: 1 },
      { attributes: [] },
    );
    expect(await objects.attributeNames(call, password)).not.toContain('Digest');
    const opaque = await objects.register(call, 'opaque-object', { octets: Buffer.from('1234'), subtype: 1 }, { attributes: [] });
    await objects.destroy(call, opaque.id);
    expect(await objects.attributeNames(call, opaque.id)).not.toContain('Digest');
    await objects.destroy(call, id);
    const left = await objects.attributeNames(call, id);
    expect(left).toEqual(expect.arrayContaining(['Name', 'Digest', 'Initial Date', 'Destroy Date', 'Cryptographic Algorithm']));
    for (const name of ['x-note', 'x-date', 'Contact Information']) expect(left).not.toContain(name);
  });

  test('leaves wrapped under a key that may wrap and is Active, and under no other', async () => {
    const { objects } = harness;
    const id = await make({ name: 'Sensitive', value: { type: 'boolean', value: true } });
    const keyId = (await objects.create(call, { attributes: [...aes(256, 0x10), date('Protect Stop Date', now() + 1)] })).id;
    const wrap = { keyId, encode: ({ material }: { material: { octets: Uint8Array } }) => material.octets };
    expect(await codeOf(objects.get(call, { id, wrap }))).toBe('kmip-state');
    await objects.activate(call, keyId);
    const { octets: wrapping } = (await objects.get(call, { id: keyId })).material;
    const wrapped = (await objects.get(call, { id, wrap })).material.octets;
    harness.clock.advance(1);
    expect(await codeOf(objects.get(call, { id, wrap }))).toBe('kmip-state');
    const opening = createDecipheriv('aes256-wrap', wrapping, Buffer.alloc(8, 0xa6));
    expect(Buffer.concat([opening.update(wrapped), opening.final()])).toHaveLength(32);
    expect(await codeOf(objects.get(call, { id }))).toBe('kmip-sensitive');
    expect(await codeOf(objects.get(call, { id, wrap: { ...wrap, keyId: await make(date('Activation Date', 1)) } }))).toBe('kmip-usage');
  });
});

describe('states', () => {
  test('follow the table of the specification', async () => {
    const { objects } = harness;
    const id = await make();
    expect(await attribute(id, 'State')).toEqual(states.preActive);
    expect(await codeOf(objects.revoke(call, id, { reason: 1 }))).toBe('kmip-state');
    await objects.activate(call, id);
    expect(await attribute(id, 'State')).toEqual(states.active);
    expect([await codeOf(objects.activate(call, id)), await codeOf(objects.destroy(call, id))]).toEqual(['kmip-state', 'kmip-state']);
    await objects.revoke(call, id, { reason: 6, message: 'retired' });
    expect(await attribute(id, 'State')).toEqual(states.deactivated);
    expect((await objects.get(call, { id })).material.octets).toHaveLength(32);
    await objects.revoke(call, id, { reason: 2, compromiseOccurrence: now() - 60 });
    expect(await attribute(id, 'State')).toEqual(states.compromised);
    await objects.destroy(call, id);
    expect(await attribute(id, 'State')).toEqual(states.destroyedCompromised);
    expect(await codeOf(objects.get(call, { id }))).toBe('kmip-destroyed');
    expect(await codeOf(objects.destroy(call, id))).toBe('kmip-destroyed');
    expect(await codeOf(objects.addAttribute(call, id, text('x-late', 'a')))).toBe('kmip-destroyed');
  });

  test('follow dates by themselves', async () => {
    const id = await make(date('Activation Date', now() + 100), date('Deactivation Date', now() + 200));
    expect(await attribute(id, 'State')).toEqual(states.preActive);
    harness.clock.advance(100);
    expect(await attribute(id, 'State')).toEqual(states.active);
    harness.clock.advance(100);
    expect(await attribute(id, 'State')).toEqual(states.deactivated);
    const backwards = make(date('Activation Date', now()), date('Deactivation Date', now() - 1));
    expect(await codeOf(backwards)).toBe('kmip-attribute-invalid');
  });
});

describe('dates of an end', () => {
  const deactivation = (seconds: number) => date('Deactivation Date', seconds);

  test('that have come stay as they are: no change takes a Revoke back', async () => {
    const { objects } = harness;
    const id = await make(deactivation(now() + 500), date('Protect Stop Date', now() + 400));
    await objects.activate(call, id);
    await objects.revoke(call, id, { reason: 6 });
    for (const late of [deactivation(now() + 900), date('Protect Stop Date', now() + 450)])
      expect(await codeOf(objects.modifyAttribute(call, id, late))).toBe('kmip-attribute-read-only');
    expect(await attribute(id, 'State')).toEqual(states.deactivated);
  });

  test('end nothing that is Active before its time: that is Revoke, which is judged as such', async () => {
    const { objects } = harness;
    const id = await make();
    expect(await codeOf(objects.addAttribute(call, id, deactivation(now())))).toBe('kmip-attribute-invalid');
    expect(await codeOf(objects.addAttribute(call, id, deactivation(now() + 500)))).toBeUndefined();
    await objects.activate(call, id);
    expect(await codeOf(objects.modifyAttribute(call, id, deactivation(now() + 499)))).toBe('kmip-attribute-read-only');
    expect(await codeOf(objects.modifyAttribute(call, id, deactivation(now() - 1)))).toBe('kmip-attribute-invalid');
    expect(await codeOf(objects.modifyAttribute(call, id, deactivation(now() + 501)))).toBeUndefined();
    const without = await make();
    await objects.activate(call, without);
    for (const end of [deactivation(now() + 500), date('Protect Stop Date', now() + 500)])
      expect(await codeOf(objects.addAttribute(call, without, end))).toBe('kmip-attribute-read-only');
    const { id: next } = await objects.reKey(call, { id: without, attributes: [deactivation(now() + 500)] });
    expect(await attribute(next, 'Deactivation Date')).toEqual([now() + 500]);
  });
});

describe('attributes', () => {
  test('of clients are kept with their types and indexes, and those of the appliance cannot be set', async () => {
    const { objects } = harness;
    const id = await make(named('one'), named('two'), { name: 'x-count', value: { type: 'long', value: '9007199254740993' } });
    expect(await attribute(id, 'x-count')).toEqual(['9007199254740993']);
    expect((await objects.attributes(call, id, ['Name'])).map(({ index }) => index)).toEqual([0, 1]);
    await objects.modifyAttribute(call, id, { ...named('three'), index: 1 });
    const [gone] = await objects.deleteAttribute(call, id, { name: 'Name', index: 0 });
    expect(gone).toMatchObject(named('one'));
    expect(await objects.addAttribute(call, id, named('four'))).toMatchObject({ index: 2 });
    expect(await codeOf(objects.addAttribute(call, id, named('four')))).toBe('kmip-attribute-exists');
    const state: Attribute = { name: 'State', value: { type: 'enumeration', value: 2 } };
    expect(await codeOf(objects.modifyAttribute(call, id, state))).toBe('kmip-attribute-read-only');
    expect(await codeOf(make(state))).toBe('kmip-attribute-read-only');
    expect(await codeOf(objects.deleteAttribute(call, id, { name: 'Cryptographic Usage Mask' }))).toBe('kmip-attribute-read-only');
    expect(await codeOf(objects.deleteAttribute(call, id, { name: 'x-none' }))).toBe('kmip-attribute-not-found');
    expect(await codeOf(make(text('Shoe Size', '46')))).toBe('kmip-attribute-invalid');
    expect(await codeOf(make(text('Activation Date', 'now')))).toBe('kmip-attribute-invalid');
    const many = Array.from({ length: 60 }, (_, number) => text(`x-${number}`, 'a'));
    expect(await codeOf(make(...many))).toBe('kmip-attribute-invalid');
    // Each change reads and writes them all.
    const long = (name: string): Attribute => ({
      name,
      value: {
        type: 'structure',
        fields: Array.from({ length: 8 }, () => ['Comment', { type: 'text', value: 'é'.repeat(2_100) }] as const),
      },
    });
    const heavy = await make(long('x-1'));
    expect(await codeOf(objects.addAttribute(call, heavy, long('x-2')))).toBe('kmip-attribute-invalid');
    expect(await codeOf(make(long('x-1'), long('x-2')))).toBe('kmip-attribute-invalid');
  });

  test('find objects: by equality, by bits of the mask, by ranges of dates, page by page', async () => {
    const { objects } = harness;
    const group = text('Object Group', 'array-1');
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c']) ids.push(await make(named(`found ${name}`), group));
    const find = async (...attributes: readonly Attribute[]) => (await objects.locate(call, { attributes })).ids;
    expect(await find(named('found b'))).toEqual([ids[1]]);
    expect(await find(group)).toEqual(ids.toReversed());
    expect(await find(group, named('found c'))).toEqual([ids[2]]);
    expect(await find(named('nobody'))).toEqual([]);
    expect(await find(group, { name: 'Cryptographic Usage Mask', value: { type: 'integer', value: 4 } })).toHaveLength(3);
    expect(await find(group, { name: 'Cryptographic Usage Mask', value: { type: 'integer', value: 1 } })).toEqual([]);
    expect(await find(group, date('Initial Date', now() - 10), date('Initial Date', now() + 10))).toHaveLength(3);
    expect(await find(group, date('Initial Date', now() + 5), date('Initial Date', now() + 10))).toEqual([]);
    expect(await objects.locate(call, { attributes: [group], maximumItems: 1, offsetItems: 1 })).toEqual({ ids: [ids[1]] });
    expect(await objects.locate(call, { attributes: [group], offsetItems: 1 })).toEqual({ ids: [ids[1], ids[0]], located: 3 });
    await objects.destroy(call, ids[2] ?? '');
    expect(await find(group)).toEqual([ids[1], ids[0]]);
    expect((await objects.locate(call, { attributes: [group], storageStatusMask: 5 })).ids).toHaveLength(3);
    expect((await objects.locate(call, { attributes: [group], storageStatusMask: 4 })).ids).toEqual([ids[2]]);
    expect((await objects.locate(call, { attributes: [group], storageStatusMask: 2 })).ids).toEqual([]);
    const info = (...fields: readonly ('ApplicationNamespace' | 'ApplicationData')[]): Attribute => ({
      name: 'Application Specific Information',
      value: { type: 'structure', fields: fields.map((tag) => [tag, { type: 'text', value: tag }]) },
    });
    const informed = await make(info('ApplicationNamespace', 'ApplicationData'));
    expect(await find(info('ApplicationData', 'ApplicationNamespace'))).toEqual([informed]);
    expect(await find(info('ApplicationData'))).toEqual([informed]);
    expect(await codeOf(make({ name: 'Name', value: { type: 'structure', fields: [] } }))).toBe('kmip-attribute-invalid');
    expect(await find({ name: 'Unique Identifier', value: { type: 'text', value: ids[0] ?? '' } })).toEqual([ids[0]]);
  });
});

test('ReKey makes another key under the names of the old one, and links the two', async () => {
  const { objects } = harness;
  const id = await make(named('disk'), text('Object Group', 'disks'), date('Activation Date', now() - 50));
  const old = (await objects.get(call, { id })).material.octets;
  const { id: made } = await objects.reKey(call, { id, offsetSeconds: 0, attributes: [] });
  expect((await objects.get(call, { id: made })).material.octets).not.toEqual(old);
  expect((await objects.locate(call, { attributes: [named('disk')] })).ids).toEqual([made]);
  const linkTo = (type: number, other: string) => [
    [
      ['LinkType', { type: 'enumeration', value: type }],
      ['LinkedObjectIdentifier', { type: 'text', value: other }],
    ],
  ];
  expect(await attribute(id, 'Link')).toEqual(linkTo(0x106, made));
  expect(await attribute(made, 'Link')).toEqual(linkTo(0x107, id));
  expect(await attribute(made, 'Activation Date')).toEqual([now()]);
  expect(await attribute(made, 'Object Group')).toEqual(['disks']);
});

test('of two ends at once one is first, and of two ReKeys one has the names', async () => {
  const { objects } = harness;
  const id = await make();
  const ends = await Promise.all([1, 2, 3].map(() => codeOf(objects.destroy(call, id))));
  expect([ends.filter((code) => code === undefined).length, ends.filter((code) => code === 'kmip-destroyed').length]).toEqual([1, 2]);
  const key = await make(named('twice'));
  const made = await Promise.all([1, 2].map(() => codeOf(objects.reKey(call, { id: key, attributes: [] }))));
  expect(made).toContain('conflict');
  expect(made).toContain(undefined);
  expect((await objects.locate(call, { attributes: [named('twice')] })).ids).toHaveLength(1);
  const nameless = await make();
  const again = await Promise.all([1, 2].map(() => codeOf(objects.reKey(call, { id: nameless, attributes: [] }))));
  expect(again.filter((code) => code === undefined)).toHaveLength(1);
  expect(await harness.appliance.check()).toEqual([]);
});

test('Create refuses algorithms and lengths that are not offered, and Check says which use is not allowed', async () => {
  const { objects } = harness;
  const odd = aes(100);
  expect(await codeOf(objects.create(call, { attributes: odd }))).toBe('kmip-algorithm-unsupported');
  expect(await codeOf(objects.create(call, { attributes: [] }))).toBe('kmip-attribute-invalid');
  const id = await make();
  expect(await objects.check(call, { id, usageMask: 4 })).toEqual({});
  expect(await objects.check(call, { id, usageMask: 1 })).toEqual({ usageMask: 12 });
  expect(await codeOf(objects.get(call, { id: '../../x' }))).toBe('not-found');
});

test('administrators see what is known of objects, end them, and never see material', async () => {
  const must = harness.must.bind(harness);
  const id = await make(named('seen'), date('Activation Date', 1));
  const seen = await must('GET', stateOf('storage', id));
  expect(seen).toMatchObject({ id, 'object-type': 'symmetric-key', state: 'active', names: ['seen'], client: 'array' });
  expect(Object.keys(seen as object)).not.toContain('left-time');
  await harness.objects.get(call, { id });
  await harness.objects.noteLeft(call, id);
  const left = await must('GET', stateOf('storage', id));
  expect(left).toMatchObject({ 'left-time': expect.any(String) as string });
  expect(await must('GET', `${stateOf('storage')}?limit=2`)).toHaveLength(2);
  expect((await harness.appliance.request('POST', `${stateOf('storage', id)}/destroy`, {})).body).toMatchObject({ code: 'kmip-state' });
  await must('POST', `${stateOf('storage', id)}/revoke`, { reason: 'cessation-of-operation', message: 'sold' });
  expect(await must('POST', `${stateOf('storage', id)}/destroy`, {})).toMatchObject({ state: 'destroyed' });
  await must('POST', `${stateOf('storage', id)}/remove`, {});
  expect((await harness.appliance.request('GET', stateOf('storage', id))).status).toBe(404);
  const material = { get: {}, attributes: {}, wrap: { octets: 'AAAA' } };
  for (const [operation, body] of Object.entries(material))
    expect((await harness.appliance.request('POST', `${stateOf('storage', await make())}/${operation}`, body)).body).toMatchObject({
      code: 'kmip-only',
    });
});
