// Keys that gpg made move into the token and keep their fingerprints: people who have the published key notice nothing.
// Needs the Debian packages gnupg, sq and sqv.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenpgpHarness, startOpenpgpHarness } from '../plugins/openpgp/harness.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { gpgSays, sqAccepts, sqvAccepts, Workbench } from './openpgp-tools.ts';

const path = temporaryDirectory();
const data = Buffer.from('A release of something.\n');
let harness: OpenpgpHarness;
beforeAll(async () => {
  harness = await startOpenpgpHarness(path(), Temporal.Now.instant().toString());
});
afterAll(() => harness.close());

test.each([
  ['rsa2048', 'rsa-2048', ''],
  ['rsa4096', 'rsa-4096', 'open sesame'],
  ['ed25519', 'ed25519', 'open sesame'],
  ['nistp256', 'ecdsa-p256', 'open sesame'],
  ['nistp521', 'ecdsa-p521', ''],
])('%s as %s, primary key and subkey, with the passphrase "%s"', { timeout: 120_000 }, async (algorithm, cipher, passphrase) => {
  await using bench = new Workbench();
  const gpg = (...args: readonly string[]) =>
    bench.run('gpg', ['--batch', '--no-tty', '--pinentry-mode', 'loopback', '--passphrase', passphrase, ...args]);
  await gpg('--quick-generate-key', 'Ada <ada@example.org>', algorithm, 'cert,sign', '0');
  const listed = async (): Promise<readonly string[]> =>
    Array.from((await gpg('--with-colons', '--list-keys')).stdout.matchAll(/^fpr:+([0-9A-F]{40}):/gm), ([, found = '']) => found);
  const [primary = ''] = await listed();
  await gpg('--quick-add-key', primary, algorithm.startsWith('nistp') ? `${algorithm}/ecdsa` : algorithm, 'sign', '0');
  const [, subkey = ''] = await listed();
  const earlier = await gpg('--armor', '--local-user', `${primary}!`, '--output', '-', '--detach-sign', bench.file('data', data));
  const secret = (await gpg('--armor', '--export-secret-keys')).stdout;
  const published = (await gpg('--armor', '--export')).stdout;

  const names = [`primary-${algorithm}`, `subkey-${algorithm}`] as const;
  const body = { data: secret, 'as-version': 1, ...(passphrase === '' ? {} : { passphrase }) };
  await harness.create(names[0], { cipher, 'openpgp-user-id': 'Ada <ada@example.org>' });
  expect((await harness.act(names[0], 'import', body)).status).toBe(204);
  await harness.create(names[1], { cipher, 'openpgp-primary': names[0], 'openpgp-key-usage': ['sign'] });
  const answer = await harness.act(names[1], 'import', body);
  expect({ status: answer.status, refused: answer.body?.detail }).toEqual({ status: 204, refused: undefined });

  await using newcomer = new Workbench();
  await newcomer.gpg('--import', newcomer.file('ours.asc', await harness.block(names[1])));
  const ours = (await newcomer.gpg('--with-colons', '--list-keys')).stdout;
  expect(Array.from(ours.matchAll(/^fpr:+([0-9A-F]{40}):/gm), ([, found = '']) => found)).toEqual([primary, subkey]);
  // The certificate that people have, and the one that comes from here.
  for (const certificate of [published, await harness.block(names[1])]) {
    for (const name of names) {
      const signature = await harness.sign(name, data);
      await using fresh = new Workbench();
      expect(await gpgSays(fresh, certificate, signature, data)).toBe('GOODSIG');
      expect(await sqAccepts(fresh, certificate, signature, data)).toBe(true);
      expect(await sqvAccepts(fresh, certificate, signature, data)).toBe(true);
    }
  }
  // What gpg signed before the move.
  expect(await harness.isValid(names[0], earlier.stdout, data)).toBe(true);
  await using merged = new Workbench();
  await merged.gpg('--import', merged.file('published.asc', published));
  expect(await gpgSays(merged, await harness.block(names[1]), earlier.stdout, data)).toBe('GOODSIG');
});
