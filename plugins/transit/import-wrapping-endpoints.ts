// The wrapping keys for imports as callers ask for them: that of the tenant, and one for a single import.
import { z } from 'zod';
import { fail } from '../../core/base/errors.ts';
import { type AnyEndpoint, defineEndpoint } from '../../core/http/endpoint.ts';
import { durationField, pemExample, timestamp } from '../../core/wire/fields.ts';
import type { Transit } from './context.ts';
import { formatPublicKey } from './formats/public-keys.ts';
import { instantOf, microseconds, microsecondsOf } from './instants.ts';
import type { ImportWrappingKeys } from './keys/import-wrapping-key.ts';
import { keyActionsTag } from './tags.ts';
import { defineKeyAction } from './actions/action.ts';

const usualTtlSeconds = 3_600;
const mostTtlSeconds = 86_400;

const wrappingKey = z.string().meta({ description: 'SubjectPublicKeyInfo PEM, RSA-4096.', example: pemExample('PUBLIC KEY') });
const howToWrap =
  'Wrap as RSA-OAEP (SHA-256 and MGF1 with SHA-256, or as the import says) of a fresh AES key, followed by AES key wrap with padding of the material.';

/** GET /v1/state/keystore/wrapping-key, and POST …/import-wrapping-key of a transit key */
export function importWrappingKeyEndpoints(transit: Transit, keys: ImportWrappingKeys): AnyEndpoint[] {
  return [
    defineEndpoint<unknown, { wrappingKey: string }>({
      method: 'GET',
      path: '/v1/state/keystore/wrapping-key',
      summary: 'The public key of the tenant under which keys are wrapped for import',
      named: 'ImportWrappingKey',
      description: `Each tenant has its own. ${howToWrap} For a key that takes one import alone: \`import-wrapping-key\` of the transit key.`,
      tag: keyActionsTag,
      access: 'token',
      operation: 'read',
      audit: 'required',
      output: z.object({ wrappingKey }),
      errors: ['not-found'],
      async run({ caller: { tenantId, isVisitor } }) {
        const key = isVisitor === true ? keys.presentOf(tenantId) : await keys.keyOf(tenantId);
        if (key === undefined)
          throw fail('not-found', {
            detail:
              'The tenant has no such key yet, and who has the tenant open to read makes none: it is made when somebody of the tenant reads it.',
          });
        return { wrappingKey: formatPublicKey(key.publicKey) };
      },
    }),
    defineKeyAction(transit, 'import-wrapping-key', {
      summary: 'Make a wrapping key for one import into this key',
      description: `It opens one import into this transit key, named by \`import-id\`, and ends then or after \`ttl\`. Another one takes its place. ${howToWrap}`,
      audit: 'required',
      act: 'none',
      named: 'ImportWrappingKeyOfOne',
      input: z.object({
        ttl: durationField({ minSeconds: 60, maxSeconds: mostTtlSeconds })
          .optional()
          .meta({ description: 'How long it can be used, at most 1d.', example: '2h', 'x-default': '1h' }),
      }),
      auditFields: ['ttl'],
      output: z.object({
        wrappingKey,
        importId: z.uuid().describe('Given with the import.'),
        expires: timestamp().describe('When it ends, used or not.'),
      }),
      errors: ['conflict'],
      async run(call, { ttl }, key) {
        const ttlSeconds = ttl?.seconds ?? usualTtlSeconds;
        const expiresAt = microseconds(call.now) + microsecondsOf(ttlSeconds);
        const { id, publicKey } = await keys.makeFor(key, expiresAt);
        call.noteAudit({ requestParameters: { ttl: ttl?.text ?? `${ttlSeconds}s`, 'import-id': id } });
        return { wrappingKey: formatPublicKey(publicKey), importId: id, expires: instantOf(expiresAt) };
      },
    }),
  ];
}
