// Numbers of TLS (RFC 8446 sections 4 and 5.1).

/** Octets of the header of a record, and types of records. */
export const record = { header: 5, changeCipherSpec: 20, alert: 21, handshake: 22, encrypted: 23 } as const;

/** Octets of the header of a handshake message, and types of messages. */
export const message = {
  ...{ header: 4, clientHello: 1, serverHello: 2, encryptedExtensions: 8, certificate: 11, certificateRequest: 13, finished: 20 },
} as const;
