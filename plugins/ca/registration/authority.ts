// A registration authority at work: it opens the content keys of requests and signs answers, both with its key in the token.
import { hash as hashOf, randomBytes, verify } from 'node:crypto';
import type { AnswerSigner, RegistrationAuthority } from '../../../core/plugin/services/registration-authority.ts';
import { HsmError } from '../../../hsm/api.ts';
import { registrationReference } from '../authority/registration-key.ts';
import type { CaContext } from '../context.ts';
import { publicKeyObject } from '../der/public-key.ts';
import type { CaGeneration, Registration } from '../records/records.ts';
import { requireCaAlgorithm } from '../authority/algorithms.ts';

/** `registrations`: newest first. Its token time is that of the unauthenticated callers of the tenant. */
export function registrationAuthority(
  context: CaContext,
  ca: { readonly tenantId: string; readonly caId: string },
  registrations: readonly [Registration, ...Registration[]],
): RegistrationAuthority {
  const [newest] = registrations;
  // Messages are decrypted and answered before anybody knows who has sent them: they use up no quota of the tenant.
  const askedBy = `anybody of ${ca.tenantId}` as const;
  const referenceOf = ({ number, key }: Registration) => ({ ...registrationReference(ca, number), stored: key.stored });
  return {
    certificate: newest.certificate,
    certificates: registrations.map(({ certificate }) => certificate),
    async openKey(certificate, transport, encryptedKey, bytes) {
      const registration = registrations.find((one) => one.certificate === certificate);
      if (registration === undefined) throw new TypeError('the certificate is not one of this registration authority');
      const reference = referenceOf(registration);
      if (transport.padding === 'pkcs1v15') return context.hsm.decryptPkcs1(reference, bytes, encryptedKey, askedBy);
      const opened = await context.hsm.decryptOaep(reference, transport.hash, encryptedKey, askedBy).catch(rejected);
      return opened?.length === bytes ? opened : randomBytes(bytes);
    },
    sign(hash, octets) {
      const publicKey = publicKeyObject(newest.key.publicKey);
      const scheme = { scheme: 'rsa-pkcs1v15', hash, digest: hashOf(hash, octets, 'buffer') } as const;
      return context.hsm.sign(referenceOf(newest), scheme, (signature) => verify(hash, octets, publicKey, signature), askedBy);
    },
  };
}

/** Signs answers with a registration; its token time is that of the unauthenticated callers of the tenant, as above. */
export function answerSigner(
  context: CaContext,
  { issuer, ...ca }: { readonly tenantId: string; readonly caId: string; readonly issuer: CaGeneration },
  { number, key, certificate }: Registration,
): AnswerSigner {
  const algorithm = requireCaAlgorithm(key);
  return {
    certificate,
    issuers: [issuer.certificate, ...issuer.chain],
    algorithm: algorithm.identifier,
    async sign(octets) {
      const holds = (raw: Uint8Array): boolean => algorithm.holds(publicKeyObject(key.publicKey), octets, algorithm.encodeSignature(raw));
      const reference = { ...registrationReference(ca, number), stored: key.stored };
      return algorithm.encodeSignature(await context.hsm.sign(reference, algorithm.scheme(octets), holds, `anybody of ${ca.tenantId}`));
    },
  };
}

/** A refusal of the padding tells nobody more than a key that does not fit. */
function rejected(error: unknown): undefined {
  if (!(error instanceof HsmError && error.kind === 'decryption-failed')) throw error;
}
