// renew: gives a CA a new key and certificate; a root also gets roll-over certificates.
import { z } from 'zod';
import { inTurn } from '../../../core/base/async/turns.ts';
import { fail, isOvertaken } from '../../../core/base/errors.ts';
import { type AnyEndpoint, defineEndpoint } from '../../../core/http/endpoint.ts';
import { namedFieldsOf, requireNamed } from '../../../core/http/named-entries.ts';
import { pemExample, timestamp } from '../../../core/wire/fields.ts';
import type { FoundCa } from '../authority/lookup.ts';
import { formatCertificatePem, readCertificate } from '../der/certificate.ts';
import type { CaContext } from '../context.ts';
import { caDocument } from '../document.ts';
import { failCa } from '../errors.ts';
import { discardGeneration, isSignedOutside, keepGeneration, makeCaGeneration } from '../life.ts';
import type { CaGeneration } from '../records/records.ts';
import { caPath, changeCa, deletedMeanwhile, findCaOf, noKey } from './action.ts';
import { caTag } from '../tags.ts';

/** Attempts at a renewal; each fails only when another process has renewed the CA meanwhile. */
const attempts = 64;

/** The issuer signs again. */
const usesNamed = namedFieldsOf(caDocument.pick({ issuingCa: true }));

export function renew(context: CaContext): AnyEndpoint {
  const find = findCaOf(context, 'renew');
  return defineEndpoint({
    method: 'POST',
    path: `${caPath}/renew`,
    summary: 'Give the CA a new key and certificate; a root also gets roll-over certificates',
    description:
      'Devices get certificates of the new key from now on. Those of the old one stay good until they end, and its revocation list goes on being made.',
    tag: caTag,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    act: 'none',
    usesNamed,
    fieldRights: [{ field: 'name', policy: 'root', when: 'it is that of a CA of the appliance' }],
    errors: ['ca-has-no-key', 'ca-expired', 'signed-outside', 'conflict', 'clock-implausible'],
    output: z.object({
      caCert: z.string().meta({ description: 'The new certificate of the CA.', example: pemExample('CERTIFICATE') }),
      keyVersion: z.int().describe('How often it got a key.'),
      notAfter: timestamp().describe('When the certificate ends.'),
    }),
    commandLine: { output: 'caCert' },
    find,
    run: (call, _input, ca) =>
      inTurn(`ca/${ca.record.id}`, async () => {
        for (let attempt = 1; attempt <= attempts; attempt++) {
          context.store.refresh();
          const present = find(call);
          if (present.record.id !== ca.record.id) throw deletedMeanwhile();
          requireNamed(call.access, usesNamed, present.record);
          const made = await renewOnce(context, present);
          if (made === undefined) continue;
          const { certificate, generation } = made;
          call.noteAudit({ keyVersion: generation });
          return { caCert: formatCertificatePem(certificate), keyVersion: generation, notAfter: readCertificate(certificate).notAfter };
        }
        throw fail('conflict');
      }),
  });
}

/** Renews the CA; undefined if another process renewed it meanwhile; then the new key is destroyed. */
async function renewOnce(context: CaContext, ca: FoundCa): Promise<CaGeneration | undefined> {
  const { keyType, ...record } = ca.record;
  if (keyType === undefined) throw noKey(ca);
  if (isSignedOutside(ca.record)) {
    throw failCa('signed-outside', { detail: 'Have the output of csr signed again by the CA outside, and use import-cert.' });
  }
  const made = await makeCaGeneration(context, { ...record, tenantId: ca.tenantId, caId: record.id, keyType }, ca.record);
  try {
    await changeCa(context, ca, (present, transaction) => {
      if (present.generations.length !== ca.record.generations.length) throw fail('conflict', { overtaken: true });
      keepGeneration(context, transaction, made);
      return { ...present, generations: [...present.generations, made.generation] };
    });
    return made.generation;
  } catch (error) {
    await discardGeneration(context, made);
    if (isOvertaken(error)) return undefined;
    throw error;
  }
}
