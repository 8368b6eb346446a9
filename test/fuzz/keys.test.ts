// Every reader of keys, certificates and requests from outside, on cases drawn from a seed: it reads or refuses, and OpenSSL's queue stays
// empty. FUZZ_SEED draws the same cases again, KEY_CASES more of them.
import { beforeAll, expect, test } from 'vitest';
import { ServiceError } from '../../core/base/errors.ts';
import { cleanly } from '../../core/base/public-keys/openssl.ts';
import { readJwk } from '../../core/base/public-keys/public-key.ts';
import { findPath } from '../../plugins/ca/issuing/chain.ts';
import { requireCaCertificate } from '../../plugins/ca/life.ts';
import { verifyCsr } from '../../plugins/ca/issuing/csr.ts';
import type { CaContext } from '../../plugins/ca/context.ts';
import { importCertificate } from '../../plugins/openpgp/certificates/import-public-key.ts';
import { requireCipher } from '../../plugins/transit/ciphers.ts';
import { parseMaterialOctets, parseMaterialText } from '../../plugins/transit/formats/private-keys.ts';
import { parsePublicKey } from '../../plugins/transit/formats/public-keys.ts';
import { parseWrappingKey } from '../../plugins/transit/formats/wrapped-material.ts';
import { makeIdentity, type Identity } from '../plugins/ca/pki.ts';
import { takeOpensslErrors } from '../harness/openssl-queue.ts';
import { Dice } from './cases.ts';
import { type KeyCase, KeyCaseMaker, textOf } from './key-cases.ts';

const cases = Number(process.env['KEY_CASES'] ?? 2_000);
const seed = Number(process.env['FUZZ_SEED'] ?? 13);
const context = { clock: { now: () => Temporal.Now.instant() } } as CaContext;
let anchor: Identity;

beforeAll(async () => {
  anchor = await makeIdentity({ subject: 'CN=drawn', ca: true });
});

/** The readers of a case; each gets the forms in which the case can be sent. */
const readers: Readonly<Record<KeyCase['kind'], readonly ((one: KeyCase) => unknown)[]>> = {
  public: [
    (one) => parsePublicKey(textOf(one), one.cipher, requireCipher(one.cipher)),
    (one) => (one.cipher === 'rsa-2048' ? parseWrappingKey(textOf(one)) : undefined),
    (one) => readJwk({ kty: 'RSA', n: one.octets.toString('base64url'), e: 'AQAB' }, 'verify'),
    (one) =>
      readJwk(
        {
          kty: 'EC',
          crv: 'P-256',
          x: one.octets.subarray(-64, -32).toString('base64url'),
          y: one.octets.subarray(-32).toString('base64url'),
        },
        'verify',
      ),
  ],
  private: [(one) => parseMaterialText(textOf(one), targetOf(one)), (one) => parseMaterialOctets(Buffer.from(one.octets), targetOf(one))],
  certificate: [
    (one) => requireCaCertificate(context, one.octets),
    (one) => findPath(one.octets, [], [anchor.certificate], context.clock.now()),
    (one) => findPath(anchor.certificate, [one.octets], [one.octets], context.clock.now()),
  ],
  request: [(one) => verifyCsr(one.octets, ['ec', 'rsa', 'ed25519'])],
  openpgp: [(one) => importCertificate(textOf(one), context.clock.now())],
};

const targetOf = ({ cipher }: KeyCase) => ({ cipherName: cipher, cipher: requireCipher(cipher), derived: false });

test(`${cases} broken keys, certificates, requests and blocks are read or refused, and leave nothing in OpenSSL's queue`, async () => {
  const maker = await KeyCaseMaker.make(new Dice(seed));
  const outcomes = { read: 0, refused: 0 };
  cleanly(() => undefined);
  for (let number = 0; number < cases; number += 1) {
    const one = maker.draw();
    for (const [index, read] of readers[one.kind].entries()) {
      const about = `seed ${seed}, case ${number}, reader ${index}: ${one.kind} ${one.cipher} ${one.octets.toString('base64')}`;
      try {
        await read(one);
        outcomes.read += 1;
      } catch (error) {
        if (!(error instanceof ServiceError && error.status < 500)) throw new Error(about, { cause: error });
        outcomes.refused += 1;
      }
      const left = takeOpensslErrors();
      if (left.length > 0) throw new Error(`${about} left ${left.join(', ')}`);
    }
  }
  expect(Math.min(outcomes.read, outcomes.refused)).toBeGreaterThan(cases / 20);
});
