// An EC key at infinity could not be exported, and what OpenSSL had noted of that closed the connection of the next caller: 76 of 422
// requests of another tenant failed. KEY_CASES sends more, and npm run soak ten thousand.
import { generateKeyPairSync, generatePrimeSync } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { sendBrokenKeys } from '../../fuzz/keys-over-tls.ts';
import { ecPkcs8, ecSec1, ecSpki, infinity, pem, rsaSpki } from '../../harness/token/odd-keys.ts';
import { startVictim, type Victim } from '../victim.ts';

let victim: Victim;

beforeAll(async () => {
  victim = await startVictim();
});

const order = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551', 'hex');
const above = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632552', 'hex');
const scalars = { zero: Buffer.alloc(32), empty: Buffer.alloc(0), n: order, 'n + 1': above, long: Buffer.alloc(40, 0xff) };

test('an EC key at infinity, or with a scalar out of range, is refused as unusable material wherever it comes in', async () => {
  const keys = '/v1/config/keystore/transit-keys';
  const point = pem('PUBLIC KEY', ecSpki('P-256', infinity));
  expect(await victim.verdict('POST', keys, { name: 'inf', cipher: 'ecdsa-p256', 'public-key': point })).toBe('400 invalid-key-data');
  await victim.request('POST', keys, { name: 'k', cipher: 'ecdsa-p256' });
  for (const [name, scalar] of Object.entries(scalars)) {
    for (const data of [
      pem('PRIVATE KEY', ecPkcs8('P-256', scalar)),
      pem('EC PRIVATE KEY', ecSec1('P-256', scalar)),
      pem('PRIVATE KEY', ecPkcs8('P-256', scalar, infinity)),
    ])
      expect([name, await victim.verdict('POST', '/v1/state/keystore/transit-keys/k/import', { data })]).toEqual([
        name,
        '400 invalid-key-data',
      ]);
  }
});

describe('an RSA or Ed25519 key that protects nothing is refused', () => {
  const n = BigInt(
    `0x${Buffer.from(generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' }).n ?? '', 'base64url').toString('hex')}`,
  );
  const f4 = 65_537n;
  const weak: readonly [string, bigint, bigint][] = [
    ['exponent 0', n, 0n],
    ['exponent 1', n, 1n],
    ['exponent 2', n, 2n],
    ['an even exponent', n, f4 + 1n],
    ['an exponent above the modulus', n, n + 2n],
    ['an exponent of more than 256 bits', n, 2n ** 256n + 1n],
    ['an even modulus', n + 1n, f4],
    ['a modulus that is a square', generatePrimeSync(1032, { bigint: true }) ** 2n, f4],
    ['a modulus of 16,384 bits', n ** 8n, f4],
    ['a modulus of 1,024 bits', n >> 1024n, f4],
    ['a modulus that is a prime', generatePrimeSync(2048, { bigint: true }), f4],
  ];

  beforeAll(() => victim.request('POST', '/v1/config/keystore/transit-keys', { name: 'leaving', exportable: true }));

  test.each(weak)('as wrapping-key of an export, as public-key: RSA with %s', async (_what, modulus, exponent) => {
    const key = pem('PUBLIC KEY', rsaSpki(modulus, exponent));
    const wrapping = { format: 'wrapped', 'wrapping-key': key };
    expect(await victim.verdict('POST', '/v1/state/keystore/transit-keys/leaving/export', wrapping)).toBe('400 invalid-key-data');
    const created = await victim.verdict('POST', '/v1/config/keystore/transit-keys', {
      name: 'weak',
      cipher: 'rsa-2048',
      'public-key': key,
    });
    expect(created).toMatch(/^400 (invalid-key-data|key-type-mismatch)$/);
  });

  test('as wrapping-key: RSA with exponent 3, which may still verify', async () => {
    const key = pem('PUBLIC KEY', rsaSpki(n, 3n));
    const wrapping = { format: 'wrapped', 'wrapping-key': key };
    expect(await victim.verdict('POST', '/v1/state/keystore/transit-keys/leaving/export', wrapping)).toBe('400 invalid-key-data');
    const fields = { name: 'old', cipher: 'rsa-2048', 'public-key': key };
    expect(await victim.verdict('POST', '/v1/config/keystore/transit-keys', fields)).toBe('201 done');
  });

  test.each([
    ['the neutral point', '0100000000000000000000000000000000000000000000000000000000000000'],
    ['a point of order 8', '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05'],
    ['a point of order 2', 'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'],
    ['another spelling of the neutral point', 'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'],
    ['no point', '0200000000000000000000000000000000000000000000000000000000000000'],
  ])('as public-key: Ed25519 with %s', async (_what, point) => {
    const key = pem('PUBLIC KEY', Buffer.from(`302a300506032b6570032100${point}`, 'hex'));
    const fields = { name: 'weak', cipher: 'ed25519', 'public-key': key };
    expect(await victim.verdict('POST', '/v1/config/keystore/transit-keys', fields)).toBe('400 invalid-key-data');
  });
});

test('broken keys, certificates and requests are answered, and the connection of another caller stays', async () => {
  const statuses = await sendBrokenKeys(victim, Number(process.env['KEY_CASES'] ?? 150), Number(process.env['FUZZ_SEED'] ?? 13));
  expect(statuses[400]).toBeGreaterThan(0);
});
