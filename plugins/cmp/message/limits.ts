// Limits of a message, checked before and while it is read.

/** Ample for every client seen: a message with a chain of ML-DSA certificates has less than 40 kB. */
export const messageLimits = {
  /** of the whole message */
  octets: 128 * 1024,
  /** of transactionID, nonces and key identifiers */
  identifier: 128,
  certificates: 16,
  /** entries of generalInfo, and of a general message */
  information: 32,
  /** messages that one carries for a registration authority */
  nested: 16,
} as const;

/** Limits of the sender's choice for its MAC, on which the work of judging it depends (RFC 4211 section 4.4 asks for a hundred rounds at least). */
export const macLimits = {
  leastIterations: 100,
  mostIterations: { passwordBased: 100_000, pbmac1: 300_000 },
  leastSalt: 8,
  mostSalt: 128,
} as const;
