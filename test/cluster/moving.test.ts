// npm test -- cluster: an appliance that stood alone with its embedded token becomes the first of three with a token in each, under load.
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer } from '../harness/client.ts';
import { type Daemon, startDaemon } from '../harness/daemon.ts';
import { ballastText, furnish } from '../harness/kills/prepared.ts';
import { issuerName } from '../harness/kills/things/certificates.ts';
import { primaryName } from '../harness/kills/things/keys.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { clusterState, isMember, OwnMembers } from './own-members.ts';

const path = temporaryDirectory();
const [config, state, cas] = ['/v1/config/keystore/transit-keys', '/v1/state/keystore/transit-keys', '/v1/state/keystore/tls/ca'];
const text = 'aGVsbG8=';

type Before = Awaited<ReturnType<typeof furnish>> & {
  readonly backup: string;
  readonly sealed: string;
  readonly signature: string;
  readonly serial: string;
};

let members: OwnMembers;
let before: Before;
const running: Daemon[] = [];

beforeAll(async () => {
  members = await OwnMembers.prepare(path, async () => []);
  const alone = await startDaemon({ directory: path('data-a'), workers: 2, firstStart: true });
  const furnished = await furnish(alone);
  const ask = async (method: string, place: string, body?: object) => (await alone.request(method, place, body)) as Record<string, string>;
  await ask('POST', config, { name: 'carried', 'allow-plaintext-backup': true });
  const { key: backup = '' } = await ask('POST', `${state}/carried/backup`, {});
  const { ciphertext: sealed = '' } = await ask('POST', `${state}/carried/encrypt`, { plaintext: text });
  const { signature = '' } = await ask('POST', `${state}/${primaryName}/openpgp-sign`, { text });
  const csr = `-----BEGIN CERTIFICATE REQUEST-----\n${furnished.csr}\n-----END CERTIFICATE REQUEST-----\n`;
  const { serial = '' } = await ask('POST', `${cas}/${issuerName}/sign-csr`, { csr, ttl: '30d' });
  await ask('POST', config, { name: 'object', custody: 'token', 'deletion-allowed': true });
  before = { ...furnished, backup, sealed, signature, serial };
  expect(await alone.stop()).toBe(0);
  running.push(await members.start('a'));
}, 240_000);

afterAll(async () => {
  for (const daemon of running.toReversed()) await daemon.stop().catch(() => undefined);
});

const first = (): Daemon => running[0] as Daemon;
const found = (body?: object): Promise<Answer> => first().exchange('POST', `${clusterState}/init`, body);
const refusal = (part: string) => ({
  status: 409,
  body: { code: 'operation-refused', errors: [{ 'error-message': expect.stringContaining(part) }] },
});

test('what is an object in the token alone is named with what mends it, one kind after the other, and nothing is begun', async () => {
  expect(await found()).toMatchObject(refusal('custody "wrapped"'));
  await first().request('DELETE', `${config}/object`);
  expect(await found()).toMatchObject(refusal(`system/${issuerName}`));
  // The appliance has renewed its own CA by itself.
  expect(((await found()).body as { detail: string }).detail).not.toContain('system/appliance');
  await first().request('POST', `${cas}/${issuerName}/renew`);
  expect(await found()).toMatchObject(refusal('former-keys-stay'));
  expect(await first().request('GET', clusterState)).toMatchObject({ shape: 'alone' });
});

/** A caller with all addresses: what nobody takes at the moment is asked again, and what somebody refuses is kept. */
async function load(over: AbortSignal): Promise<{ done: number; readonly refused: string[] }> {
  const tally = { done: 0, refused: new Array<string>() };
  for (let turn = 0; !over.aborted; turn++) {
    const [name, ciphertext] = before.ballast[turn % before.ballast.length] ?? [];
    const answer = await running[turn % running.length]
      ?.exchange('POST', `${state}/${name}/decrypt`, { ciphertext })
      .catch(() => undefined);
    const isRight = answer?.status === 200 && (answer.body as { plaintext: string }).plaintext === ballastText;
    if (isRight) tally.done++;
    // Nothing was done, and the caller is told to ask the next one, or to ask again.
    else if (answer !== undefined && answer.headers['retry-after'] === undefined) tally.refused.push(JSON.stringify(answer.body));
  }
  return tally;
}

test('it becomes one of three with a token in each, under load: no use is refused, and what it had opens on all', async () => {
  const over = new AbortController();
  const loading = load(over.signal);
  expect((await found({ 'former-keys-stay': true })).status).toBe(200);
  await expect
    .poll(
      async () =>
        isMember(
          await first()
            .exchange('GET', clusterState)
            .catch(() => undefined),
        ),
      { timeout: 60_000 },
    )
    .toBe(true);
  for (const name of ['b', 'c']) running.push(await members.join(name, first()));
  over.abort();
  const { done, refused } = await loading;
  expect(refused).toEqual([]);
  expect(done).toBeGreaterThan(100);
  for (const [index, daemon] of running.entries()) {
    for (const [name, ciphertext] of before.ballast.filter((_, at) => at % 10 === index))
      expect(await daemon.request('POST', `${state}/${name}/decrypt`, { ciphertext })).toMatchObject({ plaintext: ballastText });
    const verified = await daemon.request('POST', `${state}/${primaryName}/openpgp-verify`, { text, signature: before.signature });
    expect(verified).toMatchObject({ valid: true });
    await daemon.request('POST', `${state}/${primaryName}/openpgp-sign`, { text });
    await daemon.request('POST', config, { name: `restored-${index}` });
    await daemon.request('POST', `${state}/restored-${index}/restore`, { key: before.backup });
    expect(await daemon.request('POST', `${state}/restored-${index}/decrypt`, { ciphertext: before.sealed })).toMatchObject({
      plaintext: text,
    });
    await daemon.request('POST', `${cas}/${issuerName}/renew`);
  }
}, 240_000);

test('the revocation list of a former key is made where its object is, whichever appliance revokes', async () => {
  await running[1]?.request('POST', `${cas}/${issuerName}/revoke`, { serial: before.serial });
  const list = async (by: Daemon): Promise<string> => {
    const { octets, status } = await by.exchange('GET', `/v1/ca/${before.tenantId}/${issuerName}/crl/1`);
    if (status !== 200) return `${status}`;
    return execFileSync('openssl', ['crl', '-inform', 'DER', '-noout', '-text'], { input: octets }).toString();
  };
  for (const daemon of running.toReversed())
    await expect.poll(() => list(daemon), { timeout: 90_000, interval: 1_000 }).toContain(before.serial.toUpperCase());
}, 120_000);
