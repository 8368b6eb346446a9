// A burst of devices at the real daemon, on both ports at the same time, from processes of their own.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { basic, pkcs10 } from '../plugins/est/client.ts';
import { makeDeviceCsr, makeKeys } from '../plugins/ca/pki.ts';
import type { BurstOrders } from './burst-clients.ts';
import type { Daemon } from './daemon.ts';

const secret = 'of a burst of devices';

/**
 * Sends this many first enrolments and as many management requests at once. Every one of them has to be answered, in words: a machine
 * that is too slow for all of them may tell devices to come again later, but no connection may break.
 */
export async function expectBurstAnswered(daemon: Daemon, count: number): Promise<void> {
  const est = { enabled: true, 'initial-enroll-secret': secret, 'allowed-domains': ['example.test'], 'allow-subdomains': true };
  await daemon.request('POST', '/v1/config/keystore/tls/ca', { name: 'burst', est });
  const { uuid } = (await daemon.request('GET', '/v1/state/tenants/system')) as { readonly uuid: string };
  const { method = '', headers, body } = pkcs10(await makeDeviceCsr(await makeKeys('P-256'), 'device.example.test'));
  const [enrolments, requests] = await Promise.all([
    burst({
      url: `${daemon.estUrl}/.well-known/est/${uuid}/burst/simpleenroll`,
      ...{ count, caPem: daemon.caPem, method, body: String(body) },
      headers: { ...(headers as Record<string, string>), Authorization: basic(secret) },
    }),
    burst({
      url: `${daemon.url}/v1/state/tenants/system`,
      ...{ count, caPem: daemon.caPem, method: 'GET' },
      headers: { Authorization: `Bearer ${daemon.rootToken}` },
    }),
  ]);
  expect(requests).toEqual({ 200: count });
  const { 200: issued = 0, 503: later = 0, ...others } = enrolments;
  expect(others).toEqual({});
  expect(issued).toBeGreaterThan(0);
  expect(issued + later).toBe(count);
}

async function burst(orders: BurstOrders): Promise<Readonly<Record<string, number>>> {
  const script = join(import.meta.dirname, 'burst-clients.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify(orders)]);
  return JSON.parse(stdout) as Readonly<Record<string, number>>;
}
