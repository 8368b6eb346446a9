// Values that a released version made open, verify and are reproduced by all later versions, on keys restored from its backups.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestClock } from '../harness/clock.ts';
import { type TransitHarness, startTransitHarness } from '../plugins/transit/harness.ts';
import { makeNssToken, obtainNss } from '../harness/token/nss.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { type GoldenKey, goldenKeys } from './golden-keys.ts';

const directory = temporaryDirectory();
const files = readdirSync(import.meta.dirname).filter((name) => /^transit-golden-\d+\.json$/.test(name));
const nss = await obtainNss();
let harness: TransitHarness;

beforeAll(async () => {
  mkdirSync(directory('nss'));
  const moreTokens = 'directory' in nss ? [await makeNssToken(nss, directory('nss'))] : [];
  harness = await startTransitHarness(directory('harness'), { moreTokens, clock: new TestClock('2027-01-01T00:00:00Z') });
});
afterAll(() => harness.stop());

test('there is a golden file', () => expect(files).toContain('transit-golden-1.json'));

describe.each(files)('%s', (file) => {
  const golden = JSON.parse(readFileSync(`${import.meta.dirname}/${file}`, 'utf8')) as Record<string, GoldenKey>;

  test('holds every cipher, derived and convergent too', () => {
    expect(Object.keys(golden)).toEqual(expect.arrayContaining(Object.keys(goldenKeys)));
  });

  test.each(Object.entries(golden))('%s: the restored key opens and verifies everything', async (name, { cipher, backup, values }) => {
    if (cipher.startsWith('ml-dsa') && !('directory' in nss)) return console.error(`SKIPPED: ${name} cannot be restored: ${nss.missing}`);
    await harness.create(name);
    await harness.do(name, 'restore', { key: backup });
    for (const { action, request, answer } of values) expect(await harness.do(name, action, request)).toMatchObject(answer);
    await harness.expectSound();
  });

  const signing = Object.entries(golden).filter(([, { publicKey }]) => publicKey !== undefined);
  test.each(signing)('%s: its public key alone verifies the signatures of the newest version', async (name, key) => {
    const verifier = `${name}-public`;
    await harness.create(verifier, { cipher: key.cipher, 'public-key': key.publicKey });
    const signed = key.values.filter(({ action, request }) => action === 'verify' && String(request['signature']).startsWith('store:v2:'));
    expect(signed.length).toBeGreaterThan(0);
    for (const { request, answer } of signed) {
      const signature = String(request['signature']).replace('store:v2:', 'store:v1:');
      expect(await harness.do(verifier, 'verify', { ...request, signature })).toMatchObject(answer);
    }
  });
});
