// The tags of KMIP (2.0 section 11.56 and 1.4 section 9.1.3.1), by the names of the encoding in XML. Later versions only add to them.
import { numbered, type Words } from './words.ts';

/** By the number of the first word of each row. */
const rows = {
  0x420001: 'ActivationDate ApplicationData ApplicationNamespace ApplicationSpecificInformation ArchiveDate AsynchronousCorrelationValue',
  0x420007: 'AsynchronousIndicator Attribute AttributeIndex AttributeName AttributeValue Authentication BatchCount',
  0x42000e: 'BatchErrorContinuationOption BatchItem BatchOrderOption BlockCipherMode CancellationResult Certificate CertificateIdentifier',
  0x420015: 'CertificateIssuer CertificateIssuerAlternativeName CertificateIssuerDistinguishedName CertificateRequest',
  0x420019: 'CertificateRequestType CertificateSubject CertificateSubjectAlternativeName CertificateSubjectDistinguishedName',
  0x42001d: 'CertificateType CertificateValue CommonTemplateAttribute CompromiseDate CompromiseOccurrenceDate ContactInformation',
  0x420023: 'Credential CredentialType CredentialValue CriticalityIndicator CRTCoefficient CryptographicAlgorithm',
  0x420029: 'CryptographicDomainParameters CryptographicLength CryptographicParameters CryptographicUsageMask CustomAttribute D',
  0x42002f: 'DeactivationDate DerivationData DerivationMethod DerivationParameters DestroyDate Digest DigestValue',
  0x420036: 'EncryptionKeyInformation G HashingAlgorithm InitialDate InitializationVector Issuer IterationCount IVCounterNonce J Key',
  0x420040: 'KeyBlock KeyCompressionType KeyFormatType KeyMaterial KeyPartIdentifier KeyValue KeyWrappingData',
  0x420047: 'KeyWrappingSpecification LastChangeDate LeaseTime Link LinkType LinkedObjectIdentifier MACSignature',
  0x42004e: 'MACSignatureKeyInformation MaximumItems MaximumResponseSize MessageExtension Modulus Name NameType NameValue',
  0x420056: 'ObjectGroup ObjectType Offset OpaqueDataType OpaqueDataValue OpaqueObject Operation OperationPolicyName P PaddingMethod',
  0x420060: 'PrimeExponentP PrimeExponentQ PrimeFieldSize PrivateExponent PrivateKey PrivateKeyTemplateAttribute',
  0x420066: 'PrivateKeyUniqueIdentifier ProcessStartDate ProtectStopDate ProtocolVersion ProtocolVersionMajor ProtocolVersionMinor',
  0x42006c: 'PublicExponent PublicKey PublicKeyTemplateAttribute PublicKeyUniqueIdentifier PutFunction Q QString Qlength QueryFunction',
  0x420075: 'RecommendedCurve ReplacedUniqueIdentifier RequestHeader RequestMessage RequestPayload ResponseHeader ResponseMessage',
  0x42007c: 'ResponsePayload ResultMessage ResultReason ResultStatus RevocationMessage RevocationReason RevocationReasonCode',
  0x420083: 'KeyRoleType Salt SecretData SecretDataType SerialNumber ServerInformation SplitKey SplitKeyMethod SplitKeyParts',
  0x42008c: 'SplitKeyThreshold State StorageStatusMask SymmetricKey Template TemplateAttribute TimeStamp UniqueBatchItemID',
  0x420094: 'UniqueIdentifier UsageLimits UsageLimitsCount UsageLimitsTotal UsageLimitsUnit Username ValidityDate ValidityIndicator',
  0x42009c: 'VendorExtension VendorIdentification WrappingMethod X Y Password DeviceIdentifier EncodingOption ExtensionInformation',
  0x4200a5: 'ExtensionName ExtensionTag ExtensionType Fresh MachineIdentifier MediaIdentifier NetworkIdentifier ObjectGroupMember',
  0x4200ad: 'CertificateLength DigitalSignatureAlgorithm CertificateSerialNumber DeviceSerialNumber IssuerAlternativeName',
  0x4200b2: 'IssuerDistinguishedName SubjectAlternativeName SubjectDistinguishedName X509CertificateIdentifier X509CertificateIssuer',
  0x4200b7: 'X509CertificateSubject KeyValueLocation KeyValueLocationValue KeyValueLocationType KeyValuePresent OriginalCreationDate',
  0x4200bd: 'PGPKey PGPKeyVersion AlternativeName AlternativeNameValue AlternativeNameType Data SignatureData DataLength RandomIV MACData',
  0x4200c7: 'AttestationType Nonce NonceID NonceValue AttestationMeasurement AttestationAssertion IVLength TagLength FixedFieldLength',
  0x4200d0: 'CounterLength InitialCounterValue InvocationFieldLength AttestationCapableIndicator OffsetItems LocatedItems',
  0x4200d6: 'CorrelationValue InitIndicator FinalIndicator RNGParameters RNGAlgorithm DRBGAlgorithm FIPS186Variation',
  0x4200dd: 'PredictionResistance RandomNumberGenerator ValidationInformation ValidationAuthorityType ValidationAuthorityCountry',
  0x4200e2: 'ValidationAuthorityURI ValidationVersionMajor ValidationVersionMinor ValidationType ValidationLevel',
  0x4200e7: 'ValidationCertificateIdentifier ValidationCertificateURI ValidationVendorURI ValidationProfile ProfileInformation',
  0x4200ec: 'ProfileName ServerURI ServerPort StreamingCapability AsynchronousCapability AttestationCapability UnwrapMode DestroyAction',
  0x4200f4: 'ShreddingAlgorithm RNGMode ClientRegistrationMethod CapabilityInformation KeyWrapType BatchUndoCapability',
  0x4200fa: 'BatchContinueCapability PKCS12FriendlyName Description Comment AuthenticatedEncryptionAdditionalData',
  0x4200ff: 'AuthenticatedEncryptionTag SaltLength MaskGenerator MaskGeneratorHashingAlgorithm PSource TrailerField',
  0x420105: 'ClientCorrelationValue ServerCorrelationValue DigestedData CertificateSubjectCN CertificateSubjectO CertificateSubjectOU',
  0x42010b: 'CertificateSubjectEmail CertificateSubjectC CertificateSubjectST CertificateSubjectL CertificateSubjectUID',
  0x420110: 'CertificateSubjectSerialNumber CertificateSubjectTitle CertificateSubjectDC CertificateSubjectDNQualifier',
  0x420114: 'CertificateIssuerCN CertificateIssuerO CertificateIssuerOU CertificateIssuerEmail CertificateIssuerC CertificateIssuerST',
  0x42011a: 'CertificateIssuerL CertificateIssuerUID CertificateIssuerSerialNumber CertificateIssuerTitle CertificateIssuerDC',
  0x42011f: 'CertificateIssuerDNQualifier Sensitive AlwaysSensitive Extractable NeverExtractable ReplaceExisting Attributes',
  0x420126: 'CommonAttributes PrivateKeyAttributes PublicKeyAttributes ExtensionEnumeration ExtensionAttribute',
  0x42012b: 'ExtensionParentStructureTag ExtensionDescription ServerName ServerSerialNumber ServerVersion ServerLoad ProductName',
  0x420132: 'BuildLevel BuildDate ClusterInfo AlternateFailoverEndpoints ShortUniqueIdentifier Reserved Tag',
  0x420139: 'CertificateRequestUniqueIdentifier NISTKeyType AttributeReference CurrentAttribute NewAttribute',
  0x420140: 'CertificateRequestValue LogMessage ProfileVersion ProfileVersionMajor ProfileVersionMinor ProtectionLevel ProtectionPeriod',
  0x420147: 'QuantumSafe QuantumSafeCapability Ticket TicketType TicketValue RequestCount Rights Objects Operations Right EndpointRole',
  0x420152: 'DefaultsInformation ObjectDefaults Ephemeral ServerHashedPassword OneTimePassword HashedPassword AdjustmentType',
  0x42015e: 'ProtectionStorageMask ProtectionStorageMasks',
} as const;

export type TagName = Words<(typeof rows)[keyof typeof rows]>;

/** Tags of the standard begin with the octet 0x42, those of vendors with 0x54. */
export const vendorTags = { standard: 0x42, extension: 0x54 } as const;

export const tags = Object.fromEntries(numbered(rows)) as Readonly<Record<TagName, number>>;

const names = new Map(numbered(rows).map(([name, number]) => [number, name as TagName]));

/** The name of a tag; undefined for one that is not known. */
export function tagNameOf(tag: number): TagName | undefined {
  return names.get(tag);
}

export function isTagName(name: string): name is TagName {
  return Object.hasOwn(tags, name);
}
