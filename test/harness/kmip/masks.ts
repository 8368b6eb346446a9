// Bits of the masks of KMIP, which the cases of the profiles have as words.
import { numbered, type Words } from '../../../plugins/kmip/ttlv/words.ts';

const usageRow = {
  0: 'Sign Verify Encrypt Decrypt WrapKey UnwrapKey Export MACGenerate MACVerify DeriveKey ContentCommitment KeyAgreement CertificateSign',
  13: 'CRLSign GenerateCryptogram ValidateCryptogram TranslateEncrypt TranslateDecrypt TranslateWrap TranslateUnwrap',
} as const;

/** Bits of masks by the name of the tag, and of each bit. */
export const masks = {
  CryptographicUsageMask: bitsOf<Words<(typeof usageRow)[keyof typeof usageRow]>>(usageRow),
  StorageStatusMask: { OnLineStorage: 1, ArchivalStorage: 2, DestroyedStorage: 4 },
} as const;

function bitsOf<Word extends string>(row: Readonly<Record<number, string>>): Readonly<Record<Word, number>> {
  return Object.fromEntries(numbered(row).map(([name, bit]) => [name, 2 ** bit])) as Record<Word, number>;
}
