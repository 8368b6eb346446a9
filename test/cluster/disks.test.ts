// npm test -- cluster: what is on the disks of appliances that run etcd themselves, and one whose disk is full.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { memberFiles } from '../../appliance/cluster/membership/files.ts';
import type { Answer } from '../harness/client.ts';
import type { Daemon } from '../harness/daemon.ts';
import { mayMount, mountSmallDisk } from '../harness/small-disk.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import type { TokenConfig } from '../../hsm/api.ts';
import { OwnMembers, seenBy } from './own-members.ts';

const path = temporaryDirectory();
const [keys, policies] = ['/v1/config/keystore/transit-keys', '/v1/config/policy/policies'];
const encrypt = '/v1/state/keystore/transit-keys/used/encrypt';
/** Etcd makes each file of its log with 64 MiB, and has what it is sent to catch up beside what it had. */
const diskKibibytes = 384 << 10;
/** While the third one is out. */
const changesAfter = 20;
const filler = path('data-c', 'filler');

let members: OwnMembers;
let unmount: (() => void) | undefined;
const running: Daemon[] = [];

beforeAll(async () => {
  members = await OwnMembers.prepare(path);
  if (mayMount) unmount = mountSmallDisk(path('data-c'), diskKibibytes);
  const first = await members.start('a');
  running.push(first);
  await members.found(first);
  for (const name of ['b', 'c']) running.push(await members.join(name, first));
  await first.request('POST', keys, { name: 'used' });
});

afterAll(async () => {
  for (const daemon of running.toReversed()) await daemon.stop().catch(() => undefined);
  unmount?.();
});

test('of what a record says, of credentials and of keys nothing is in clear in the files of etcd: only the names of records are', async () => {
  const [first] = running as [Daemon];
  const [name, rule] = ['seen-in-the-files', '/v1/state/keystore/seen-by-nobody/**'];
  await first.request('POST', policies, policyOf(name, [rule]));
  const { token } = (await first.request('POST', '/v1/state/keystore/token/create', { policies: ['user'] })) as { token: string };
  const [{ pin }] = (await members.tokensOf('a')) as [TokenConfig];
  const secrets = [rule, token, first.rootToken, readFileSync((pin as { readonly file: string }).file, 'utf8').trim()];
  for (const appliance of ['a', 'b', 'c']) {
    const { etcd } = memberFiles(path(`data-${appliance}`));
    const texts = (): readonly Buffer[] =>
      readdirSync(etcd, { withFileTypes: true, recursive: true }).flatMap((one) =>
        one.isFile() ? [readFileSync(join(one.parentPath, one.name))] : [],
      );
    const has = (text: string): boolean => {
      const forms = [
        Buffer.from(text),
        ...(['hex', 'base64', 'base64url'] as const).map((form) => Buffer.from(Buffer.from(text).toString(form))),
      ];
      return texts().some((octets) => forms.some((form) => octets.includes(form)));
    };
    // What is in clear there is found.
    await vi.waitUntil(() => has(name), { timeout: 30_000, interval: 200 });
    expect(secrets.map(has)).toEqual(secrets.map(() => false));
  }
});

test.skipIf(!mayMount)(
  'one whose disk is full costs the others nothing, and comes back by itself with everything when there is room',
  async () => {
    const [a, b, c] = running as [Daemon, Daemon, Daemon];
    fillDisk();
    const made: string[] = [];
    const rules = Array.from({ length: 100 }, (_, n) => `/v1/state/${n}/${'x'.repeat(500)}`);
    const refused: string[] = [];
    const useOfFull = (): Promise<Answer> => c.exchange('POST', encrypt, { plaintext: 'aGVsbG8=' });
    let ofFull = await useOfFull();
    for (let n = 0, after = 0; after < changesAfter; n++) {
      const name = `while-full-${n}`;
      const { status } = await (n % 2 === 0 ? a : b).exchange('POST', policies, policyOf(name, rules));
      if (status === 201) made.push(name);
      else refused.push(`${name}: ${status}`);
      if (ofFull.status === 200) ofFull = await useOfFull();
      else after++;
    }
    expect(refused).toEqual([]);
    expect(ofFull.status).toBe(503);
    console.log(JSON.stringify({ answered: ofFull.body, health: (await c.exchange('GET', '/v1/state/system/health')).body }));
    rmSync(filler);
    await vi.waitUntil(async () => (await c.exchange('POST', encrypt, { plaintext: 'aGVsbG8=' }).catch(() => undefined))?.status === 200, {
      timeout: 120_000,
      interval: 200,
    });
    expect((await c.exchange('GET', `${policies}/${made.at(-1)}`)).status).toBe(200);
    await expect.poll(async () => (await seenBy(c)).etcd.filter(({ problem }) => problem !== undefined), { timeout: 60_000 }).toEqual([]);
  },
);

function policyOf(name: string, paths: readonly string[]): object {
  return { name, 'rest-api': { rules: paths.map((path) => ({ path, operations: { read: 'allow' } })) } };
}

/** To the last octet. */
function fillDisk(): void {
  const piece = Buffer.alloc(1 << 16);
  for (let length = piece.length; length > 0; length >>= 1) {
    try {
      for (;;) writeFileSync(filler, piece.subarray(0, length), { flag: 'a' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
}
