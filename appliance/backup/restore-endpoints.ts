// The endpoint for the days after a restore, which ends credentials that may be from before it.
import { z } from 'zod';
import { endOtherCredentials } from '../../core/access/earlier-credentials.ts';
import { type AnyEndpoint, defineEndpoint } from '../../core/http/endpoint.ts';
import { tags } from '../../core/http/tags.ts';
import type { OpenStore } from '../../core/store/open.ts';
import { requireRestoration } from './restoration.ts';

const shared = { tag: tags.system, access: 'token', method: 'POST', operation: 'execute', audit: 'required' } as const;

/** It needs the root policy in the system tenant. */
export function restoreEndpoints(store: OpenStore): AnyEndpoint[] {
  return [
    defineEndpoint({
      ...shared,
      path: '/v1/state/system/end-credentials',
      act: 'change-trust',
      summary: 'After a restore, end all tokens and secret-ids that the token of this request has not made',
      description:
        'Those of all tenants: some of them had ended or were used up after the backup, nobody knows which, and what they have made since may stand alone. The token of this request goes on, and so do tokens that descend from it, secret-ids and root tokens that it has made since, and what their logins gave. A tenant whose root token ends may be given one once more with `token/create-root`.',
      output: z.object({
        tokens: z.int().min(0).meta({ description: 'Tokens that were ended.', example: 12 }),
        secretIds: z.int().min(0).meta({ description: 'Secret-ids that were ended.', example: 3 }),
      }),
      commandLine: { ends: 'ends every token and secret-id of all tenants, but for the token that asks and what it has made' },
      errors: ['not-found', 'operation-refused'],
      reservedFor: 'system-root',
      async run(call) {
        const { tenantId, accessor } = call.caller;
        const ended = await endOtherCredentials(store, { tenantId, accessor }, requireRestoration(store));
        call.noteAudit({ requestParameters: { tokens: ended.tokens, 'secret-ids': ended.secretIds } });
        return ended;
      },
    }),
  ];
}
