// What is sent again by the TypeScript client over both transports, by the Python client and by keystorectl: the table of repetition.ts.
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { Client as CtlClient, Refused } from '../../../appliance/cli/client.ts';
import { clientsDirectory } from '../../../appliance/clients/provide.ts';
import {
  Client,
  ConnectionError,
  fetchTransport,
  NotSentError,
  Problem,
  type Transport,
} from '../../../dist/clients/typescript/src/index.ts';
import { nodeTransport } from '../../../dist/clients/typescript/src/transport/node.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';
import { json, startFakeServer } from './fake-server.ts';
import { cases, nameOf, openPlaces, type Operation } from './repetition.ts';

const path = temporaryDirectory();
let own: { readonly key: string; readonly cert: string };
let foreign: typeof own;
beforeAll(() => {
  mkdirSync(path('other'), { recursive: true });
  own = selfSignedIdentity(path('other'));
  mkdirSync(path('foreign'), { recursive: true });
  foreign = selfSignedIdentity(path('foreign'));
});

type Outcome = 'done' | 'refused' | 'lost';
type Run = (addresses: readonly string[], operations: readonly Operation[]) => Promise<Outcome>;

const pathOf = { list: '/v1/state/keystore/transit-keys', rotate: '/v1/state/keystore/transit-keys/k/rotate' } as const;

const typescript =
  (transport: () => Transport): Run =>
  async (addresses, operations) => {
    const client = new Client({ address: [...addresses], transport: transport(), retries: 0 });
    try {
      for (const operation of operations) await (operation === 'list' ? client.transitKeys.list() : client.transitKeys.rotate('k'));
      return 'done';
    } catch (error) {
      return error instanceof Problem ? 'refused' : 'lost';
    }
  };

const keystorectl: Run = async (addresses, operations) => {
  const client = new CtlClient({ url: addresses.join(','), token: undefined, ca: own.cert } as never);
  try {
    for (const operation of operations)
      await client.exchange({ method: operation === 'list' ? 'GET' : 'POST', path: pathOf[operation], isIdempotent: operation === 'list' });
    return 'done';
  } catch (error) {
    return error instanceof Refused ? 'refused' : 'lost';
  } finally {
    client.close();
  }
};

const script = `
import sys
from keystored_client import Client, Problem
client = Client(sys.argv[1].split(","), retries=0)
try:
    for operation in sys.argv[2:]:
        list(client.transit_keys.list()) if operation == "list" else client.transit_keys.rotate("k")
    print("done")
except Problem:
    print("refused")
except Exception:
    print("lost")
`;

const python: Run = async (addresses, operations) => {
  const child = spawn('python3', ['-B', '-c', script, addresses.join(','), ...operations], {
    env: { ...process.env, PYTHONPATH: join(clientsDirectory, 'python/src') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return (await text(child.stdout)).trim() as Outcome;
};

const clients: Readonly<Record<string, Run>> = {
  'TypeScript by fetch': typescript(() => fetchTransport),
  'TypeScript by node:https': typescript(() => nodeTransport({ ca: own.cert, connectTimeoutMs: 5_000 })),
  Python: python,
  keystorectl,
};

describe.each(Object.entries(clients))('%s', (_, run) => {
  test.each(cases.map((one) => [nameOf(one), one] as const))('%s', async (__, { operation, places, outcome, asked, warm }) => {
    const opened = await openPlaces(places, foreign, run === keystorectl ? own : undefined);
    try {
      const operations = [...(warm === true ? ['list' as const] : []), operation];
      expect([await run(opened.addresses, operations), opened.asked()]).toEqual([outcome, asked]);
    } finally {
      opened.close();
    }
  });
});

test.each(['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'])(
  '%s of a request that was delivered repeats nothing; of a connection it repeats',
  async (code) => {
    const server = await startFakeServer(() => json([]));
    const failing = (syscall: string, isDelivered: boolean, wrap: (error: Error) => Error): Transport => ({
      async send(request) {
        if (isDelivered) await fetchTransport.send(request);
        throw wrap(Object.assign(new Error(`${syscall} ${code}`), { code, syscall }));
      },
    });
    const plain = (error: Error): Error => error;
    const asFetch = (error: Error): Error => new TypeError('fetch failed', { cause: error });
    try {
      for (const wrap of [plain, asFetch]) {
        const before = server.asked.length;
        const client = new Client({ address: server.url, transport: failing('read', true, wrap), retries: 2 });
        const error: unknown = await client.transitKeys.rotate('k').catch((caught: unknown) => caught);
        expect(error).toMatchObject({ mayHaveRun: true });
        expect(server.asked.length - before).toBe(1);
        const away = new Client({ address: server.url, transport: failing('connect', false, wrap), retries: 0 });
        expect(await away.transitKeys.rotate('k').catch((caught: unknown) => caught)).toMatchObject({ mayHaveRun: false });
      }
      // Of two numbers of one name, one took the request.
      const both = new AggregateError([
        Object.assign(new Error(code), { code, syscall: 'connect' }),
        Object.assign(new Error(code), { code, syscall: 'read' }),
      ]);
      const transport: Transport = { send: () => Promise.reject(both) };
      const error: unknown = await new Client({ address: server.url, transport, retries: 0 }).transitKeys
        .rotate('k')
        .catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(ConnectionError);
      expect(error).toMatchObject({ mayHaveRun: true });
    } finally {
      server.close();
    }
  },
);

test('an alert of the server after the handshake is not taken for a certificate that is not trusted', async () => {
  const alert = Object.assign(new Error('alert'), { code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' });
  const lost = new Client({ address: 'http://127.0.0.1:9', transport: { send: () => Promise.reject(alert) }, retries: 0 });
  expect(await lost.transitKeys.rotate('k').catch((caught: unknown) => caught)).toMatchObject({ mayHaveRun: true });
  const unsent = new Client({
    address: 'http://127.0.0.1:9',
    transport: { send: () => Promise.reject(new NotSentError(alert)) },
    retries: 0,
  });
  expect(await unsent.transitKeys.rotate('k').catch((caught: unknown) => caught)).toMatchObject({ mayHaveRun: false });
});
