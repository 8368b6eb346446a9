// Operations of one client of KMIP over TLS, in a space with a thousand objects and in one with a hundred thousand, as a hypervisor fills it in years.
import { hash, randomUUID, X509Certificate } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Parts } from '../../../appliance/docs/performance/figures.ts';
import { enumeration } from '../../../plugins/kmip/ttlv/item.ts';
import { type Daemon, freePort, startDaemon } from '../../harness/daemon.ts';
import { type Asked, connectKmip, keyAttributes, type KmipClient, nameAttribute, uid } from '../../harness/kmip/client.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';
import { allWorkers, type Part } from '../measure/bench.ts';
import { formatTable } from '../measure/rounds.ts';

type Row = Parts['kmip']['rows'][number];

const sizes = [1_000, 100_000] as const;
/** Connections that fill a space, and operations of their messages. */
const [fillers, batch] = [16, 100];
/** Most uncounted and counted requests of a row. */
const [warm, counted] = [20, 300];

const create = (name: string): Asked => ['Create', enumeration('ObjectType', 'SymmetricKey'), keyAttributes(name)];

export const kmip: Part<'kmip'> = {
  measures: 'operations of KMIP in a space of 1,000 objects and in one of 100,000',
  onRequest: true,
  seconds: () => 240,
  async run({ directory }) {
    const port = await freePort();
    const file = join(directory, 'keystored.yaml');
    writeFileSync(file, `kmip:\n  listen: 127.0.0.1:${port}\n`);
    const daemon = await startDaemon({ directory: join(directory, 'data'), workers: allWorkers, args: ['--config', file] });
    const rows: Row[] = [];
    try {
      for (const objects of sizes) {
        const connect = await clientOf(daemon, port, directory, `space-${objects}`);
        const named = await fill(connect, objects);
        const client = await connect();
        const pick = (): readonly [name: string, id: string] => named[Math.floor(Math.random() * named.length)] ?? ['', ''];
        const works: readonly (readonly [Row['operation'], () => Promise<unknown>])[] = [
          ['create', () => client.done(...create(`new ${randomUUID()}`))],
          ['locate by name', async () => requireOne(await client.done('Locate', nameAttribute(pick()[0])))],
          ['get', () => client.done('Get', uid(pick()[1]))],
          [
            'locate by name, a new connection each',
            async () => {
              const fresh = await connect();
              requireOne(await fresh.done('Locate', nameAttribute(pick()[0])));
              fresh.close();
            },
          ],
        ];
        for (const [operation, work] of works) rows.push({ operation, objects, ...(await timesOf(work)) });
        client.close();
      }
    } finally {
      await daemon.stop();
    }
    return { rows };
  },
  format: ({ rows }) =>
    formatTable(
      ['operation', 'objects', 'a second', 'p50 ms', 'p99 ms'],
      rows.map(({ operation, objects, perSecond, p50Ms, p99Ms }) => [
        operation,
        objects,
        ...[perSecond, p50Ms, p99Ms].map((one) => one.toFixed(1)),
      ]),
    ),
};

type Connect = () => Promise<KmipClient>;

/** A client entry with a space of its own. */
async function clientOf(daemon: Daemon, port: number, directory: string, name: string): Promise<Connect> {
  mkdirSync(join(directory, name));
  const identity = selfSignedIdentity(join(directory, name));
  const fingerprints = [hash('sha256', new X509Certificate(identity.cert).raw, 'hex')];
  await daemon.request('POST', '/v1/config/keystore/kmip-spaces', { name });
  await daemon.request('POST', '/v1/config/keystore/kmip-clients', { name, space: name, fingerprints, 'token-policies': ['root'] });
  return () => connectKmip({ port, ca: daemon.caPem, ...identity });
}

/** Makes so many objects; returns their names and ids. */
async function fill(connect: Connect, objects: number): Promise<readonly (readonly [name: string, id: string])[]> {
  const made: (readonly [string, string])[] = [];
  const begins = Array.from({ length: Math.ceil(objects / batch) }, (_, index) => index * batch).values();
  const work = async (): Promise<void> => {
    const client = await connect();
    // The filling connections share one list of what is to be made.
    for (const begin of begins) {
      const names = Array.from({ length: Math.min(batch, objects - begin) }, (_, index) => `vm-${begin + index}`);
      const answers = await client.ask(names.map(create));
      for (const [index, { payload }] of answers.entries()) made.push([names[index] ?? '', payload.required('UniqueIdentifier', 'text')]);
    }
    client.close();
  };
  await Promise.all(Array.from({ length: fillers }, work));
  return made;
}

function requireOne(found: Awaited<ReturnType<KmipClient['done']>>): void {
  if (found.all('UniqueIdentifier').length !== 1) throw new Error('a name is not that of one object');
}

async function timesOf(work: () => Promise<unknown>): Promise<Pick<Row, 'perSecond' | 'p50Ms' | 'p99Ms'>> {
  const times: number[] = [];
  for (let at = 0; at < warm + counted; at += 1) {
    const begun = performance.now();
    await work();
    if (at >= warm) times.push(performance.now() - begun);
  }
  const sorted = times.toSorted((left, right) => left - right);
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  return { perSecond: (1_000 * times.length) / times.reduce((sum, one) => sum + one, 0), p50Ms: at(0.5), p99Ms: at(0.99) };
}
