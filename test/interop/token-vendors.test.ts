// Own keys carried between tokens of two vendors: whatever one of them wraps, and wraps again, the other uses.
import { beforeAll, afterAll, describe, expect, test } from 'vitest';
import type { Hsm, KeyReference, KeyType, TokenConfig } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { bindingOf, freshMaterial, makeKey, signatures } from '../harness/keys.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { carryToAll } from '../harness/token/carrying.ts';
import { makeNssToken, obtainNss } from '../harness/token/nss.ts';
import { makeSoftToken, testHsmConfig } from '../harness/token/softhsm.ts';

const nss = await obtainNss();
if ('missing' in nss) console.error(`SKIPPED: keys carried between SoftHSM2 and NSS softoken: ${nss.missing}`);

const path = temporaryDirectory();
const message = Buffer.from('message');
const types: readonly KeyType[] = [
  'aes-128',
  'aes-192',
  'aes-256',
  'secret-256',
  'rsa-2048',
  'ecdsa-p256',
  'ecdsa-p384',
  'ecdsa-p521',
  'ed25519',
];

describe.skipIf('missing' in nss).each(['SoftHSM2', 'NSS softoken'])('given by %s', (giver) => {
  let hsms: readonly [Hsm, Hsm];

  beforeAll(async () => {
    if ('missing' in nss) return;
    const directory = path(giver);
    const soft: TokenConfig = { ...(await makeSoftToken(directory, 'vendors')), name: 'main' };
    const other: TokenConfig = { ...(await makeNssToken(nss, directory, 'vendors')), name: 'main' };
    const { number } = await carryToAll(giver === 'SoftHSM2' ? [soft, other] : [other, soft]);
    hsms = [await openHsm(testHsmConfig(soft)), await openHsm(testHsmConfig(other))];
    for (const hsm of hsms) hsm.wrappingKeys.follow(() => number);
  });

  afterAll(() => Promise.all(hsms.map((hsm) => hsm.close())));

  test.each(types)(
    '%s made by either, and wrapped again by a token that can, is the same key in both',
    { timeout: 60_000 },
    async (type) => {
      for (const maker of hsms) {
        const { key, publicKey } = await makeKey(maker, type, `vendors-${type}`);
        const wrappers = type.startsWith('ecdsa') ? [hsms[0], maker] : hsms;
        const wrappings = [key, ...(await Promise.all(wrappers.map((wrapper) => wrapAgain(wrapper, key))))];
        for (const again of wrappings)
          for (const user of hsms) expect(await isSame(user, type, { made: key, again, maker, publicKey })).toBe(true);
      }
    },
  );

  test('NSS softoken does not wrap an EC key again that came without its public point', async () => {
    const { key } = await makeKey(hsms[0], 'ecdsa-p256', 'vendors-pointless');
    await expect(hsms[1].wrappingKeys.rewrap(key)).rejects.toMatchObject({ kind: 'unsupported' });
  });

  test.each(['ecdsa-p256', 'ed25519'] as const)('an imported %s key is the same in both', async (type) => {
    for (const importer of hsms) {
      const binding = bindingOf(`imported-${type}`);
      const { stored, publicKey } = await importer.importKey(type, freshMaterial(type), binding);
      const key = { stored, binding };
      for (const user of hsms) expect(await isSame(user, type, { made: key, again: key, maker: importer, publicKey })).toBe(true);
    }
  });
});

async function wrapAgain(wrapper: Hsm, key: KeyReference): Promise<KeyReference> {
  return { ...key, stored: await wrapper.wrappingKeys.rewrap(key) };
}

type Made = { made: KeyReference; again: KeyReference; maker: Hsm; publicKey: Uint8Array | undefined };

/** Whether the key under its other wrapping does what the one that was made does. */
async function isSame(user: Hsm, type: KeyType, { made, again, maker, publicKey }: Made): Promise<boolean> {
  if (type.startsWith('aes')) return message.equals(await user.decrypt(again, await maker.encrypt(made, message)));
  if (type === 'secret-256')
    return Buffer.compare(await user.hmac(again, 'sha256', message), await maker.hmac(made, 'sha256', message)) === 0;
  const checked = await Promise.all(
    signatures(type, message, publicKey ?? new Uint8Array()).map(async ({ scheme, check }) => check(await user.sign(again, scheme))),
  );
  return checked.every(Boolean);
}
