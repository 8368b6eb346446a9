// Pages inside the file of the store: a start names one that LMDB could not read, a crash over one ends the appliance with its name, and records that
// are not those that were written are a part of health until somebody has answered it.
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Environment } from '../../../core/store/environment.ts';
import { PageFile } from '../../../core/store/files/pages.ts';
import { startDaemon } from '../../harness/daemon.ts';
import { startAndEnd } from '../../harness/refused-start.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const keys = '/v1/config/keystore/transit-keys';
const pageBytes = 4_096;
const file = (data: string): string => join(data, 'store/data.mdb');

function overwritePage(data: string, number: number, octets: Uint8Array): void {
  const descriptor = openSync(file(data), 'r+');
  writeSync(descriptor, octets, 0, pageBytes, number * pageBytes);
  closeSync(descriptor);
}

function rootOf(data: string): number {
  const pages = new PageFile(file(data));
  const root = pages.meta()?.main.root ?? 0;
  pages.close();
  return root;
}

test('a page of other octets is named at the start, with what helps, whatever the octets are', { timeout: 120_000 }, async () => {
  const data = path('start');
  const first = await startDaemon({ directory: data });
  await first.request('POST', keys, { name: 'orders' });
  await first.stop();
  const whole = readFileSync(file(data));
  const root = rootOf(data);
  for (const octets of [randomBytes(pageBytes), new Uint8Array(pageBytes)]) {
    overwritePage(data, root, octets);
    const { status, last, stderr } = await startAndEnd(data);
    expect(last).toBe(
      `keystored: ${file(data)} is damaged: page ${root} was overwritten: it is no longer a page of its kind: put the store back from your backup, with the store key and the token of the same time (--restore, into an empty directory)`,
    );
    expect([status, /SIG[A-Z]+|\n\s+at /.test(stderr)]).toEqual([1, false]);
  }
  writeFileSync(file(data), whole);
  const again = await startDaemon({ directory: data });
  expect((await again.exchange('GET', `${keys}/orders`)).status).toBe(200);
  expect((await again.exchange('GET', '/v1/state/system/health', undefined, '')).body).toMatchObject({ status: 'ok' });
  expect(await again.stop()).toBe(0);
});

/** A page that LMDB reads as a leaf without records. */
function emptyLeaf(): Buffer {
  const page = Buffer.alloc(pageBytes);
  page.writeUInt16LE(0x02, 10);
  page.writeUInt16LE(16, 12);
  page.writeUInt16LE(pageBytes, 14);
  return page;
}

const overwritten = [
  ['other octets', (): Buffer => randomBytes(pageBytes)],
  ['empty leaves', emptyLeaf],
] as const;

test.each(overwritten)(
  '%s in the pages of a running appliance end it with their name, not in a row of workers',
  { timeout: 120_000 },
  async (kind, make) => {
    const data = path(kind.replace(' ', '-'));
    const daemon = await startDaemon({ directory: data });
    for (let page = 2; page < statSync(file(data)).size / pageBytes; page++) overwritePage(data, page, make());
    const asked = setInterval(() => void daemon.exchange('GET', keys).catch(() => undefined), 100);
    expect(await daemon.ended.finally(() => clearInterval(asked))).toBe(1);
    expect(daemon.output()).toMatch(/data\.mdb is damaged: .*page \d+.*: put the store back from your backup/);
  },
);

test('a record that is gone with an earlier page is a part of health until it is answered', { timeout: 180_000 }, async () => {
  const data = path('earlier');
  let daemon = await startDaemon({ directory: data });
  await daemon.request('POST', keys, { name: 'orders' });
  await daemon.stop();
  // As an earlier page would do: the record is not there, and nothing else has changed.
  const raw = new Environment(join(data, 'store'), () => undefined);
  const ofOrders = raw.keys({ low: Buffer.of(3), high: Buffer.of(0xff) }, 10_000, false).filter((key) => key.includes('\0orders\0'));
  await raw.commit(() => ofOrders.forEach((key) => raw.remove(key)));
  await raw.close();

  const health = async (): Promise<unknown> => (await daemon.exchange('GET', '/v1/state/system/health', undefined, '')).body;
  daemon = await startDaemon({ directory: data });
  expect((await daemon.exchange('GET', `${keys}/orders`)).status).toBe(404);
  const reason = expect.stringMatching(/^the store does not hold what was written to it last: among its \d+ records some are earlier/);
  expect(await health()).toMatchObject({ status: 'degraded', 'store-content': { state: 'unanswered', reason } });
  await daemon.stop();
  daemon = await startDaemon({ directory: data });
  expect(await health()).toMatchObject({ status: 'degraded', 'store-content': { reason } });
  await daemon.request('POST', '/v1/state/system/findings/store-content/answer', {});
  await expect.poll(health, { timeout: 30_000 }).toMatchObject({ status: 'ok' });
  await daemon.stop();
  daemon = await startDaemon({ directory: data });
  await expect.poll(health, { timeout: 30_000 }).toMatchObject({ status: 'ok' });
  expect(await daemon.stop()).toBe(0);
});
