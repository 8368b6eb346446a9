// DSSE 1.0 (github.com/secure-systems-lab/dsse): the envelope in which tools expect a signed statement.

/** The media type of in-toto statements. */
const payloadType = 'application/vnd.in-toto+json';

/** A signature over `encodeForSigning`. `keyId` is a hint for those who have several keys. */
export type EnvelopeSignature = { readonly keyId: string; readonly signature: Uint8Array };

/** The octets that are signed, PAE: type and payload, each with its length before it. */
export function encodeForSigning(payload: Uint8Array, type: string = payloadType): Uint8Array {
  const head = `DSSEv1 ${Buffer.byteLength(type)} ${type} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

/** One line of JSON, as files of attestations (.intoto.jsonl) have it. */
export function formatEnvelope(payload: Uint8Array, signatures: readonly EnvelopeSignature[]): string {
  const described = signatures.map(({ keyId, signature }) => ({ keyid: keyId, sig: Buffer.from(signature).toString('base64') }));
  return `${JSON.stringify({ payloadType, payload: Buffer.from(payload).toString('base64'), signatures: described })}\n`;
}
