// The endpoint for the days after a restore, which ends what lets callers in and was made before it.
import { z } from 'zod';
import { endEarlierCredentials } from '../../core/access/earlier-credentials.ts';
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
      summary: 'End all tokens and secret-ids that were made before the restore, and what such secret-ids gave since',
      description:
        'Those of all tenants, with what descends from them: some of them had ended or were used up after the backup, and nobody knows which. So do the tokens of logins since with such a secret-id. The token of this request goes on, and what else was made since. A tenant whose root token ends may be given one once more with `token/create-root`.',
      output: z.object({
        tokens: z.int().min(0).meta({ description: 'Tokens that were ended.', example: 12 }),
        secretIds: z.int().min(0).meta({ description: 'Secret-ids that were ended.', example: 3 }),
      }),
      commandLine: { ends: 'ends every token and secret-id of all tenants that was made before the restore, but for the token that asks' },
      errors: ['not-found', 'operation-refused'],
      reservedFor: 'system-root',
      async run(call) {
        const { tenantId, accessor } = call.caller;
        const ended = await endEarlierCredentials(store, requireRestoration(store), { tenantId, accessor });
        call.noteAudit({ requestParameters: { tokens: ended.tokens, 'secret-ids': ended.secretIds } });
        return ended;
      },
    }),
  ];
}
