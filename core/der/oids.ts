// Object identifiers by the names the standards give them.

/** Attribute types of names (RFC 5280 4.1.2.4, X.520), in the short form used in texts (RFC 4514 3). */
export const nameAttributes = {
  CN: '2.5.4.3',
  SN: '2.5.4.4',
  serialNumber: '2.5.4.5',
  C: '2.5.4.6',
  L: '2.5.4.7',
  ST: '2.5.4.8',
  STREET: '2.5.4.9',
  O: '2.5.4.10',
  OU: '2.5.4.11',
  T: '2.5.4.12',
  GN: '2.5.4.42',
  DC: '0.9.2342.19200300.100.1.25',
  UID: '0.9.2342.19200300.100.1.1',
  E: '1.2.840.113549.1.9.1',
  dnQualifier: '2.5.4.46',
} as const;

/** Certificate and CRL extensions (RFC 5280 4.2, 5.2, 5.3). */
export const extensionId = {
  authorityInfoAccess: '1.3.6.1.5.5.7.1.1',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  crlNumber: '2.5.29.20',
  reasonCode: '2.5.29.21',
  deltaCrlIndicator: '2.5.29.27',
  nameConstraints: '2.5.29.30',
  crlDistributionPoints: '2.5.29.31',
  certificatePolicies: '2.5.29.32',
  policyMappings: '2.5.29.33',
  authorityKeyIdentifier: '2.5.29.35',
  policyConstraints: '2.5.29.36',
  extKeyUsage: '2.5.29.37',
  freshestCrl: '2.5.29.46',
  inhibitAnyPolicy: '2.5.29.54',
} as const;

/** Purposes of extended key usage (RFC 5280 4.2.1.12). */
export const keyPurpose = {
  any: '2.5.29.37.0',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  ocspSigning: '1.3.6.1.5.5.7.3.9',
  /** registration authority (RFC 6402 2.10) */
  cmcRA: '1.3.6.1.5.5.7.3.28',
} as const;

/** Access methods of authorityInfoAccess (RFC 5280 4.2.2.1). */
export const accessMethod = { ocsp: '1.3.6.1.5.5.7.48.1' } as const;

/** Attributes of a certification request (RFC 2985 5.4, RFC 6402 2.8, RFC 7030 4.4.1) and of what a server wants in one (RFC 9908 3.4). */
export const requestAttribute = {
  challengePassword: '1.2.840.113549.1.9.7',
  extensionRequest: '1.2.840.113549.1.9.14',
  changeSubjectName: '1.3.6.1.5.5.7.7.36',
  /** RFC 7030 4.4.1: the key under which a private key is to be sent */
  decryptKeyIdentifier: '1.2.840.113549.1.9.16.2.37',
  asymmetricDecryptKeyIdentifier: '1.2.840.113549.1.9.16.2.54',
  infoTemplate: '1.2.840.113549.1.9.16.2.61',
  extensionRequestTemplate: '1.2.840.113549.1.9.16.2.62',
} as const;

/** CMS content types (RFC 5652 4, 5.1, 6.1). */
export const contentType = {
  data: '1.2.840.113549.1.7.1',
  signedData: '1.2.840.113549.1.7.2',
  envelopedData: '1.2.840.113549.1.7.3',
} as const;

/** Signed attributes of CMS (RFC 5652 11, RFC 6211, RFC 5035 3). */
export const cmsAttribute = {
  contentType: '1.2.840.113549.1.9.3',
  messageDigest: '1.2.840.113549.1.9.4',
  signingTime: '1.2.840.113549.1.9.5',
  algorithmProtection: '1.2.840.113549.1.9.52',
  signingCertificateV2: '1.2.840.113549.1.9.16.2.47',
} as const;

/** Basic OCSP response (RFC 6960 4.2.1) and nonce (RFC 9654 2.1). */
export const ocspId = { basic: '1.3.6.1.5.5.7.48.1.1', nonce: '1.3.6.1.5.5.7.48.1.2' } as const;
