// Who reads keys of version 6 and Ed25519 as algorithm 27: the table of openpgp.md, run with the programs that are installed.
// Needs the Debian packages gnupg, gosop, rnp, sq, sqop and sqv; versions that the table does not have are passed over.
import { spawnSync } from 'node:child_process';
import { createMessage, readKey, readSignature, verify } from 'openpgp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OpenpgpHarness, startOpenpgpHarness } from '../plugins/openpgp/harness.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { judgements } from './openpgp-tools.ts';

const path = temporaryDirectory();
const data = Buffer.from('A release of something.\n');
let harness: OpenpgpHarness;
beforeAll(async () => {
  harness = await startOpenpgpHarness(path(), Temporal.Now.instant().subtract({ minutes: 5 }).toString());
});
afterAll(() => harness.close());

/** Program, how it says its version, and the versions that do not read version 6, and those that do. */
const table: readonly (readonly [string, readonly string[], { readonly no: RegExp; readonly yes: RegExp }])[] = [
  ['gpg', ['--version'], { no: /GnuPG\) 2\.[24]\./, yes: /^$/ }],
  ['gpgv', ['--version'], { no: /GnuPG\) 2\.[24]\./, yes: /^$/ }],
  ['sq', ['--version'], { no: /sq 0\.27/, yes: /sq 1\.3/ }],
  ['sqv', ['--version'], { no: /sqv 1\.1/, yes: /sqv 1\.3/ }],
  ['sqop', ['version'], { no: /(?:sqop|sequoia-sop) 0\.2/, yes: /sequoia-sop 0\.37/ }],
  ['gosop', ['version'], { no: /gosop 0\./, yes: /gosop 1\.1/ }],
  ['rnp', ['--version'], { no: /rnp 0\.1[67]/, yes: /^$/ }],
];

describe.each(['ed25519', 'rsa-2048', 'ecdsa-p256'])('%s', (cipher) => {
  test('openpgp.js reads key and subkey, and of the others those that the table says', async () => {
    const sixth = { cipher, 'openpgp-packet-version': 6 };
    await harness.create(cipher, { ...sixth, 'openpgp-user-id': 'Ada <ada@example.org>' });
    await harness.create(`${cipher}-leaf`, { ...sixth, 'openpgp-primary': cipher, 'openpgp-key-usage': ['sign'] });
    for (const name of [cipher, `${cipher}-leaf`]) {
      const [armoredKey, armoredSignature] = [await harness.block(name), await harness.sign(name, data)];
      const { signatures } = await verify({
        message: await createMessage({ binary: data }),
        signature: await readSignature({ armoredSignature }),
        verificationKeys: await readKey({ armoredKey }),
        format: 'binary',
      });
      expect(await signatures[0]?.verified).toBe(true);
      const judged = await judgements(armoredKey, armoredSignature, data);
      const known = table.flatMap(([program, args, { no, yes }]) => {
        const version = spawnSync(program, args, { encoding: 'utf8' }).stdout;
        return yes.test(version) || no.test(version) ? [{ program, reads: yes.test(version) }] : [];
      });
      const said = known.map(({ program }) => ({ program, reads: judged[program] === true || judged[program] === 'GOODSIG' }));
      expect(said).toEqual(known);
    }
  });
});
