// Context shared by the parts of this plugin: one object, made when the plugin is provisioned and passed to every action.
import type { PluginContext } from '../../core/plugin/plugin.ts';
import { type Appliances, appliancesService } from '../../core/plugin/services/appliances.ts';
import { type CustodyStatements, custodyStatementsService } from '../../core/plugin/services/custody-statements.ts';
import { sessionsService } from '../../core/plugin/services/sessions.ts';
import { type WrappingKeyRotation, wrappingKeysService } from '../../core/plugin/services/wrapping-keys.ts';
import { KeyLedger } from '../../core/plugin/key-ledger.ts';
import type { Config } from './records/config.ts';
import { Attachments } from './records/attachments.ts';
import { Keyring } from './records/keyring.ts';
import { type Tables, openTables } from './records/records.ts';
import { UsageMeters } from './records/usage.ts';

/** The plugin's context with its tables and the objects that work on them. */
export type Transit = Pick<PluginContext<unknown>, 'store' | 'hsm' | 'clock' | 'log' | 'audit'> & {
  readonly tables: Tables;
  readonly keyring: Keyring;
  readonly usage: UsageMeters;
  /** token keys that no version owns */
  readonly ledger: KeyLedger;
  readonly rotation: WrappingKeyRotation;
  readonly custodyStatements: CustodyStatements;
  readonly appliances: Appliances;
  readonly attachments: Attachments;
  /** Tells whether the configuration lets the tenant have a private key for several uses. */
  allowsDualUse(tenantId: string): boolean;
};

/** Opens the tables and makes the parts; starts nothing. */
export function makeTransit(context: PluginContext<Config>): Transit {
  const { config, store, hsm, clock, log, audit } = context;
  const tables = openTables(store);
  const usage = new UsageMeters(store, tables, log);
  return {
    store,
    hsm,
    clock,
    log,
    audit,
    tables,
    keyring: new Keyring(tables, (key, version, now) => usage.noteRefused(key, version, now)),
    usage,
    ledger: new KeyLedger({ store, table: tables.pendingKeys, hsm, clock, log }),
    rotation: context.service(wrappingKeysService),
    custodyStatements: context.service(custodyStatementsService),
    appliances: context.service(appliancesService),
    attachments: new Attachments(store),
    allowsDualUse: (tenantId) => config.allowDualUse.some((name) => context.service(sessionsService).findTenant(name)?.id === tenantId),
  };
}
