// Provisions the requirements of serving: token, store key, store, tenant, root token, TLS identity. Every step can be repeated.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Configuration } from '../../core/config/config.ts';
import type { Clock, Log } from '../../core/base/context.ts';
import { reasonOf } from '../../core/base/errors.ts';
import { revealSecret, type Secret } from '../../core/base/secret.ts';
import { openApproleGrants } from '../../core/platform/approles/approle-grants.ts';
import { createSystemTenant } from '../../core/access/system-tenant.ts';
import { openTenants, systemTenantName } from '../../core/access/tenants.ts';
import { byHolder, prepareHolder } from '../../hsm/setup/carry-group.ts';
import type { HsmConfig } from '../../hsm/api.ts';
import type { OpenStore } from '../../core/store/open.ts';
import { startPlugins } from '../../core/plugin/lifecycle.ts';
import { provide } from '../../core/plugin/service.ts';
import { custodyStatementsService } from '../../core/plugin/services/custody-statements.ts';
import type { ListenerIdentity } from '../../core/plugin/services/certificate-authority.ts';
import { wrappingKeysService } from '../../core/plugin/services/wrapping-keys.ts';
import { listenersService } from '../../core/plugin/services/listeners.ts';
import { plugins } from '../plugins.ts';
import { tableKinds } from '../table-kinds.ts';
import { openAudit } from '../audit/audit-signing.ts';
import { offerBootstrap } from './bootstrap.ts';
import { WrappingRotation } from '../wrapping-keys/rotation.ts';
import { noteUnusableTokens } from '../findings/lost-keys.ts';
import { noteContent } from '../findings/store-content.ts';
import { bootstrapCluster } from './bootstrap-cluster.ts';
import { writeDurably } from '../../core/base/durable-files.ts';
import { refusingHsmErrors } from '../tokens/hsm-config.ts';
import { paths } from '../data-directory/paths.ts';
import type { ClusterWay } from '../cluster/cluster-way.ts';
import { beginExportHistory } from '../attestation/export-history.ts';
import { restoredMark } from '../backup/restoration.ts';
import { awaitWrappedKeys, openRuntime, type Runtime } from '../runtime.ts';
import { StartRefused } from '../start-refused.ts';
import { endFirstStart, isFirstStart } from '../data-directory/traces.ts';
import { findStoreToken, keepTokenSerial } from '../data-directory/store-key.ts';
import { dropSealedIdentity, keepSealedIdentity, writeApplianceCa } from '../tls/sealed-identity.ts';
import { ChangingIdentity } from '../tls/listener-identity.ts';
import { closedAudit, closedListeners, closedStatements } from './without-serving.ts';

/** Complete parts that a start has opened. */
export type Provisioned = { readonly runtime: Runtime; readonly announcement: string | undefined };

/**
 * Creates missing parts, and opens tokens and store. At the first start `announcement` names the file of the root token, on a terminal also
 * the token, and commands to try. An interrupted start is finished by the next one. Throws StartRefused; nothing stays open then.
 */
export async function provisionAppliance(
  configuration: Configuration,
  hsmConfig: HsmConfig,
  parts: { readonly clock: Clock; readonly log: Log; readonly cluster: ClusterWay | undefined },
): Promise<Provisioned> {
  const { clock, log, cluster } = parts;
  await prepare(configuration, hsmConfig, parts).catch(async (error: unknown) => {
    await cluster?.close();
    throw error;
  });
  const runtime = await openRuntime(configuration, hsmConfig, log, cluster);
  try {
    keepSerial(configuration, runtime, log);
    if (cluster === undefined) {
      requireNoReplica(configuration, runtime.store);
      await noteContent(runtime.store, { clock, log });
    }
    await runtime.store.migrate('core', []);
    await openApproleGrants(runtime.store);
    const rotation = new WrappingRotation({ ...runtime, clock });
    const isNew = openTenants(runtime.store).findByName(systemTenantName) === undefined;
    if (isNew && cluster === undefined) await rotation.beginStore();
    await noteUnusableTokens({ ...runtime, clock, rotation });
    const announcement = await openSystemTenant(configuration, runtime, clock);
    if (announcement !== undefined) step('made the tenant system and its first credential');
    // Before the mark of a restore is removed there.
    await beginExportHistory(runtime.store, clock, existsSync(restoredMark(configuration.data)));
    await refusingHsmErrors(
      () => openAudit(runtime, configuration.data, configuration.workers, { clock, log, kinds: tableKinds }),
      configuration,
    );
    const identity = await makeListenerIdentity(configuration, runtime, { clock, log, rotation });
    writeApplianceCa(configuration.data, identity);
    if (configuration.attended) keepSealedIdentity(configuration.data, identity.whileSealed);
    else dropSealedIdentity(configuration.data);
    endFirstStart(configuration.data);
    return { runtime, announcement };
  } catch (error) {
    await runtime.close();
    throw error;
  }
}

/** For the next start. The tokens of a cluster get their keys from each other: one that has lost them may be another one. */
function keepSerial({ data, hsm: { tokens }, cluster }: Configuration, { hsm }: Runtime, log: Log): void {
  const isKept = tokens.length === 0 && cluster === undefined;
  try {
    keepTokenSerial(data, isKept ? hsm.status()[0]?.serial : undefined);
  } catch (error) {
    log.warn('the serial number of the token could not be kept: another token in its place would get the PIN', { reason: reasonOf(error) });
  }
}

/** The own keys of the tokens, and in a cluster the shared store; of a cluster that exists, the tokens have their keys. */
async function prepare(
  configuration: Configuration,
  hsmConfig: HsmConfig,
  parts: { readonly clock: Clock; readonly log: Log; readonly cluster: ClusterWay | undefined },
): Promise<void> {
  const { cluster } = parts;
  if (cluster !== undefined && (await awaitWrappedKeys(cluster)) !== undefined) return;
  const storeToken = findStoreToken(configuration.data);
  for (const [name, tokens] of byHolder(hsmConfig.tokens)) {
    // Either it has its keys, or it is another token, in which no keys may be made.
    if (name === storeToken) continue;
    const made = await refusingHsmErrors(() => prepareHolder(tokens), configuration);
    if (made.length > 0) step(`made ${made.join(' and ')} in token ${tokens[0].name}`);
  }
  if (cluster === undefined) return;
  step('making the shared store of the cluster');
  await bootstrapCluster(configuration, hsmConfig, cluster, parts);
}

/** Refuses to stand alone on a replica: the other appliances would never see its writes. */
function requireNoReplica({ data }: Configuration, { isReplica }: OpenStore): void {
  if (!isReplica) return;
  throw new StartRefused(
    `${paths.store(data)} is the replica of a cluster: configure cluster as before; to stand alone, restore a backup of it into a new data directory`,
  );
}

/** Prints a step that takes a moment. */
function step(text: string): void {
  console.error(`keystored: ${text} …`);
}

/** The tenant `system` with its root token, or with a credential that makes one. Returns the announcement of a new one. */
async function openSystemTenant(configuration: Configuration, runtime: Runtime, clock: Clock): Promise<string | undefined> {
  const { bootstrapFile: file, data } = configuration;
  if (!isFirstStart(data) && openTenants(runtime.store).findByName(systemTenantName) === undefined) {
    const what = `${paths.store(data)} is a store without the tenant system, in a directory that an appliance has used`;
    throw new StartRefused(
      `${what}: nothing was made in it. Put the store back from your backup; for a new appliance, name an empty directory`,
    );
  }
  if (file !== undefined) {
    return (await offerBootstrap(runtime, clock, file))
      ? `This appliance is unclaimed. The credential in ${file} is for one login within 24 hours: use it to make the root token of system.`
      : undefined;
  }
  const kept: string[] = [];
  const created = await createSystemTenant(runtime.store, runtime.hsm, clock, (token) => {
    writeDurably(paths.rootToken(data), `${revealSecret(token)}\n`);
    kept.push(paths.rootToken(data));
  });
  // Another appliance of the cluster made the tenant meanwhile: its root token is the only one.
  if (created === undefined) for (const file of kept) rmSync(file);
  // A terminal forgets the token; a journal or a file in its place would keep it.
  return created === undefined ? undefined : announce(configuration, process.stdout.isTTY ? created.rootToken.token : undefined);
}

/**
 * The identity of both listeners: the one on record, or a new one when it is due. Starts only the parts needed for that. Throws StartError.
 */
async function makeListenerIdentity(
  configuration: Configuration,
  { store, hsm }: Runtime,
  { clock, log, rotation }: { readonly clock: Clock; readonly log: Log; readonly rotation: WrappingRotation },
): Promise<ListenerIdentity> {
  const identity = new ChangingIdentity(store, configuration);
  const providers = plugins.filter(({ provides }) => identity.plugin.uses?.some((service) => provides?.includes(service)));
  const running = await startPlugins([...providers, identity.plugin], {
    ...{ store, hsm, clock, log, audit: closedAudit },
    configurationOf: (plugin) => configuration.plugins[plugin],
    services: [
      provide(listenersService, closedListeners(configuration)),
      provide(custodyStatementsService, closedStatements),
      provide(wrappingKeysService, rotation),
    ],
  });
  await running.stop();
  return identity.current;
}

function announce(configuration: Configuration, rootToken: Secret<string> | undefined): string {
  const { data } = configuration;
  const curl = `curl --cacert ${join(paths.tls(data), 'ca.pem')} -H "Authorization: Bearer $(cat ${paths.rootToken(data)})" -H 'Content-Type: application/json'`;
  const keys = `${configuration.publicUrl}/v1/config/keystore/transit-keys`;
  const actions = `${configuration.publicUrl}/v1/state/keystore/transit-keys`;
  return [
    ...(configuration.attended ? [attendedNotice(configuration)] : []),
    ...(rootToken === undefined ? [] : [`The root token of the tenant system, shown this once: ${revealSecret(rootToken)}`]),
    `This appliance is new. Its root token is in ${paths.rootToken(data)} (mode 0600): move it to a safe place. Three commands to try:`,
    `  ${curl} ${keys} -d '{"name": "first"}'`,
    `  ${curl} ${actions}/first/encrypt -d '{"plaintext": "aGVsbG8="}'`,
    `  ${curl} ${actions}/first`,
  ].join('\n');
}

function attendedNotice({ data, hsm, embeddedPin, cluster, ownUrl, publicUrl }: Configuration): string {
  const isOurs = hsm.tokens.length === 0 && embeddedPin === undefined;
  const files = `${join(data, 'pin')} and the SO PIN in ${join(data, 'so-pin')}: write them down and remove both files.`;
  const pin = isOurs ? `The PIN is in ${files} ` : '';
  return `${pin}This start and every later one is sealed until the PIN is sent to ${cluster === undefined ? publicUrl : ownUrl}/v1/state/keystore/system/unseal.`;
}
