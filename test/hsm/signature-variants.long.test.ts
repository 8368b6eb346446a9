// Contexts, Ed25519ph and deterministic ML-DSA in the token: offered where the answers are those of RFC 8032, of Wycheproof and of node:crypto, and refused elsewhere.
import { createPublicKey, verify } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Hsm, HsmError, SchemeOptions, SignatureVariant } from '../../hsm/api.ts';
import { ed25519phVerifies } from '../../core/base/public-keys/finished-hash.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { bindingOf, makeKey } from '../harness/keys.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { findModules } from '../harness/token/modules.ts';
import { testHsmConfig } from '../harness/token/softhsm.ts';
import { loadWycheproof, type Vector, type VectorGroup } from '../vectors/wycheproof.ts';

const path = temporaryDirectory();
const pkcs8 = (seed: string): Buffer => Buffer.from(`302e020100300506032b657004220420${seed}`, 'hex');
const octets = (hex: string): Buffer => Buffer.from(hex, 'hex');

/** PKCS#8 of ML-DSA-65 up to its seed (RFC 9881 section 6). */
const mlDsa65Pkcs8 = '3034020100300b060960864801650304031204228020';

/** RFC 8032 section 7.2 (foo, bar, foo2, foo3) and section 7.3. */
const ofRfc8032: readonly { name: string; seed: string; message: string; options: SchemeOptions; signature: string }[] = [
  {
    name: 'foo',
    seed: '0305334e381af78f141cb666f6199f57bc3495335a256a95bd2a55bf546663f6',
    message: 'f726936d19c800494e3fdaff20b276a8',
    options: { context: octets('666f6f') },
    signature:
      '55a4cc2f70a54e04288c5f4cd1e45a7bb520b36292911876cada7323198dd87a8b36950b95130022907a7fb7c4e9b2d5f6cca685a587b4b21f4b888e4e7edb0d',
  },
  {
    name: 'bar',
    seed: '0305334e381af78f141cb666f6199f57bc3495335a256a95bd2a55bf546663f6',
    message: 'f726936d19c800494e3fdaff20b276a8',
    options: { context: octets('626172') },
    signature:
      'fc60d5872fc46b3aa69f8b5b4351d5808f92bcc044606db097abab6dbcb1aee3216c48e8b3b66431b5b186d1d28f8ee15a5ca2df6668346291c2043d4eb3e90d',
  },
  {
    name: 'foo2',
    seed: '0305334e381af78f141cb666f6199f57bc3495335a256a95bd2a55bf546663f6',
    message: '508e9e6882b979fea900f62adceaca35',
    options: { context: octets('666f6f') },
    signature:
      '8b70c1cc8310e1de20ac53ce28ae6e7207f33c3295e03bb5c0732a1d20dc64908922a8b052cf99b7c4fe107a5abb5b2c4085ae75890d02df26269d8945f84b0b',
  },
  {
    name: 'foo3',
    seed: 'ab9c2853ce297ddab85c993b3ae14bcad39b2c682beabc27d6d4eb20711d6560',
    message: 'f726936d19c800494e3fdaff20b276a8',
    options: { context: octets('666f6f') },
    signature:
      '21655b5f1aa965996b3f97b3c849eafba922a0a62992f73b3d1b73106a84ad85e9b86a7b6005ea868337ff2d20a7f5fbd4cd10b0be49a68da2b2e0dc0ad8960f',
  },
  {
    name: 'abc',
    seed: '833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42',
    message: '616263',
    options: { prehash: true },
    signature:
      '98a70222f0b8121aa9d30f813d683f809e462b469c7ff87639499bb94e6dae4131f85042463c2a355a2003d062adf5aaa10b8c61e636062aaad11c2a26083406',
  },
];

/** Each module with what it was seen to have; SoftHSM2 takes the parameters and ignores them. */
const expected: Readonly<Record<string, readonly SignatureVariant[]>> = {
  SoftHSM2: [],
  'NSS softoken': ['ml-dsa-context', 'ml-dsa-deterministic'],
  kryoptic: ['ed25519ctx', 'ed25519ph', 'ml-dsa-context', 'ml-dsa-deterministic'],
};

describe.each((await findModules({ builds: true })).filter(({ name }) => name in expected))('$name', (module) => {
  let hsm: Hsm;
  let variants: readonly SignatureVariant[];

  beforeAll(async () => {
    hsm = await openHsm(testHsmConfig(await module.make(path(module.name.replaceAll(' ', '-')))));
    variants = hsm.status()[0]?.signatureVariants ?? [];
  });
  afterAll(() => hsm.close());

  const imported = async (type: 'ed25519' | 'ml-dsa-65', name: string, material: Buffer) => {
    const binding = bindingOf(name);
    const { stored, publicKey } = await hsm.importKey(type, material, binding);
    return {
      key: { stored, binding },
      publicKey: createPublicKey({ key: Buffer.from(publicKey as Uint8Array), format: 'der', type: 'spki' }),
    };
  };

  test('offers what it was seen to have', () => {
    expect(variants).toEqual(expected[module.name]);
  });

  test('refuses what was not proven, and makes no other signature in its place', async () => {
    const { key } = await makeKey(hsm, 'ed25519', 'refusing');
    for (const [variant, options] of [
      ['ed25519ctx', { context: octets('666f6f') }],
      ['ed25519ph', { prehash: true }],
    ] as const) {
      const outcome = await hsm.sign(key, { scheme: 'ed25519', message: octets('616263'), options }).then(
        ({ length }) => length,
        ({ kind }: HsmError) => kind,
      );
      expect(outcome).toBe(variants.includes(variant) ? 64 : 'unsupported');
      expect(hsm.signsBy(key.stored, variant)).toBe(variants.includes(variant));
    }
  });

  test('Ed25519ctx and Ed25519ph are those of RFC 8032 sections 7.2 and 7.3', async ({ skip }) => {
    skip(!variants.includes('ed25519ph'), 'not offered');
    for (const { name, seed, message, options, signature } of ofRfc8032) {
      const { key, publicKey } = await imported('ed25519', name, pkcs8(seed));
      const made = Buffer.from(await hsm.sign(key, { scheme: 'ed25519', message: octets(message), options }));
      expect(made.toString('hex')).toBe(signature);
      const isVerified =
        options.prehash === true
          ? ed25519phVerifies(publicKey, undefined, octets(message), made)
          : verify(null, octets(message), { key: publicKey, context: options.context as Uint8Array }, made);
      expect(isVerified).toBe(true);
    }
  });

  test('a context of 255 octets signs, and garbage collections in between change nothing', async ({ skip }) => {
    skip(!variants.includes('ml-dsa-context'), 'not offered');
    const { key, publicKey } = await makeKey(hsm, 'ml-dsa-65', 'collected');
    const holder = createPublicKey({ key: Buffer.from(publicKey as Uint8Array), format: 'der', type: 'spki' });
    for (let round = 0; round < 50; round += 1) {
      const context = Buffer.alloc(1 + ((round * 53) % 255), round);
      const signature = await hsm.sign(key, { scheme: 'ml-dsa', message: octets('616263'), options: { context } });
      expect(verify(null, octets('616263'), { key: holder, context }, signature)).toBe(true);
    }
  });

  /** Only those of a message: others are of its digest alone, as another interface takes it. */
  const skipped = ({ result, flags, msg }: Vector): string | undefined =>
    result === 'valid' && !flags.includes('Randomized') && (msg as string | undefined) !== undefined
      ? undefined
      : 'not a deterministic signature of a message';
  const file = loadWycheproof('mldsa_65_sign_seed', skipped);
  test(`${file.name}, deterministic: ${file.summary}`, async ({ skip }) => {
    skip(!variants.includes('ml-dsa-deterministic'), 'not offered');
    let withContext = 0;
    for (const [at, group] of file.groups.entries()) {
      if (group.tests.length === 0) continue;
      const { privateSeed } = group as VectorGroup & { privateSeed: string };
      const { key } = await imported('ml-dsa-65', `vector-${at}`, octets(`${mlDsa65Pkcs8}${privateSeed}`));
      for (const { msg, ctx, sig, tcId } of group.tests) {
        const context = ctx === undefined ? undefined : octets(ctx);
        withContext += (context?.length ?? 0) > 0 ? 1 : 0;
        const made = await hsm.sign(key, { scheme: 'ml-dsa', message: octets(msg), options: { context, deterministic: true } });
        expect(`${tcId} ${Buffer.from(made).toString('hex')}`).toBe(`${tcId} ${sig}`);
      }
    }
    expect(withContext).toBeGreaterThan(0);
  });
});
