// Reasons for the failure of an unseal, for the person who gives the PIN: reasons that would refuse a start are found before the PIN is
// used, and named.
import type { Configuration } from '../../core/config/config.ts';
import { fail, ServiceError } from '../../core/base/errors.ts';
import { HsmError } from '../../hsm/api.ts';
import { neededParts } from '../cluster/replication/taking-part.ts';
import { requireKinds } from '../data-directory/data-directory.ts';
import { causeAndRemedy, isAboutCluster, refusalFor, StartRefused } from '../start-refused.ts';
import { requireSoundStore } from '../data-directory/store-files.ts';
import { requireParts } from '../data-directory/traces.ts';
import { requireTlsKeyModules } from '../tls/engine.ts';

/** As a start does before it opens anything. Throws StartRefused. */
export async function requireOpenable(configuration: Configuration): Promise<void> {
  requireKinds(configuration.data);
  requireParts(configuration.data, neededParts(configuration));
  requireTlsKeyModules(configuration);
  await requireSoundStore(configuration.data, configuration.cluster !== undefined);
}

/** The token error behind the refusal of a start. */
export function hsmErrorOf(error: unknown): HsmError | undefined {
  return error instanceof StartRefused && error.cause instanceof HsmError ? error.cause : undefined;
}

/**
 * The answer to an unseal that ended with an error: `data-damaged` with the sentence that a start would end with, `cluster-unavailable`, or
 * `hsm-unavailable` for a token that is not in the data directory. Undefined for a fault of this software.
 */
export function refusalOfUnseal(error: unknown, { data, hsm }: Pick<Configuration, 'data' | 'hsm'>): ServiceError | undefined {
  if (error instanceof ServiceError) return error;
  const refusal = refusalFor(error, data);
  if (refusal === undefined) return undefined;
  if (isAboutCluster(refusal)) return fail('cluster-unavailable', { cause: refusal });
  const cause = hsmErrorOf(refusal);
  if (cause !== undefined && hsm.tokens.length > 0) return fail('hsm-unavailable', { cause });
  const sentence = causeAndRemedy(refusal);
  const detail = `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}. The appliance stays sealed: unseal it again when that is mended; no restart is needed.`;
  return fail('data-damaged', { detail, cause: new Error(sentence) });
}
