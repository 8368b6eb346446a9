// Shared by the tests of destinations over HTTPS: receivers, chains, destinations with a token, and what is expected of them.
import { writeFileSync } from 'node:fs';
import { beforeAll, expect, onTestFinished } from 'vitest';
import type { Destination } from '../../../../core/config/shipping.ts';
import type { JsonObject } from '../../../../core/wire/json.ts';
import { type Counts, readCursor } from '../../../../appliance/shipping/cursor.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { openTrail, record } from '../../../core/audit/trail.ts';
import { httpsTo, type Running } from '../destinations.ts';
import { makePki, type Pki } from '../pki.ts';
import { faultsOf } from '../syslog-receiver.ts';
import { type HttpsProtocol, type HttpsReceiver, type HttpsReceiverOptions, protocols, startHttpsReceiver, storedOf } from './receiver.ts';

export const patience = { timeout: 30_000, interval: 10 };
export const everyProtocol = Object.keys(protocols) as HttpsProtocol[];

/** The token of destinations, in a file that a test may change. */
export const token = 'secret-token-5f37';
const schemes: Readonly<Partial<Record<HttpsProtocol, string>>> = { splunk: 'Splunk', elastic: 'ApiKey' };
export const authorizationFor = (protocol: HttpsProtocol): string => `${schemes[protocol] ?? 'Bearer'} ${token}`;

export type HttpsHarness = {
  readonly at: (...parts: readonly string[]) => string;
  readonly pki: () => Pki;
  /** closed when the test ends */
  readonly receive: (protocol: HttpsProtocol, options?: Partial<HttpsReceiverOptions>) => Promise<HttpsReceiver>;
  /** Makes a chain of `count` records, the first of which the trail writes itself. */
  readonly write: (name: string, chain: string, count: number) => Promise<void>;
  readonly to: (receiver: HttpsReceiver, protocol: HttpsProtocol, fields?: JsonObject) => Destination;
  readonly confirmed: (name: string, chain?: string) => number;
  readonly counts: (name: string) => Counts | undefined;
};

/** One for each test file. */
export function httpsHarness(): HttpsHarness {
  const at = temporaryDirectory();
  let pki: Pki;
  beforeAll(() => {
    pki = makePki(at('.'));
  });
  return {
    at,
    pki: () => pki,
    async receive(protocol, options = {}) {
      const receiver = await startHttpsReceiver(pki, { protocol, ...options });
      onTestFinished(() => receiver.close());
      return receiver;
    },
    async write(name, chain, count) {
      const trail = await openTrail(at(name, 'audit'), { chain });
      onTestFinished(() => trail.close());
      await Promise.all(Array.from({ length: count - 1 }, (_, n) => trail.write(record(n))));
    },
    to(receiver, protocol, fields = {}) {
      writeFileSync(at('token'), `${token}\n`);
      return httpsTo(receiver, protocol, pki, { token: { file: at('token') }, ...fields });
    },
    confirmed: (name, chain = 'worker-1') => readCursor(at(name), 'siem')?.audit[chain]?.sequence ?? 0,
    counts: (name) => readCursor(at(name), 'siem')?.counts,
  };
}

export const errorOf = ({ pipeline }: Running): string => pipeline.state.lastError?.message ?? '';
export const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

/** Everything from 1 on is there, and nothing came before its predecessor. */
export function expectWhole(receiver: HttpsReceiver, last: number, chain = 'worker-1'): void {
  expect(faultsOf(storedOf(receiver, chain), last)).toEqual({ missing: [], early: [] });
  expect(receiver.faults).toEqual([]);
}
