// serverkeygen (RFC 7030 4.4): a key made in the token for a device, sent encrypted to the key of the certificate that the device shows.
import { concat } from '../../../core/base/bytes.ts';
import { encodeCertsOnly } from '../../../core/cms/certs-only.ts';
import { encryptKeyPackage, findReceiver } from '../../../core/cms/key-package.ts';
import type { VerifiedRequest } from '../../../core/plugin/services/certificate-authority.ts';
import { objectIdentifier, octetString } from '../../../core/der/der.ts';
import { extensionId } from '../../../core/der/oids.ts';
import { clientCertificateOf } from '../../../core/tls/client-certificate.ts';
import type { EstCall, EstContext } from '../context.ts';
import { failEst, failRequest } from '../errors.ts';
import { answerParts, type EstAnswer } from '../listener/transport.ts';
import { authenticateFirst, describeCredentials } from './client-auth.ts';
import { accepted, issueRecorded, readRequest } from './enrolment.ts';

/** A first enrolment, by the same credentials and rules. Names and kind of key are those of the request, whose own key is certified nowhere. */
export async function serverKeygen(context: EstContext, call: EstCall): Promise<EstAnswer> {
  const credential = await accepted(context, call, () => authenticateFirst(context, call));
  call.accept({ ...describeCredentials(context, call), credential });
  const recipient = clientCertificateOf(call.socket)?.leaf;
  const asked = await readRequest(call);
  if (recipient === undefined || findReceiver(recipient) === undefined)
    throw failRequest('invalid-csr', {
      detail:
        'The private key is sent encrypted to the key of the client certificate: show one with a key for RSA (2,048 bits or more, not RSASSA-PSS), or ECDSA on P-256, P-384 or P-521, beside the shared secret too.',
    });
  requireDecryptKey(asked, recipient);
  // Refused before the token makes a key.
  asked.approve();
  return context.keyPlaces.run(call, () => makeInPlace(context, call, asked, { credential, recipient }));
}

/**
 * Throws `invalid-csr` where the request names another key for the encryption than that of the certificate (RFC 7030 sections 4.4.1.1 and 4.4.1.2): the device
 * would get a certificate, and a key that it may not be able to open.
 */
function requireDecryptKey({ decryptKey }: VerifiedRequest, recipient: Uint8Array): void {
  if (decryptKey === undefined) return;
  if (decryptKey === 'symmetric')
    throw failRequest('invalid-csr', {
      detail:
        'The request names a symmetric key for the encryption of its private key (DecryptKeyIdentifier), which this server does not have: leave that out, and the private key is sent encrypted to the key of the client certificate.',
    });
  const named = concat(objectIdentifier(extensionId.subjectKeyIdentifier), octetString(octetString(decryptKey)));
  if (Buffer.from(recipient.buffer, recipient.byteOffset, recipient.length).includes(named)) return;
  throw failRequest('invalid-csr', {
    detail:
      'The request names another key for the encryption of its private key (AsymmetricDecryptKeyIdentifier) than that of the client certificate: give the subjectKeyIdentifier of this certificate, or leave it out.',
  });
}

async function makeInPlace(
  context: EstContext,
  call: EstCall,
  asked: VerifiedRequest,
  { credential, recipient }: { readonly credential: string; readonly recipient: Uint8Array },
): Promise<EstAnswer> {
  const signer = await call.ca.answerSigner();
  requirePresent(call);
  const made = await asked.makeKey();
  try {
    requirePresent(call);
    const certificate = await issueRecorded(context, call, made.request.approve(), { via: credential });
    const key = await made.take((privateKey) => encryptKeyPackage(privateKey, signer, recipient));
    return answerParts([
      ['key', key],
      ['certificates', encodeCertsOnly([certificate])],
    ]);
  } finally {
    await made.drop();
  }
}

/** Throws `sender-gone`: nobody would get the key, and its certificate would stay valid. */
function requirePresent({ socket }: EstCall): void {
  if (socket.destroyed || !socket.writable) throw failEst('sender-gone');
}
