// The `explain` action: whether a certificate would log in by a role, and why not.
import { z } from 'zod';
import { fail } from '../../../core/base/errors.ts';
import { certificateLabels, readDer } from '../../../core/base/texts/pem.ts';
import { requireTold } from '../../../core/http/checks/told.ts';
import { defineEndpoint, type AnyEndpoint } from '../../../core/http/endpoint.ts';
import { pemExample } from '../../../core/wire/fields.ts';
import { certificateTag, type Logins } from '../context.ts';
import { rolePath } from '../settings/role.ts';
import { asks } from '../responders.ts';
import type { RoleRecord } from '../role-record.ts';
import { authorityOf, fetchAgainSeconds, hints, judge, problems } from './judge.ts';

const input = z.object({
  certificate: z
    .string()
    .min(1)
    .max(65_536)
    .meta({
      description: 'The certificate in PEM, and after it the CAs in between that the client sends.',
      example: pemExample('CERTIFICATE'),
    }),
});
const output = z.object({
  outcome: z.enum(['accepted', 'refused']).meta({ typeName: 'CertificateOutcome' }).describe('`accepted` if it would log in.'),
  reason: z.enum(problems).meta({ typeName: 'CertificateProblem' }).optional().describe('The check that refuses it.'),
  explanation: z.string().meta({ description: 'The same in a sentence.', example: 'sensor-17 logs in, and gets user.' }),
  holder: z.string().optional().meta({ description: 'Name of its holder.', example: 'sensor-17' }),
});
type Explanation = z.output<typeof output>;

const ofRole = [
  'trust-ca',
  'name-from',
  'names',
  'issued-via',
  'revocation',
  'crl',
  'crl-urls',
  'ocsp-urls',
  'ocsp-from-certificate',
  'token-policies',
];

export function explainEndpoint(logins: Logins): AnyEndpoint {
  return defineEndpoint<z.output<typeof input>, Explanation, RoleRecord>({
    method: 'POST',
    path: `/v1/state/${rolePath}/{name}/explain`,
    summary: 'Say whether a certificate would log in, and why not',
    description:
      'Judges the certificate as a login does, but for the key, which only a TLS client can prove. Refused where policies hide what it tells of the role.',
    idempotent: true,
    tag: certificateTag,
    access: 'token',
    operation: 'execute',
    act: 'none',
    audit: 'required',
    auditFields: ['certificate'],
    input,
    output,
    errors: ['not-found'],
    find({ caller, params }) {
      const role = logins.roles.get([caller.tenantId, params['name'] ?? '']);
      if (role === undefined) throw fail('not-found', { detail: 'There is no such certificate role.' });
      return role;
    },
    async run(call, { certificate }, role) {
      requireTold(call, [{ path: [...rolePath.split('/'), role.name], fields: ofRole, is: 'the role' }]);
      const [leaf, ...intermediates] = readDer(certificate, ...certificateLabels) ?? [];
      if (leaf === undefined)
        throw fail('invalid-value', { detail: '"certificate" must be certificates in PEM, the one of the client first.' });
      const { tenantId } = call.caller;
      await logins.lists.fetch(tenantId, role.crlUrls ?? [], fetchAgainSeconds);
      logins.store.refresh();
      const authority = authorityOf(logins, tenantId, role);
      const questions = asks(role) ? (authority?.questions({ leaf, intermediates }) ?? []) : [];
      const answers = await logins.responders.ask(tenantId, role, questions);
      const judged = judge(logins, tenantId, authority, role, { leaf, intermediates }, answers);
      if ('problem' in judged) {
        const more = judged.problem === 'no-revocation-list' ? logins.responders.problems(tenantId, role, questions) : [];
        return { outcome: 'refused' as const, reason: judged.problem, explanation: [hints[judged.problem], ...more].join(' ') };
      }
      const gets = role.tokenPolicies.length === 0 ? 'no policies' : role.tokenPolicies.join(', ');
      return { outcome: 'accepted' as const, explanation: `${judged.name} logs in, and gets ${gets}.`, holder: judged.name };
    },
  });
}
