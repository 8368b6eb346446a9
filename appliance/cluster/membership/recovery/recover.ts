// The steps of a recovery, each of which can be repeated: a start is refused until the last one is done.
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { chainNames } from '../../../../core/audit/chains.ts';
import { openAuditTrail } from '../../../../core/audit/trail.ts';
import type { Clock, Log } from '../../../../core/base/context.ts';
import { syncDirectory, writeDurably } from '../../../../core/base/durable-files.ts';
import { formatTimestamp } from '../../../../core/base/time.ts';
import { readPosition, standAlone } from '../../../../core/store/replica.ts';
import { provideIdentity } from '../identity.ts';
import { paths } from '../../../data-directory/paths.ts';
import { formatMark, restoredMark } from '../../../backup/restoration.ts';
import { parseFile, StartRefused } from '../../../start-refused.ts';

const recovered = z.object({
  /** that it had in its cluster */
  id: z.string(),
  /** up to which it has the shared store */
  revision: z.int(),
});
export type Recovered = z.output<typeof recovered>;

/**
 * Finds the state to be recovered; of an interrupted recovery, the state that it began with. Throws StartRefused for a missing or
 * incomplete one.
 */
export async function requireRecoverable(data: string): Promise<Recovered> {
  if (existsSync(paths.recovering(data)))
    return parseFile(
      paths.recovering(data),
      (text) => recovered.parse(JSON.parse(text)),
      'put the file back from your backup, or restore a backup of the appliance into an empty directory',
    );
  const position = existsSync(join(paths.store(data), 'data.mdb')) ? await readPosition(paths.store(data)) : undefined;
  if (position === undefined) throw new StartRefused(`${paths.store(data)} is not a replica of a cluster: there is nothing to recover`);
  if (position.filling === true) {
    throw new StartRefused(
      `${paths.store(data)} was being filled from the others and is incomplete: recover another appliance, or restore a backup`,
    );
  }
  return { id: provideIdentity(data), revision: position.revision };
}

export async function recoverAlone(
  data: string,
  found: Recovered,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<void> {
  writeDurably(paths.recovering(data), JSON.stringify(found));
  const former = `${paths.audit(data)}-${found.id}`;
  // The chains of the trail are named by the identity that ends here.
  if (existsSync(paths.audit(data)) && !existsSync(former)) renameSync(paths.audit(data), former);
  mkdirSync(paths.audit(data), { recursive: true, mode: 0o700 });
  syncDirectory(data);
  const trail = await openAuditTrail({ directory: paths.audit(data), chain: chainNames(undefined).supervisor, clock, log });
  await trail.write({
    ...{ kind: 'system', occurredAt: formatTimestamp(clock.now()), requestId: randomUUID(), code: 'cluster-recovered' },
    requestParameters: { appliance: found.id, revision: found.revision, 'former-trail': former },
  });
  await trail.close();
  // The first start drops records about single appliances, as after the restore of a backup.
  const at = formatTimestamp(clock.now());
  writeDurably(restoredMark(data), formatMark({ at, from: 'replica', appliance: found.id, revision: found.revision }));
  await standAlone(paths.store(data));
  rmSync(paths.member(data), { recursive: true, force: true });
  rmSync(paths.clusterIdentity(data), { force: true });
  syncDirectory(data);
  rmSync(paths.recovering(data));
  syncDirectory(data);
}

/** Throws StartRefused while a recovery is half done. */
export function requireNotRecovering(data: string): void {
  if (!existsSync(paths.recovering(data))) return;
  throw new StartRefused(`${paths.recovering(data)} says that a recovery was cut off: run "keystored recover-cluster" with --yes again`);
}
