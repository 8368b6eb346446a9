// Destinations for tests, made by the schema of the configuration; pipelines that run until the test has ended.
import { z } from 'zod';
import { mkdirSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { type Destination, shippingFields } from '../../../core/config/shipping.ts';
import { systemClock } from '../../../core/base/time.ts';
import { parseInput } from '../../../core/wire/schema.ts';
import type { JsonObject } from '../../../core/wire/json.ts';
import { prepareCursors } from '../../../appliance/shipping/cursor.ts';
import { type Pace, Pipeline } from '../../../appliance/shipping/pipeline.ts';
import { memoryLog } from '../../harness/appliance.ts';
import type { Pki } from './pki.ts';

/** Fields as in the configuration file. */
export function destinationOf(fields: JsonObject): Destination {
  const { destinations } = parseInput(z.strictObject(shippingFields), { destinations: [{ name: 'siem', ...fields }] });
  return destinations[0] as Destination;
}

export function syslogTo(port: number, pki: Pki, fields: JsonObject = {}): Destination {
  return destinationOf({
    ...{ protocol: 'syslog', address: `127.0.0.1:${port}`, 'server-name': 'siem.example', 'ca-file': pki.ca },
    ...{ 'certificate-file': pki.client, 'key-file': pki.clientKey, 'confirm-every': '1s', ...fields },
  });
}

/** To a receiver over HTTPS, with a token where its protocol has one. */
export function httpsTo({ port }: { readonly port: number }, protocol: string, pki: Pki, fields: JsonObject = {}): Destination {
  const url = `https://127.0.0.1:${port}`;
  const more = { splunk: { 'confirm-every': '1s' }, elastic: { index: 'logs-keystored-default' } }[protocol] ?? {};
  return destinationOf({ ...{ protocol, url, 'server-name': 'siem.example', 'ca-file': pki.ca }, ...more, ...fields });
}

export type Running = {
  readonly pipeline: Pipeline;
  readonly logged: { level: string; message: string; fields: unknown }[];
  readonly stop: () => Promise<void>;
};

const pace: Partial<Pace> = {
  patienceMs: 2_000,
  quietMs: 100,
  acknowledgeMs: 2_000,
  firstRetryMs: 20,
  longestRetryMs: 100,
  pollMs: 10,
  keepMs: 10,
};

export function ship(data: string, destination: Destination, faster: Partial<Pace> = {}): Running {
  mkdirSync(data, { recursive: true });
  prepareCursors(data);
  const logged: Running['logged'] = [];
  const parts = { data, destination, host: 'ks.example', clock: systemClock, log: memoryLog(logged) };
  const pipeline = new Pipeline({ ...parts, pace: { ...pace, ...faster } });
  const ended = pipeline.run();
  const one: Running = {
    ...{ pipeline, logged },
    stop() {
      pipeline.stop();
      return ended;
    },
  };
  onTestFinished(one.stop);
  return one;
}
