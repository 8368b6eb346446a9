// PINs beside custodians who have the PIN, with the real daemon: no token is asked, and the shares unseal it.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keepNext, makeCeremony } from '../../../appliance/custodians/ceremony.ts';
import { revealSecret, Secret } from '../../../core/base/secret.ts';
import { type Daemon, startDaemon } from '../../harness/daemon.ts';
import { patienceMs } from '../../harness/patience.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const at = temporaryDirectory();
let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon({ directory: at('data') });
});
afterAll(() => daemon.stop());

const seal = () => daemon.request('POST', '/v1/state/keystore/system/seal');
const give = async (body: object) => {
  const answer = await daemon.exchange('POST', '/v1/state/keystore/system/unseal', body);
  return `${answer.status} ${String(answer.body?.code ?? answer.body?.have ?? 'done')}`;
};
const served = () =>
  expect.poll(async () => (await daemon.exchange('GET', '/v1/state/system/health')).status, { timeout: patienceMs }).toBe(200);

test('a PIN is refused before the token is asked, and its refusals do not bar shares', async () => {
  const pin = readFileSync(join(at('data'), 'pin'), 'utf8').trim();
  const { ceremony, shares } = await makeCeremony({
    ...{ key: new Secret(new Uint8Array(randomBytes(32))), needed: 2, recipients: ['anna', 'bert', 'cleo'] },
    ...{ pins: { default: new Secret(pin) }, madeAt: '2026-01-01T00:00:00.000000Z' },
  });
  const share = (number: number) => ({ share: revealSecret(shares[number - 1] as Secret<string>) });
  await seal();
  // As after a first ceremony that was cut off: a person may have the PIN.
  keepNext(at('data'), ceremony);
  expect(await give(share(1))).toBe('200 1');
  expect(await give({ pin: 'wrong' })).toBe('403 pin-refused');
  expect(await give(share(2))).toBe('200 2');
  await served();
  expect(existsSync(join(at('data'), 'custodians.json'))).toBe(true);

  await seal();
  expect(await give(share(3))).toBe('200 1');
  for (let attempt = 0; attempt < 4; attempt++) expect(await give({ pin: 'wrong' })).toBe('400 missing-field');
  expect(await give({ pin })).toBe('400 missing-field');
  expect(await give(share(1))).toBe('200 2');
  await served();
  expect(daemon.output().match(/a token refused the PIN/g)?.length).toBe(1);
});
