// import-revocations: takes in what was revoked after the backup from which the appliance was restored.
import { z } from 'zod';
import { fail } from '../../../core/base/errors.ts';
import { readDer } from '../../../core/base/texts/pem.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import { type AnyEndpoint, defineEndpoint, type EndpointCall } from '../../../core/http/endpoint.ts';
import type { CaContext } from '../context.ts';
import { requireNewestGeneration } from '../records/records.ts';
import { type KeptCrl, readKeptCrl } from '../status/kept-crl.ts';
import { takeInRevocations } from '../status/revocation.ts';
import { findCa, type FoundCa } from '../authority/lookup.ts';
import { caPath, findCaOf, noKey } from './action.ts';
import { concernedBy, revoking, serialField } from './revoke.ts';
import { caTag } from '../tags.ts';

/** Limit of a body: some 80,000 entries. Longer lists come in parts, as serial numbers. */
const longestList = 4 << 20;
const mostSerials = 100_000;

export function importRevocations(context: CaContext): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${caPath}/import-revocations`,
    summary: 'Revoke what a list of this CA that was kept says is revoked',
    description:
      'After a restore: the backup knows nothing of what was revoked after it was made. `crl` is a revocation list that this CA published, as somebody kept it; its signature is verified, and dates and reasons are taken from it. `serials` are serial numbers from elsewhere, and need `execute` of `…/revoke` as well. Certificates that were issued after the backup are revoked too, although the CA does not know them.',
    tag: caTag,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    act: 'destroy',
    fieldRights: [{ field: 'serials', operation: 'execute', path: `${caPath}/revoke` }],
    auditFields: ['crl', 'serials'],
    errors: ['ca-has-no-key'],
    input: z.object({
      crl: z
        .string()
        .max(longestList)
        .optional()
        .meta({ description: 'The list: base64 of its DER, or PEM.', example: 'MIIBCjCBsQIBATAKBggqhkjOPQQDAg==' }),
      serials: z.array(serialField()).max(mostSerials).optional().describe('Serial numbers.'),
    }),
    output: z.object({
      revoked: z.int().min(0).meta({ description: 'Certificates that are revoked now and were not before.', example: 2 }),
      neverIssued: z
        .int()
        .min(0)
        .meta({ description: 'Serial numbers that the CA does not know, listed and refused from now on.', example: 1 }),
      knownBefore: z.int().min(0).meta({ description: 'Those that were revoked already.', example: 40 }),
    }),
    commandLine: { input: 'crl', ends: 'revokes the certificates, which cannot be taken back' },
    concerns: (call, { crl, serials = [] }) => concernedBy(context, call, [...serials, ...listedIn(context, call, crl)]),
    find: findCaOf(context, 'act'),
    async run(call, { crl, serials = [] }, ca) {
      if (ca.record.keyType === undefined) throw noKey(ca);
      // A list was signed by the CA; who names certificates chooses what is revoked.
      const there = ['v1', 'state', 'keystore', 'tls', 'ca', ca.record.name, 'revoke'];
      if (serials.length > 0) call.access.requireEffectAt(there, 'execute', revoking(serials, 'unspecified'));
      if (crl === undefined && serials.length === 0) throw fail('invalid-value', { detail: 'Give "crl" or "serials".' });
      const kept = crl === undefined ? undefined : requireKept(ca, crl);
      const at = formatTimestamp(call.now);
      const listed = kept?.entries ?? [];
      const named = new Set(listed.map(({ serial }) => serial));
      const own = [...new Set(serials)]
        .filter((serial) => !named.has(serial))
        .map((serial) => ({ serial, at, reason: 'unspecified' as const }));
      const newest = requireNewestGeneration(ca.record);
      const taken = await takeInRevocations(context, ca, [
        ...(kept === undefined ? [] : [{ generation: kept.generation, entries: listed, number: kept.number }]),
        { generation: newest, entries: own, number: 0 },
      ]);
      call.noteAudit({
        requestParameters: { revoked: taken.revoked, 'never-issued': taken.neverIssued, 'known-before': taken.knownBefore },
      });
      return taken;
    },
  });
}

/** The serial numbers of a list that this CA has signed. */
function listedIn(context: CaContext, { caller, params }: EndpointCall, crl: string | undefined): readonly string[] {
  const ca = crl === undefined ? undefined : findCa(context, caller.tenantId, params['name'] ?? '');
  const [der] = crl === undefined ? [] : (readDer(crl, 'X509 CRL') ?? []);
  const kept = ca === undefined || der === undefined ? undefined : readKeptCrl(ca, der);
  return kept?.entries.map(({ serial }) => serial) ?? [];
}

function requireKept(ca: FoundCa, text: string): KeptCrl {
  const [der, ...others] = readDer(text, 'X509 CRL') ?? [];
  const kept = der === undefined || others.length > 0 ? undefined : readKeptCrl(ca, der);
  if (kept !== undefined) return kept;
  throw fail('invalid-value', { detail: '"crl" must be a revocation list that a key of this CA has signed: base64 of its DER, or PEM.' });
}
