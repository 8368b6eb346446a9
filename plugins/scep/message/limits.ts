// Limits of a message, checked before and while it is read.

export type MessageLimits = {
  /** of the whole message */
  readonly octets: number;
  /** elements that contain each other, and all elements */
  readonly depth: number;
  readonly elements: number;
  readonly certificates: number;
  /** signed attributes */
  readonly attributes: number;
  readonly recipients: number;
  /** characters of transactionID */
  readonly transactionId: number;
};

/**
 * Ample for every client seen: a message has 3 to 5 kB, 200 elements, up to 14 levels, and a recipient for each certificate of GetCACert;
 * the longest transactionID has 77 characters.
 */
export const messageLimits: MessageLimits = {
  ...{ octets: 64 * 1024, depth: 32, elements: 8_192 },
  ...{ certificates: 16, attributes: 32, recipients: 16, transactionId: 128 },
};
