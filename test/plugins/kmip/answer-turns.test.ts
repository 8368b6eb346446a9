// Messages of one client that are answered at a time, and the memory of their answers, whatever its connections do.
import { X509Certificate } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { ClientCertificate } from '../../../core/tls/client-certificate.ts';
import { AnswerTurns } from '../../../plugins/kmip/listener/answer-turns.ts';
import type { Said } from '../../../plugins/kmip/listener/connection.ts';
import { answer } from '../../../plugins/kmip/operations/answer.ts';
import { enumeration } from '../../../plugins/kmip/ttlv/item.ts';
import { readItem } from '../../../plugins/kmip/ttlv/read.ts';
import { writeItem } from '../../../plugins/kmip/ttlv/write.ts';
import { answersIn, keyAttributes, KmipClient } from '../../harness/kmip/client.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { makeIdentity } from '../ca/pki.ts';
import { startKmipHarness } from './harness.ts';

const at = temporaryDirectory();
const said: Said = { octets: Buffer.from('a'), closes: false };
const here = new AbortController().signal;
let [one, other]: readonly ClientCertificate[] = [];
beforeAll(async () => {
  [one, other] = await Promise.all(
    ['one', 'other'].map(async (name) => {
      const { certificate } = await makeIdentity({ subject: `CN=${name}` });
      return new ClientCertificate(new X509Certificate(certificate));
    }),
  );
});
const certificates = (): readonly [ClientCertificate, ClientCertificate] => {
  if (one === undefined || other === undefined) throw new Error('no certificates');
  return [one, other];
};

test('sixteen messages of a certificate are answered at a time, and none of a peer that has gone while it waited', async () => {
  const [mine, theirs] = certificates();
  const turns = new AnswerTurns();
  const gone = new AbortController();
  const open = Promise.withResolvers<Said>();
  let begun = 0;
  const begin = (signal: AbortSignal) => turns.run(mine, signal, () => ((begun += 1), open.promise));
  const all = [...Array.from({ length: 17 }, () => begin(here)), begin(gone.signal)];
  expect(await turns.run(theirs, here, async () => said)).toMatchObject(said);
  expect(begun).toBe(16);
  gone.abort();
  open.resolve(said);
  await Promise.all(all);
  expect(begun).toBe(17);
});

test('a batch ends with its peer', async () => {
  const harness = await startKmipHarness(at());
  try {
    const { certificate } = await harness.client('leaver', 'storage');
    const { objects, kmip } = harness.parts;
    const { log } = kmip;
    const gone = new AbortController();
    // The peer goes while the first of its operations is done.
    const leaving = { ...objects, create: async (...asked: Parameters<typeof objects.create>) => (gone.abort(), objects.create(...asked)) };
    const create = ['Create', enumeration('ObjectType', 'SymmetricKey'), keyAttributes()] as const;
    const message = KmipClient.prototype.message.call({ version: '1.4' } as KmipClient, [create, create, create]);
    const sender = { certificate, clientIp: '127.0.0.1', signal: gone.signal };
    const now = () => harness.clock.now();
    expect(answersIn(readItem((await answer({ objects: leaving, log, now }, writeItem(message), sender)).octets))).toHaveLength(1);
  } finally {
    await harness.close();
  }
});

test('long answers have room until they are read, and a tenant leaves some for the others', async () => {
  const [certificate] = certificates();
  const turns = new AnswerTurns();
  const long = 12 << 20;
  const take = async (tenantId: string, name: string, octets = long) => {
    const client = { tenantId, name, tenantName: tenantId, entryId: name, space: 's' };
    let isTaken = false;
    const taken = await turns.run(certificate, here, async (takeRoom) => {
      isTaken = takeRoom(1 << 20, client) && takeRoom(octets, client);
      return said;
    });
    return { isTaken, release: () => taken.release?.() };
  };
  const first = await take('a', 'one');
  expect(first.isTaken).toBe(true);
  // A client has its share, a tenant with any number of clients the half, and what is not long is free.
  expect([(await take('a', 'one', 40 << 20)).isTaken, (await take('a', 'one', 1_000)).isTaken]).toEqual([false, true]);
  const others = [];
  for (const name of ['two', 'three', 'four', 'five']) others.push(await take('a', name));
  expect(others.some(({ isTaken }) => !isTaken)).toBe(true);
  expect((await take('b', 'one', 8 << 20)).isTaken).toBe(true);
  for (const one of [first, ...others]) one.release();
  expect((await take('a', 'one')).isTaken).toBe(true);
});
