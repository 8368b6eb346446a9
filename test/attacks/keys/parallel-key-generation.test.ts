// SoftHSM #573 and #485: parallel generation failed with CKR_GENERAL_ERROR, and a client locked its whole provider because of it.
import { beforeAll, expect, test } from 'vitest';
import { startVictim, verdictOf, type Victim } from '../victim.ts';

let victim: Victim;
beforeAll(async () => {
  victim = await startVictim();
});

const keys = '/v1/config/keystore/transit-keys';

test('forty keys of every kind at once, while others are used and rotated: all are made, all work', async () => {
  await victim.request('POST', keys, { name: 'busy' });
  const ciphers = ['aes256-gcm96', 'ecdsa-p256', 'ed25519', 'aes128-gcm96'];
  const making = Array.from({ length: 40 }, (_, n) =>
    victim.request('POST', keys, { name: `made-${n}`, cipher: ciphers[n % ciphers.length] }),
  );
  const using = Array.from({ length: 40 }, () => victim.request('POST', '/v1/state/keystore/transit-keys/busy/encrypt', { plaintext: '' }));
  const turning = Array.from({ length: 5 }, () => victim.request('POST', '/v1/state/keystore/transit-keys/busy/rotate'));
  expect(new Set((await Promise.all(making)).map(verdictOf))).toEqual(new Set(['201 done']));
  expect(new Set((await Promise.all(using)).map(verdictOf))).toEqual(new Set(['200 done']));
  expect(new Set((await Promise.all(turning)).map(({ status }) => status))).toEqual(new Set([204]));
  const works = Array.from({ length: 40 }, (_, n) => {
    const isAes = ciphers[n % ciphers.length]?.startsWith('aes') === true;
    const [action, body] = isAes ? (['encrypt', { plaintext: '' }] as const) : (['sign', { text: '' }] as const);
    return victim.verdict('POST', `/v1/state/keystore/transit-keys/made-${n}/${action}`, body);
  });
  expect(new Set(await Promise.all(works))).toEqual(new Set(['200 done']));
});

test('one name, fifty times at once: one key', async () => {
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => victim.verdict('POST', keys, { name: 'contested', cipher: 'ecdsa-p256' })),
  );
  expect(answers.filter((answer) => answer === '201 done')).toHaveLength(1);
  expect(answers.filter((answer) => answer === '409 already-exists')).toHaveLength(49);
});
