// npm test -- cluster: a cluster whose appliances have tokens of two vendors, SoftHSM2 and NSS softoken. Each test goes on with what the one before
// has left.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Daemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { makeNssToken, obtainNss } from '../harness/token/nss.ts';
import { makeEmptySoftToken } from '../harness/token/softhsm.ts';
import { clusterState, OwnMembers } from './own-members.ts';

const nss = await obtainNss();
if ('missing' in nss) console.error(`SKIPPED: a cluster of SoftHSM2 and NSS softoken: ${nss.missing}`);
const path = temporaryDirectory();
const [config, state] = ['/v1/config/keystore/transit-keys', '/v1/state/keystore/transit-keys'];
const text = 'aGVsbG8=';

/** What is done with a key, and what proves on another appliance that it is the same one. */
const uses = {
  'aes256-gcm96': ['encrypt', 'decrypt'],
  'ecdsa-p256': ['sign', 'verify'],
  'rsa-2048': ['sign', 'verify'],
  ed25519: ['sign', 'verify'],
} as const;

type Made = { readonly ciphertext?: string; readonly signature?: string };
type Proven = { readonly valid?: boolean; readonly plaintext?: string };
type Wrapping = { readonly number: number; readonly state: string };

let members: OwnMembers;
const running = new Map<string, Daemon>();
const of = (name: string): Daemon => running.get(name) as Daemon;
const wrappingKey = async (name: string): Promise<Wrapping | undefined> => {
  const { tokens } = (await of(name).request('GET', '/v1/state/system/hsm')) as { tokens: { 'wrapping-key': Wrapping }[] };
  return tokens[0]?.['wrapping-key'];
};
/** Whether what one makes with a key the other opens or verifies. */
const isOne = async (key: string, [make, prove]: readonly [string, string], maker: string, other: string): Promise<boolean> => {
  const answer = (await of(maker).request('POST', `${state}/${key}/${make}`, make === 'encrypt' ? { plaintext: text } : { text })) as Made;
  const proof = answer.ciphertext === undefined ? { text, signature: answer.signature } : { ciphertext: answer.ciphertext };
  const { valid, plaintext } = (await of(other).request('POST', `${state}/${key}/${prove}`, proof)) as Proven;
  return valid ?? plaintext === text;
};

describe.skipIf('missing' in nss)('SoftHSM2, NSS softoken and SoftHSM2', () => {
  beforeAll(async () => {
    members = await OwnMembers.prepare(path, async (name) => {
      if (name !== 'b' || 'missing' in nss) return [{ ...(await makeEmptySoftToken(path('tokens'), name)), group: 'default' }];
      return [{ ...(await makeNssToken(nss, path('tokens'), name, { isPrepared: false })), group: 'default' }];
    });
    running.set('a', await members.start('a'));
    await members.found(of('a'));
    for (const name of ['b', 'c']) running.set(name, await members.join(name, of('a')));
  }, 240_000);
  afterAll(async () => {
    for (const daemon of [...running.values()].toReversed()) await daemon.stop().catch(() => undefined);
  });

  test('a key made in the token of one is used in those of both vendors', async () => {
    for (const [cipher, pair] of Object.entries(uses)) {
      for (const by of ['a', 'b']) {
        const key = `${cipher}-${by}`;
        await of(by).request('POST', config, { name: key, cipher });
        for (const on of ['a', 'b', 'c']) expect(await isOne(key, pair, on, on === 'a' ? 'b' : 'a')).toBe(true);
      }
    }
  });

  test('a type that the token of one vendor lacks is refused by name on all', async () => {
    for (const by of ['a', 'b', 'c'])
      expect(await of(by).exchange('POST', config, { name: `pq-${by}`, cipher: 'ml-dsa-65' })).toMatchObject({
        status: 400,
        body: { code: 'unsupported-cipher', detail: expect.stringContaining('CKM_ML_DSA') },
      });
  });

  test('the wrapping key is rotated in both, and everything opens with one of them lost', async () => {
    // The rotation by which the last one came in may still end.
    await expect.poll(() => wrappingKey('b'), { timeout: 90_000, interval: 500 }).toMatchObject({ state: 'in-use' });
    expect(await of('b').request('POST', '/v1/state/system/rotate-wrapping-key', {})).toMatchObject({ state: 'rewrapping' });
    await expect.poll(() => wrappingKey('a'), { timeout: 90_000, interval: 500 }).toMatchObject({ state: 'in-use', failed: 0 });
    await of('c').kill();
    running.delete('c');
    for (const [cipher, pair] of Object.entries(uses))
      for (const by of ['a', 'b'])
        for (const on of ['a', 'b']) expect(await isOne(`${cipher}-${by}`, pair, on, on === 'a' ? 'b' : 'a')).toBe(true);
    expect(await of('b').exchange('POST', '/v1/state/system/rotate-wrapping-key', {})).toMatchObject({
      status: 409,
      body: { code: 'operation-refused', detail: expect.stringContaining('"c" is away') },
    });
    await of('a').request('POST', `${clusterState}/remove-member`, { member: 'c', 'even-if-alive': true });
    await expect.poll(() => wrappingKey('b'), { timeout: 90_000, interval: 500 }).toMatchObject({ state: 'in-use', failed: 0 });
    await of('b').request('POST', config, { name: 'after', cipher: 'rsa-2048' });
    expect(await isOne('after', ['sign', 'verify'], 'a', 'b')).toBe(true);
  });
});

test.skipIf('missing' in nss)(
  'a token that lacks a type of which there are keys is not let in, and the refusal names it',
  async () => {
    if ('missing' in nss) return;
    const inside = (...names: string[]): string => path('lacking', ...names);
    const mixed = await OwnMembers.prepare(inside, async (name) => {
      if (name === 'b') return [{ ...(await makeEmptySoftToken(inside('tokens'), name)), group: 'default' }];
      return [{ ...(await makeNssToken(nss, inside('tokens'), name, { isPrepared: false })), group: 'default' }];
    });
    const first = await mixed.start('a');
    try {
      await mixed.found(first);
      await first.request('POST', config, { name: 'pq', cipher: 'ml-dsa-65' });
      await expect(mixed.join('b', first)).rejects.toThrow(/ml-dsa-65 \(CKM_ML_DSA\)/);
      await first.request('POST', `${state}/pq/sign`, { text });
    } finally {
      await first.stop();
    }
  },
  120_000,
);
