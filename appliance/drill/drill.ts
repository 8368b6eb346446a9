// A restore drill: proves that a backup restores, in a directory of its own, without touching the appliance that serves.
import { createPublicKey } from 'node:crypto';
import { join } from 'node:path';
import { auditKeyId, splitPublicKeys } from '../../core/audit/keys.ts';
import { verifyTrails } from '../../core/audit/verify.ts';
import type { CheckFinding, Log } from '../../core/base/context.ts';
import { systemClock } from '../../core/base/time.ts';
import type { Configuration } from '../../core/config/config.ts';
import { provide } from '../../core/plugin/service.ts';
import { appliancesService } from '../../core/plugin/services/appliances.ts';
import { listenersService } from '../../core/plugin/services/listeners.ts';
import { countRecords } from '../../core/store/environment.ts';
import type { OpenStore } from '../../core/store/open.ts';
import { type RestoreOptions, describeOrigin, restoreAppliance } from '../backup/restore.ts';
import { compose } from '../composition/compose.ts';
import { plugins } from '../plugins.ts';
import { auditKeyReferences, auditPublicKeysPem } from '../audit/audit-signing.ts';
import { lastSignedHeads } from '../audit/chain-records.ts';
import { closedAudit, closedListeners, noAppliances } from '../provisioning/without-serving.ts';
import { type GivenPins, hsmConfigOf, withPins } from '../tokens/hsm-config.ts';
import { paths } from '../data-directory/paths.ts';
import { openRuntime, type Runtime } from '../runtime.ts';
import { proveKeys } from './prove-keys.ts';
import { readOnlyHsm } from './read-only-hsm.ts';

export type DrillOptions = Omit<RestoreOptions, 'directory' | 'tokens'> & {
  /** of the appliance, for its tokens and plugins; its `data` is the empty directory of the drill */
  readonly configuration: Configuration;
  /** for tokens whose PIN is not in the backup and not in the configuration; called once the directory has what was restored */
  readonly pins: () => Promise<GivenPins | undefined>;
  /** the audit trail, or a copy of it, of the appliance that made the backup; it is only read */
  readonly auditDirectories: readonly string[];
  readonly log: Log;
  /** Called with a line after each step. */
  readonly say: (line: string) => void;
};

/** Problems that the drill found, and notes that break nothing; entries of the store, and keys that were used, by type. */
export type DrillReport = {
  readonly findings: readonly CheckFinding[];
  readonly notes: readonly CheckFinding[];
  readonly records: number;
  readonly keys: Readonly<Record<string, number>>;
};

/** Throws StartRefused when the backup does not restore at all, or does not fit the configured tokens. */
export async function runDrill(options: DrillOptions): Promise<DrillReport> {
  const { configuration, say, log } = options;
  const directory = configuration.data;
  const tokens = configuration.hsm.tokens.map(({ name, group }) => group ?? name);
  const restored = await restoreAppliance({ ...options, directory, tokens });
  say(`restored${restored.madeAt === undefined ? '' : `: made at ${restored.madeAt}`}; ${describeOrigin(restored.origin)}`);
  const records = await countRecords(paths.store(directory));
  say(`records: ${records}`);
  const findings: CheckFinding[] =
    restored.records === undefined || restored.records === records
      ? []
      : [{ where: 'the store', problem: `has ${records} records, and the manifest says ${restored.records}` }];
  const hsmConfig = await hsmConfigOf(configuration, () => undefined);
  const pins = await options.pins();
  const runtime = await openRuntime(configuration, pins === undefined ? hsmConfig : withPins(hsmConfig, pins), log);
  try {
    const examined = await examine({ ...runtime, hsm: readOnlyHsm(runtime.hsm) }, options);
    findings.push(...examined.findings);
    return {
      findings: findings.filter(({ isNote }) => isNote !== true),
      notes: findings.filter(({ isNote }) => isNote === true),
      ...{ records, keys: examined.keys },
    };
  } finally {
    await runtime.close();
  }
}

async function examine(
  runtime: Runtime,
  { configuration, auditDirectories, log, say }: DrillOptions,
): Promise<Pick<DrillReport, 'findings' | 'keys'>> {
  const composed = await compose({
    ...{ plugins, store: runtime.store, hsm: runtime.hsm, audit: closedAudit, log, clock: systemClock },
    configurationOf: (plugin) => configuration.plugins[plugin],
    services: [provide(listenersService, closedListeners(configuration)), provide(appliancesService, noAppliances)],
  });
  try {
    const checked = await composed.check();
    say(`every record was opened, and the invariants of ${plugins.length} plugins were checked`);
    const keys = await proveKeys(runtime.hsm, both(composed.keys(), auditKeyReferences(runtime.store)));
    const kinds = Object.entries(keys.byType).map(([type, count]) => `${count} ${type}`);
    say(`keys that were loaded and used: ${kinds.length === 0 ? 'none' : kinds.toSorted().join(', ')}`);
    return { findings: [...checked, ...keys.findings, ...(await verifyAudit(runtime.store, auditDirectories, say))], keys: keys.byType };
  } finally {
    await composed.stop();
  }
}

function* both<T>(first: Iterable<T>, second: Iterable<T>): Iterable<T> {
  yield* first;
  yield* second;
}

/** Of the note that the trail was not verified. */
export const trailNote = 'the audit trail';

/** The trail must contain the heads that the store of the backup remembers, under the keys that it holds. */
async function verifyAudit(store: OpenStore, directories: readonly string[], say: DrillOptions['say']): Promise<readonly CheckFinding[]> {
  if (directories.length === 0)
    return [{ where: trailNote, problem: 'is not part of a backup and was not verified: --audit DIR verifies a copy', isNote: true }];
  const keys = splitPublicKeys(auditPublicKeysPem(store)).map((pem) => createPublicKey(pem));
  const known = new Map(keys.map((key) => [auditKeyId(key), key]));
  const { records, chains, lastSigned, findings } = await verifyTrails(directories, known, lastSignedHeads(store));
  say(`audit trail: ${records} records in ${chains.length} chains, signed until ${lastSigned ?? 'never'}`);
  // Of several, the name of a chain says in which it is.
  const [directory, ...others] = directories;
  return findings.map((finding) => (others.length > 0 ? finding : { ...finding, where: join(directory ?? '', finding.where) }));
}
