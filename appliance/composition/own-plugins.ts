// The parts of the appliance itself, as plugins: their common parts are made here, and each brings its endpoints, jobs, gauges and health.
import type { FailedLogins } from '../../core/platform/sessions/failed-logins.ts';
import type { Audit } from '../../core/audit/record.ts';
import type { Clock, HealthPart, Log } from '../../core/base/context.ts';
import type { NoticesConfig } from '../../core/config/notices.ts';
import { platformPlugin } from '../../core/platform/platform-plugin.ts';
import type { RunningPlugins } from '../../core/plugin/lifecycle.ts';
import type { AnyPlugin } from '../../core/plugin/plugin.ts';
import type { OpenStore } from '../../core/store/open.ts';
import type { Hsm, TokenConfig } from '../../hsm/api.ts';
import { attestationPlugin } from '../attestation/plugin.ts';
import { auditPlugin } from '../audit/plugin.ts';
import { backupPlugin } from '../backup/plugin.ts';
import type { Backups } from '../backup/run/backups.ts';
import { breakGlassPlugin } from '../break-glass/plugin.ts';
import { clusterPlugin } from '../cluster/plugin.ts';
import type { ClusterParts } from '../cluster/state-endpoint.ts';
import type { Drills } from '../backup/drills/drills.ts';
import { drillPlugin } from '../backup/drills/plugin.ts';
import { downloadsPlugin } from '../downloads/plugin.ts';
import { findingsPlugin } from '../findings/plugin.ts';
import { reportUnreadable } from '../findings/unreadable-records.ts';
import { machinePlugin, type MachineParts } from '../machine/plugin.ts';
import type { MonitoringParts } from '../monitoring/endpoints.ts';
import { monitoringPlugin } from '../monitoring/plugin.ts';
import { noticesPlugin } from '../notices/plugin.ts';
import { provisioningPlugin } from '../provisioning/plugin.ts';
import type { SealParts } from '../seal/endpoints.ts';
import { sealPlugin } from '../seal/plugin.ts';
import type { ShippingParts } from '../shipping/endpoints.ts';
import { shippingPlugin } from '../shipping/plugin.ts';
import { tableKinds } from '../table-kinds.ts';
import { ownPins, type OwnPins } from '../tokens/own-pins.ts';
import type { PinOrigin } from '../tokens/pin-origin.ts';
import { followAgreedTypes } from '../cluster/keys/agreed-types.ts';
import { carryInCluster, type CarryingParts } from '../cluster/keys/key-transfer.ts';
import { carryByConfiguration } from '../wrapping-keys/groups.ts';
import { OwnTokens } from '../cluster/keys/own-tokens.ts';
import { wrappingKeysPlugin } from '../wrapping-keys/plugin.ts';
import type { RewrappingParts } from '../wrapping-keys/rewrapping.ts';
import { WrappingRotation } from '../wrapping-keys/rotation.ts';
import { isStoreKeyShared } from '../cluster/keys/shared-store-key.ts';

/** Opened and made parts of a serving process. */
export type SystemParts = MonitoringParts &
  SealParts &
  Pick<MachineParts, 'clockWatch' | 'operationsSocket'> &
  Pick<ClusterParts, 'cluster' | 'jobsLeader' | 'membership' | 'clusterWarnings'> & {
    /** needs of a start that is to open the tokens */
    readonly pinOrigin: () => PinOrigin;
    /** as they were opened, with their PINs */
    readonly tokens: readonly TokenConfig[];
    /** The longest time from reading a record until the token has opened its keys. */
    readonly settleMs: number;
    readonly backups: Backups;
    readonly drills: Drills;
    readonly shipping: ShippingParts;
    readonly notices: NoticesConfig;
    /** the parts of the appliance, as all its workers see them */
    readonly health: () => Promise<readonly HealthPart[]>;
    /** file with the credential of the first login; absent without one */
    readonly bootstrapFile?: string | undefined;
  };

export type OwnParts = {
  readonly store: OpenStore;
  readonly hsm: Hsm;
  readonly audit: Audit;
  readonly log: Log;
  readonly clock: Clock;
  /** As in Runtime; absent where nothing is written. */
  readonly damage?: (() => string | undefined) | undefined;
  /** the tokens whose PIN the appliance keeps; default: none */
  readonly ownPins?: OwnPins | undefined;
  /** directory of the files of GET /v1/keystorectl, by default that of the package */
  readonly downloads?: string | undefined;
  /** all plugins, once they have started */
  readonly running: () => RunningPlugins;
  /** refused sign-ins of this process */
  readonly failedLogins?: FailedLogins | undefined;
};

/** `system`: absent in tools that open tokens and store without serving. Health has the parts in this order. */
export function ownPlugins(parts: OwnParts, system?: SystemParts): readonly AnyPlugin[] {
  const { store, hsm, clock, log, audit, running } = parts;
  const keys = () => running().keys();
  const carrying = system && carryingPartsOf(system, parts);
  const rotation = new WrappingRotation({
    ...{ store, hsm, clock },
    carry:
      carrying === undefined
        ? system && carryByConfiguration(system.tokens, log)
        : (_group, inUse, invited) => carryInCluster(carrying, inUse, invited),
  });
  if (carrying !== undefined) followAgreedTypes(store, hsm);
  if (system !== undefined) reportUnreadable(parts);
  return [
    platformPlugin(parts),
    wrappingKeysPlugin({
      ...{ store, audit, log, rotation, pins: parts.ownPins ?? ownPins([]), pinOrigin: system?.pinOrigin },
      wrappedKeys: () => running().wrappedKeys(),
      rewrapping: system && { ...system, ...sharedStoreKeyOf(system, parts) },
      bringsIn: system !== undefined && carrying === undefined,
    }),
    auditPlugin(parts),
    findingsPlugin({ ...parts, rotation, keys }),
    attestationPlugin(parts),
    downloadsPlugin(parts.downloads),
    ...(system === undefined ? [] : servingPlugins(parts, system, { rotation, keys, carrying })),
  ];
}

type KeyParts = Pick<ClusterParts, 'keys'> & { readonly rotation: WrappingRotation; readonly carrying: CarryingParts | undefined };

function servingPlugins(parts: OwnParts, system: SystemParts, keyParts: KeyParts): readonly AnyPlugin[] {
  const { store, hsm, audit, running } = parts;
  const { carrying } = keyParts;
  const ownTokens = carrying && new OwnTokens({ ...carrying, ...keyParts, hsm });
  return [
    shippingPlugin({ ...system, audit }),
    noticesPlugin({ ...parts, ...system }),
    machinePlugin({ ...parts, ...system }),
    monitoringPlugin({ ...system, store, running }),
    backupPlugin({ ...system, store }),
    drillPlugin({ ...parts, ...system }),
    sealPlugin(system),
    clusterPlugin({ ...parts, ...system, ...keyParts, ownTokens, kinds: tableKinds }),
    provisioningPlugin(store, system.bootstrapFile),
    breakGlassPlugin({ ...parts, directory: system.directory }),
  ];
}

/** Of an appliance in a cluster of a token in each. */
function carryingPartsOf({ cluster, tokens }: SystemParts, { store, clock, log }: OwnParts): CarryingParts | undefined {
  const token = cluster === undefined ? undefined : tokens[0];
  if (cluster === undefined || token?.group === undefined) return undefined;
  return { store, clock, log, cluster, token: { ...token, group: token.group } };
}

/** Check whether every appliance of a cluster keeps the key of the store under a wrapping key; empty without a cluster. */
function sharedStoreKeyOf({ cluster }: SystemParts, { store, hsm }: OwnParts): Pick<RewrappingParts, 'isStoreKeyShared'> {
  return cluster === undefined ? {} : { isStoreKeyShared: (number) => isStoreKeyShared({ store, hsm, cluster }, number) };
}
