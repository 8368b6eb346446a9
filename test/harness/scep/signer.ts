// Signers of messages from certificates in DER.
import { readCertificate } from '../../../plugins/scep/message/certificate.ts';
import { type Signer, withKey } from '../../../plugins/scep/message/key.ts';

/** Reads one DER certificate and its key. */
export function readSigner(der: Uint8Array): Signer {
  return withKey(readCertificate(der));
}
