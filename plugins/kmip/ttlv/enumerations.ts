// Enumerations of KMIP (1.4 section 9.1.3.2, 2.0 section 11) by the tag of their items, with the names of the encoding in XML. Later versions only add.
import type { TagName } from './tags.ts';
import { numbered, type Words } from './words.ts';

/** By the number of the first word of each row. */
const rows = {
  ObjectType: { 1: 'Certificate SymmetricKey PublicKey PrivateKey SplitKey Template SecretData OpaqueObject PGPKey CertificateRequest' },
  Operation: {
    0x1: 'Create CreateKeyPair Register ReKey DeriveKey Certify ReCertify Locate Check Get GetAttributes GetAttributeList AddAttribute',
    0xe: 'ModifyAttribute DeleteAttribute ObtainLease GetUsageAllocation Activate Revoke Destroy Archive Recover Validate Query Cancel',
    0x1a: 'Poll Notify Put ReKeyKeyPair DiscoverVersions Encrypt Decrypt Sign SignatureVerify MAC MACVerify RNGRetrieve RNGSeed Hash',
    0x28: 'CreateSplitKey JoinSplitKey Import Export Log Login Logout DelegatedLogin AdjustAttribute SetAttribute SetEndpointRole PKCS_11',
    0x34: 'Interop Reprovision SetDefaults SetConstraints GetConstraints QueryAsynchronousRequests Process Ping',
  },
  ResultStatus: { 0: 'Success OperationFailed OperationPending OperationUndone' },
  ResultReason: {
    0x1: 'ItemNotFound ResponseTooLarge AuthenticationNotSuccessful InvalidMessage OperationNotSupported MissingData InvalidField',
    0x8: 'FeatureNotSupported OperationCanceledByRequester CryptographicFailure IllegalOperation PermissionDenied ObjectArchived',
    0xe: 'IndexOutOfBounds ApplicationNamespaceNotSupported KeyFormatTypeNotSupported KeyCompressionTypeNotSupported EncodingOptionError',
    0x13: 'KeyValueNotPresent AttestationRequired AttestationFailed Sensitive NotExtractable ObjectAlreadyExists',
    0x100: 'GeneralFailure',
  },
  BatchErrorContinuationOption: { 1: 'Continue Stop Undo' },
  CredentialType: { 1: 'UsernameAndPassword Device Attestation OneTimePassword HashedPassword Ticket' },
  QueryFunction: {
    0x1: 'QueryOperations QueryObjects QueryServerInformation QueryApplicationNamespaces QueryExtensionList QueryExtensionMap',
    0x7: 'QueryAttestationTypes QueryRNGs QueryValidations QueryProfiles QueryCapabilities QueryClientRegistrationMethods',
    0xd: 'QueryDefaultsInformation QueryStorageProtectionMasks',
  },
  KeyFormatType: {
    0x1: 'Raw Opaque PKCS_1 PKCS_8 X_509 ECPrivateKey TransparentSymmetricKey TransparentDSAPrivateKey TransparentDSAPublicKey',
    0xa: 'TransparentRSAPrivateKey TransparentRSAPublicKey TransparentDHPrivateKey TransparentDHPublicKey TransparentECDSAPrivateKey',
    0xf: 'TransparentECDSAPublicKey TransparentECDHPrivateKey TransparentECDHPublicKey TransparentECMQVPrivateKey',
    0x13: 'TransparentECMQVPublicKey TransparentECPrivateKey TransparentECPublicKey PKCS_12',
  },
  KeyCompressionType: {
    1: 'ECPublicKeyTypeUncompressed ECPublicKeyTypeX9_62CompressedPrime ECPublicKeyTypeX9_62CompressedChar2 ECPublicKeyTypeX9_62Hybrid',
  },
  CryptographicAlgorithm: {
    0x1: 'DES DES3 AES RSA DSA ECDSA HMAC_SHA1 HMAC_SHA224 HMAC_SHA256 HMAC_SHA384 HMAC_SHA512 HMAC_MD5 DH ECDH ECMQV Blowfish Camellia',
    0x12: 'CAST5 IDEA MARS RC2 RC4 RC5 SKIPJACK Twofish EC OneTimePad ChaCha20 Poly1305 ChaCha20Poly1305 SHA3_224 SHA3_256 SHA3_384',
    0x22: 'SHA3_512 HMAC_SHA3_224 HMAC_SHA3_256 HMAC_SHA3_384 HMAC_SHA3_512 SHAKE_128 SHAKE_256 ARIA SEED SM2 SM3 SM4',
    0x37: 'Ed25519 Ed448',
  },
  BlockCipherMode: {
    0x1: 'CBC ECB PCBC CFB OFB CTR CMAC CCM GCM CBC_MAC XTS AESKeyWrapPadding NISTKeyWrap X9_102AESKW X9_102TDKW X9_102AKW1 X9_102AKW2',
    0x12: 'AEAD',
  },
  PaddingMethod: { 1: 'None OAEP PKCS5 SSL3 Zeros ANSIX9_23 ISO10126 PKCS1V1_5 X9_31 PSS' },
  HashingAlgorithm: {
    0x1: 'MD2 MD4 MD5 SHA_1 SHA_224 SHA_256 SHA_384 SHA_512 RIPEMD_160 Tiger Whirlpool SHA_512_224 SHA_512_256 SHA3_224 SHA3_256 SHA3_384',
    0x11: 'SHA3_512',
  },
  DigitalSignatureAlgorithm: {
    0x1: 'MD2WithRSAEncryption MD5WithRSAEncryption SHA_1WithRSAEncryption SHA_224WithRSAEncryption SHA_256WithRSAEncryption',
    0x6: 'SHA_384WithRSAEncryption SHA_512WithRSAEncryption RSASSA_PSS DSAWithSHA_1 DSAWithSHA224 DSAWithSHA256 ECDSAWithSHA_1',
    0xd: 'ECDSAWithSHA224 ECDSAWithSHA256 ECDSAWithSHA384 ECDSAWithSHA512 SHA3_256WithRSAEncryption SHA3_384WithRSAEncryption',
    0x13: 'SHA3_512WithRSAEncryption',
  },
  MaskGenerator: { 1: 'MGF1' },
  KeyRoleType: {
    0x1: 'BDK CVK DEK MKAC MKSMC MKSMI MKDAC MKDN MKCP MKOTH KEK MAC16609 MAC97971 MAC97972 MAC97973 MAC97974 MAC97975 ZPK PVKIBM PVKPVV',
    0x15: 'PVKOTH DUKPT IV TRKBK',
  },
  RecommendedCurve: { 1: 'P_192 K_163 B_163 P_224 K_233 B_233 P_256 K_283 B_283 P_384 K_409 B_409 P_521 K_571 B_571', 0x19: 'SECP256K1' },
  WrappingMethod: { 1: 'Encrypt MACSign EncryptThenMACSign MACSignThenEncrypt TR_31' },
  EncodingOption: { 1: 'NoEncoding TTLVEncoding' },
  KeyWrapType: { 1: 'NotWrapped AsRegistered' },
  CertificateType: { 1: 'X_509 PGP' },
  SecretDataType: { 1: 'Password Seed' },
  NameType: { 1: 'UninterpretedTextString URI' },
  AlternativeNameType: { 1: 'UninterpretedTextString URI ObjectSerialNumber EmailAddress DNSName X_500DirectoryName IPAddress' },
  LinkType: {
    0x101: 'CertificateLink PublicKeyLink PrivateKeyLink DerivationBaseObjectLink DerivedKeyLink ReplacementObjectLink ReplacedObjectLink',
    0x108: 'ParentLink ChildLink PreviousLink NextLink PKCS_12CertificateLink PKCS_12PasswordLink WrappingKeyLink',
  },
  State: { 1: 'PreActive Active Deactivated Compromised Destroyed DestroyedCompromised' },
  RevocationReasonCode: {
    1: 'Unspecified KeyCompromise CACompromise AffiliationChanged Superseded CessationOfOperation PrivilegeWithdrawn',
  },
  ObjectGroupMember: { 1: 'GroupMemberFresh GroupMemberDefault' },
  UsageLimitsUnit: { 1: 'Byte Object' },
  KeyValueLocationType: { 1: 'UninterpretedTextString URI' },
  ValidityIndicator: { 1: 'Valid Invalid Unknown' },
  SplitKeyMethod: { 1: 'XOR PolynomialSharingGF2_16 PolynomialSharingPrimeField PolynomialSharingGF2_8' },
  DerivationMethod: { 1: 'PBKDF2 HASH HMAC ENCRYPT NIST800_108_C NIST800_108_F NIST800_108_DPI' },
  CancellationResult: { 1: 'Canceled UnableToCancel Completed Failed Unavailable' },
  CertificateRequestType: { 1: 'CRMF PKCS_10 PEM PGP' },
  PutFunction: { 1: 'New Replace' },
  AttestationType: { 1: 'TPMQuote TCGIntegrityReport SAMLAssertion' },
  RNGAlgorithm: { 1: 'Unspecified FIPS186_2 DRBG NRBG ANSIX9_31 ANSIX9_62' },
  DRBGAlgorithm: { 1: 'Unspecified DualEC Hash HMAC CTR' },
  FIPS186Variation: { 1: 'Unspecified GPXOriginal GPXChangeNotice XOriginal XChangeNotice KOriginal KChangeNotice' },
  UnwrapMode: { 1: 'Unspecified Processed NotProcessed' },
  DestroyAction: { 1: 'Unspecified KeyMaterialDeleted KeyMaterialShredded MetadataDeleted MetadataShredded Deleted Shredded' },
  ShreddingAlgorithm: { 1: 'Unspecified Cryptographic Unsupported' },
  RNGMode: { 1: 'Unspecified SharedInstantiation NonSharedInstantiation' },
  /** 2.0: an identifier that stands for the one of an operation before it in the batch */
  UniqueIdentifier: {
    0x1: 'IDPlaceholder Certify Create CreateKeyPair CreateKeyPairPrivateKey CreateKeyPairPublicKey CreateSplitKey DeriveKey Import',
    0xa: 'JoinSplitKey Locate Register ReKey ReCertify ReKeyKeyPair ReKeyKeyPairPrivateKey ReKeyKeyPairPublicKey',
  },
} as const satisfies Partial<Record<TagName, Readonly<Record<number, string>>>>;

type Rows = typeof rows;
export type EnumerationName = keyof Rows;
export type EnumerationWord<Name extends EnumerationName> = Rows[Name] extends infer Row ? Words<Row[keyof Row] & string> : never;

/** Numbers by the names of an enumeration and of its value: `enumerations.State.Active`. */
export const enumerations = Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, Object.fromEntries(numbered(row))])) as {
  readonly [Name in EnumerationName]: Readonly<Record<EnumerationWord<Name>, number>>;
};

const names = new Map(Object.entries(rows).map(([name, row]) => [name, new Map(numbered(row).map(([word, number]) => [number, word]))]));

/** The name of a value; undefined for one that is not known. */
export function enumerationNameOf<Name extends EnumerationName>(name: Name, value: number): EnumerationWord<Name> | undefined {
  return names.get(name)?.get(value) as EnumerationWord<Name> | undefined;
}
