// Action rotate: makes a new version, which restarts auto-rotate and obeys activate-after.
import { defined } from '../../../core/base/defined.ts';
import { type AnyEndpoint, Reply } from '../../../core/http/endpoint.ts';
import { fail } from '../errors.ts';
import { microseconds } from '../instants.ts';
import { requireNamedKeys } from '../versions/attached.ts';
import { addVersion } from '../versions/new-version.ts';
import type { KeyRecord } from '../records/records.ts';
import type { Transit } from '../context.ts';
import { defineKeyAction } from './action.ts';

/** POST …/rotate */
export function rotate(transit: Transit): AnyEndpoint {
  return defineKeyAction<unknown, never>(transit, 'rotate', {
    summary: 'Make a new version',
    description:
      'The new version encrypts and signs at once, or after `activate-after` of auto-rotate. Older versions go on decrypting and verifying until the rules of the key end them. The clock of auto-rotate starts again.',
    audit: 'required',
    act: 'none',
    usesNamed: transit.attachments.namedFields,
    successStatus: 204,
    errors: ['operation-not-supported', 'unsupported-cipher', 'version-exhausted', 'conflict'],
    run: async (call, _input, key) => {
      const number = await addVersion(transit, key.tenantId, key.name, microseconds(call.now), (record) => {
        requireNamedKeys(transit, call.access, record);
        return requireRotatable(record);
      });
      call.noteAudit(defined({ keyVersion: number }));
      return new Reply(204);
    },
  });
}

/** Generates the new version; throws operation-not-supported for a key without private part. */
export function requireRotatable(record: KeyRecord): Record<string, never> {
  if (record.verificationOnly) throw fail('operation-not-supported', { detail: 'The key was made from a public key: it only verifies.' });
  return {};
}
