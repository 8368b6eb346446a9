// Refusals of PKCS#11 calls, by the return values of the standard (PKCS#11 3.1 section 5.1).

/** Return values that a token behind p11-kit gives. */
export const rv = {
  ok: 0x0,
  slotInvalid: 0x3,
  attributeSensitive: 0x11,
  attributeTypeInvalid: 0x12,
  dataInvalid: 0x20,
  dataLength: 0x21,
  deviceError: 0x30,
  deviceMemory: 0x31,
  functionNotSupported: 0x54,
  keyHandleInvalid: 0x60,
  keyTypeInconsistent: 0x63,
  keyFunctionNotPermitted: 0x68,
  mechanismInvalid: 0x70,
  mechanismParameterInvalid: 0x71,
  objectHandleInvalid: 0x82,
  operationActive: 0x90,
  operationNotInitialized: 0x91,
  sessionCount: 0xb1,
  sessionHandleInvalid: 0xb3,
} as const;

/** Ends a call with a CK_RV. */
export class Refused extends Error {
  readonly rv: number;

  constructor(rv: number, message = `CK_RV 0x${rv.toString(16)}`) {
    super(message);
    this.rv = rv;
  }
}

export function refuse(rv: number): never {
  throw new Refused(rv);
}
