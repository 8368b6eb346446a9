// Object identifiers of CMP (RFC 9810 appendix F) and CRMF (RFC 4211 appendix B).

export const macId = {
  passwordBased: '1.2.840.113533.7.66.13',
  pbmac1: '1.2.840.113549.1.5.14',
  pbkdf2: '1.2.840.113549.1.5.12',
} as const;

/** Kinds of information in a header or in a general message. */
export const infoType = {
  currentCrl: '1.3.6.1.5.5.7.4.6',
  implicitConfirm: '1.3.6.1.5.5.7.4.13',
  confirmWaitTime: '1.3.6.1.5.5.7.4.14',
  caCerts: '1.3.6.1.5.5.7.4.17',
  rootCaKeyUpdate: '1.3.6.1.5.5.7.4.18',
  certReqTemplate: '1.3.6.1.5.5.7.4.19',
  rootCaCert: '1.3.6.1.5.5.7.4.20',
  crlStatusList: '1.3.6.1.5.5.7.4.22',
  crls: '1.3.6.1.5.5.7.4.23',
} as const;

export const control = { oldCertId: '1.3.6.1.5.5.7.5.1.5' } as const;
