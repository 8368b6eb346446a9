// Tests of connections at the listener of KMIP: many, idle ones, one for each request, and mutated messages.
import { beforeAll, expect, test } from 'vitest';
import { integer } from '../../../plugins/kmip/ttlv/item.ts';
import { writeItem } from '../../../plugins/kmip/ttlv/write.ts';
import { Dice } from '../../fuzz/cases.ts';
import { drawInput } from '../../fuzz/parsers/mutations.ts';
import { kmipParsers } from '../../fuzz/parsers/kmip.ts';
import { type KmipAppliance, type KmipIdentity, startKmipAppliance } from './kmip-appliance.ts';

let appliance: KmipAppliance;
let identity: KmipIdentity;
beforeAll(async () => {
  appliance = await startKmipAppliance();
  await appliance.makeSpace('many');
  identity = await appliance.makeClient('many', 'many');
});

const one = integer('MaximumItems', 1);

test('a connection for each request is served, as PostgreSQL makes them', async () => {
  for (let count = 0; count < 25; count++) {
    const client = await appliance.connect(identity);
    expect((await client.ask([['Locate', one]])).map(({ status }) => status)).toEqual(['Success']);
    client.close();
  }
});

test('idle connections stay, are counted, and each is served when it asks', async () => {
  const idle = await Promise.all(Array.from({ length: 100 }, () => appliance.connect(identity)));
  await expect.poll(() => appliance.open.get('kmip')?.connections.counts.idle).toBeGreaterThanOrEqual(100);
  await Promise.all(idle.map((client) => client.done('Locate', one)));
  for (const client of idle) client.close();
  await expect.poll(() => appliance.open.get('kmip')?.connections.counts.idle).toBe(0);
});

test('a message that has come in part holds nobody else up', async () => {
  const slow = await appliance.connect(identity);
  const message = writeItem(slow.message([['Locate', one]]));
  slow.socket.write(message.subarray(0, 20));
  const other = await appliance.connect(identity);
  await other.done('Locate', one);
  slow.socket.write(message.subarray(20));
  expect((await slow.receive()).length).toBeGreaterThan(8);
});

test('mutated messages are answered or end their connection, and the appliance goes on', async () => {
  const parser = kmipParsers().find(({ name }) => name === 'KMIP message');
  if (parser === undefined) throw new Error('there is no parser of KMIP');
  let client = await appliance.connect(identity);
  const outcomes = { answered: 0, ended: 0 };
  for (let number = 0; number < 400; number++) {
    const input = drawInput(new Dice(7 ^ Math.imul(number, 0x9e37_79b1)), parser);
    // A length that lies would let both wait: the one of the message itself is right.
    if (input.length < 8) continue;
    input.writeUInt32BE(input.length - 8, 4);
    const outcome = await client.exchangeOctets(input).then(
      () => 'answered' as const,
      () => 'ended' as const,
    );
    outcomes[outcome]++;
    if (!client.socket.destroyed && !client.socket.readableEnded) continue;
    client.close();
    client = await appliance.connect(identity);
  }
  expect(outcomes.answered).toBeGreaterThan(100);
  const after = await appliance.connect(identity);
  await after.done('Locate', one);
});
