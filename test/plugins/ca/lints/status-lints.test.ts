// The rules of CRLs and OCSP responses: a clean one keeps them all, and for each rule a changed one breaks that one alone.
import { describe, expect, test } from 'vitest';
import { encode, explicit, implicit, integer, nullValue, objectIdentifier, octetString, sequence, tag } from '../../../../core/der/der.ts';
import {
  authorityKeyIdentifier,
  crlNumber,
  deltaCrlIndicator,
  freshestCrl,
  keyIdentifierOf,
  ocspNonce,
  reasonCode,
} from '../../../../plugins/ca/der/extensions.ts';
import { commonName } from '../../../../core/der/name.ts';
import { crlLints } from '../../../../plugins/ca/lints/crl-lints.ts';
import { findBrokenLints } from '../../../../plugins/ca/lints/lint.ts';
import { ocspLints } from '../../../../plugins/ca/lints/ocsp-lints.ts';
import { elements, makeSigner, rootOf, unsigned, withFields } from './mutations.ts';

const signers = (['ecdsa-p256', 'rsa-2048', 'ed25519', 'ml-dsa-65'] as const).map(makeSigner);
const [signer, rsa, ed25519, mlDsa] = signers as [(typeof signers)[0], (typeof signers)[0], (typeof signers)[0], (typeof signers)[0]];
const utc = (text: string): Uint8Array => encode(tag.utcTime, Buffer.from(text));
const time = (text: string): Uint8Array => encode(tag.generalizedTime, Buffer.from(text));
const withNull = (dotted: string): Uint8Array => sequence(objectIdentifier(dotted), nullValue);

const entry = (serial: number | Uint8Array, date = utc('260101000000Z'), reason = 1): Uint8Array =>
  sequence(typeof serial === 'number' ? integer(serial) : serial, date, ...(reason < 0 ? [] : [sequence(reasonCode(reason))]));

const crlField = { version: 0, signature: 1, issuer: 2, thisUpdate: 3, nextUpdate: 4, entries: 5, extensions: 6 } as const;

function crlOf({ publicKey, algorithm } = signer): Uint8Array {
  const extensions = explicit(0, sequence(authorityKeyIdentifier(keyIdentifierOf(publicKey)), crlNumber(7)));
  const dates = [utc('260102000000Z'), utc('260109000000Z')] as const;
  return sequence(integer(1), algorithm, commonName('root'), ...dates, sequence(entry(5), entry(6, utc('260102000000Z'), -1)), extensions);
}

const checkCrl = (tbs: Uint8Array, by = signer): string[] =>
  findBrokenLints({ kind: 'crl', issuer: unsigned(rootOf(by), by) }, tbs, by).map(({ id }) => id);
const changed = (changes: Readonly<Record<number, Uint8Array | undefined>>): string[] => checkCrl(withFields(crlOf(), changes));
const signedCrl = (by: typeof signer, algorithm: Uint8Array): string[] => {
  const wrong = { ...by, algorithm };
  return findBrokenLints({ kind: 'crl', issuer: unsigned(rootOf(by), by) }, crlOf(wrong), wrong).map(({ id }) => id);
};

const stated = [authorityKeyIdentifier(keyIdentifierOf(signer.publicKey)), crlNumber(7)];

const crlMutations: Readonly<Record<string, () => string[]>> = {
  der: () =>
    changed({
      [crlField.version]: encode(tag.integer, Uint8Array.of(1)),
      [crlField.entries]: sequence(entry(encode(tag.integer, Uint8Array.of(0, 5)))),
    }),
  'rsa-signature': () => signedCrl(rsa, sequence(objectIdentifier('1.2.840.113549.1.1.11'))),
  'ecdsa-signature': () => signedCrl(signer, withNull('1.2.840.10045.4.3.2')),
  'ed25519-signature': () => signedCrl(ed25519, withNull('1.3.101.112')),
  'ml-dsa-signature': () => signedCrl(mlDsa, withNull('2.16.840.1.101.3.4.3.18')),
  'signature-algorithm': () => changed({ [crlField.signature]: sequence(objectIdentifier('1.2.840.10045.4.3.4')) }),
  'crl-version': () => changed({ [crlField.version]: integer(0) }),
  'crl-issuer': () => changed({ [crlField.issuer]: commonName('Root') }),
  'crl-updates': () => changed({ [crlField.nextUpdate]: undefined }),
  'crl-entries': () => changed({ [crlField.entries]: sequence() }),
  'crl-serial-numbers': () => changed({ [crlField.entries]: sequence(entry(5), entry(5)) }),
  'crl-revocation-dates': () => changed({ [crlField.entries]: sequence(entry(5, utc('260102000001Z'))) }),
  'crl-reasons': () => changed({ [crlField.entries]: sequence(entry(5, utc('260101000000Z'), 0)) }),
  'crl-authority-key-identifier': () => changed({ [crlField.extensions]: explicit(0, sequence(crlNumber(7))) }),
  'crl-delta-indicator': () => changed({ [crlField.extensions]: explicit(0, sequence(...stated, deltaCrlIndicator(7))) }),
  'crl-freshest': () =>
    changed({
      [crlField.extensions]: explicit(0, sequence(...stated, deltaCrlIndicator(6), freshestCrl('https://keystore.example/delta'))),
    }),
  'crl-number': () => changed({ [crlField.extensions]: explicit(0, sequence(authorityKeyIdentifier(keyIdentifierOf(signer.publicKey)))) }),
};

const certId = sequence(withNull('2.16.840.1.101.3.4.2.1'), octetString(Buffer.alloc(32)), octetString(Buffer.alloc(32)), integer(5));
const good = implicit(0, new Uint8Array(0));
const now = time('20260102000000Z');
const next = explicit(0, time('20260102010000Z'));

type Response = { hash?: number; producedAt?: Uint8Array; singles?: readonly Uint8Array[]; nonce?: number };

function responseOf({ hash = 20, producedAt = now, singles = [sequence(certId, good, now, next)], nonce = 32 }: Response = {}): Uint8Array {
  const extensions = explicit(1, sequence(ocspNonce(Buffer.alloc(nonce))));
  return sequence(explicit(2, octetString(Buffer.alloc(hash))), producedAt, sequence(...singles), extensions);
}

const checkOcsp = (response: Response, by = signer): string[] =>
  findBrokenLints({ kind: 'ocsp-response' }, responseOf(response), by).map(({ id }) => id);
const revokedAt = (at: string, reason: number): Response => ({
  singles: [sequence(certId, explicit(1, time(at), explicit(0, encode(tag.enumerated, Uint8Array.of(reason)))), now, next)],
});

const ocspMutations: Readonly<Record<string, () => string[]>> = {
  der: () =>
    checkOcsp({
      singles: [sequence(sequence(...elements(certId).slice(0, 3), encode(tag.integer, Uint8Array.of(0, 5))), good, now, next)],
    }),
  'rsa-signature': () => checkOcsp({}, { ...rsa, algorithm: signer.algorithm }),
  'ecdsa-signature': () => checkOcsp({}, { ...signer, algorithm: rsa.algorithm }),
  'ed25519-signature': () => checkOcsp({}, { ...ed25519, algorithm: withNull('1.3.101.112') }),
  'ml-dsa-signature': () => checkOcsp({}, { ...mlDsa, algorithm: ed25519.algorithm }),
  'ocsp-responder': () => checkOcsp({ hash: 32 }),
  'ocsp-responses': () => checkOcsp({ singles: [] }),
  'ocsp-times': () => checkOcsp({ producedAt: time('20260101000000Z') }),
  'ocsp-status': () => checkOcsp(revokedAt('20260102000001Z', 1)),
  'ocsp-nonce': () => checkOcsp({ nonce: 129 }),
};

describe('rules of CRLs', () => {
  test('a clean list keeps every rule, with entries and without, whatever key signs', () => {
    for (const by of signers) expect(checkCrl(crlOf(by), by)).toEqual([]);
    expect(changed({ [crlField.entries]: undefined })).toEqual([]);
  });

  test('every rule has a list that breaks it', () => {
    expect(Object.keys(crlMutations).toSorted()).toEqual(crlLints.map(({ id }) => id).toSorted());
  });

  test.each(Object.entries(crlMutations))('%s is broken alone', (id, broken) => {
    expect(broken()).toEqual([id]);
  });

  test('what is not a tbsCertList breaks structure', () => {
    expect(checkCrl(crlOf().subarray(1))).toEqual(['structure']);
    expect(checkCrl(sequence(...elements(crlOf()), nullValue))).toEqual(['structure']);
  });
});

describe('rules of OCSP responses', () => {
  test('clean responses keep every rule, whatever key signs and whatever the status', () => {
    for (const by of signers) expect(checkOcsp({}, by)).toEqual([]);
    expect(checkOcsp(revokedAt('20260101000000Z', 1))).toEqual([]);
    expect(checkOcsp({ singles: [sequence(certId, implicit(2, new Uint8Array(0)), now, next)] })).toEqual([]);
  });

  test('every rule has a response that breaks it', () => {
    expect(Object.keys(ocspMutations).toSorted()).toEqual(ocspLints.map(({ id }) => id).toSorted());
  });

  test.each(Object.entries(ocspMutations))('%s is broken alone', (id, broken) => {
    expect(broken()).toEqual([id]);
  });

  test('unspecified and unused reasons break the status', () => {
    for (const reason of [0, 7, 11]) expect(checkOcsp(revokedAt('20260101000000Z', reason))).toEqual(['ocsp-status']);
  });
});
