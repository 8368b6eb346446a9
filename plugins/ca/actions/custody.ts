// custody: a signed statement of what the token says of a key of a CA.
import { hash } from 'node:crypto';
import { z } from 'zod';
import { fail } from '../../../core/base/errors.ts';
import { type AnyEndpoint, defineEndpoint } from '../../../core/http/endpoint.ts';
import { readVersion, versionParameter } from '../../../core/http/request/version-parameter.ts';
import { statementField } from '../../../core/wire/fields.ts';
import type { CustodyStatements } from '../../../core/plugin/services/custody-statements.ts';
import { ledgerReference } from '../authority/generation.ts';
import { findGeneration, type FoundCa } from '../authority/lookup.ts';
import type { CaContext } from '../context.ts';
import { newestGeneration } from '../records/records.ts';
import { caTag } from '../tags.ts';
import { caPath, findCaOf, noKey } from './action.ts';

const outputSchema = z.object({
  statement: statementField(),
  generation: z.int().describe('Generation of the key that it is about.'),
});

const keyType = ['key/type', 'key/thumbprint', 'custody/object', 'custody/vendor', 'custody/wrapping-key/content'];

/** Fields of a CA, each with the claims from which it follows. */
const told = {
  uuid: ['key/id'],
  subject: ['key/subject'],
  'cert-key-type': keyType,
  'cert-key-curve': keyType,
  'cert-key-bits': keyType,
  'ca-cert': ['key/certificate-sha256', 'key/thumbprint'],
  'key-version': ['key/generation'],
} as const;

/** Statement without a history: a CA key is generated in the token, and nothing exports it. */
export function custodyOfCa(context: CaContext, statements: CustodyStatements): AnyEndpoint {
  return defineEndpoint<unknown, z.output<typeof outputSchema>, FoundCa>({
    method: 'GET',
    path: `${caPath}/custody`,
    summary: 'A signed statement about the custody of a CA key',
    description:
      'What the token says of the key now: attributes, serial number, firmware. CA keys are made in the token and cannot leave it; where several tokens share their keys, they are wrapped. Verifiable offline, with `keystorectl custody verify` or any JWS library.',
    named: 'CaCustody',
    tag: caTag,
    access: 'token',
    operation: 'read',
    audit: 'required',
    query: { generation: versionParameter('The generation of the key: `latest` (default) or a number; a renewal adds one.') },
    output: outputSchema,
    commandLine: { output: 'statement' },
    errors: ['ca-has-no-key', 'key-object-missing', 'token-not-configured', 'conflict'],
    find: findCaOf(context, 'read'),
    async run(call, _input, ca) {
      const { tenantId, record } = ca;
      const newest = newestGeneration(record);
      if (newest === undefined) throw noKey(ca);
      const found = findGeneration(record, readVersion(call, 'generation', newest.generation));
      if (found === undefined) throw fail('not-found', { detail: 'The CA has no key of this generation.' });
      const { generation, certificate, key } = found;
      call.noteAudit({ keyVersion: generation });
      const { id, name, subject } = record;
      const statement = await statements.sign({
        ...{ call, publicKey: key.publicKey, reference: ledgerReference({ tenantId, caId: id }, found) },
        path: `/v1/state/keystore/tls/ca/${name}`,
        key: { name, id, generation, type: key.type, subject, origin: 'generated', 'certificate-sha256': hash('sha256', certificate) },
        claims: { history: { exportable: false } },
        told,
      });
      return { statement, generation };
    },
  });
}
