// What the parts of this plugin share: one object, made when the plugin is provisioned and handed to every action.
import type { PluginContext } from '../../core/plugin/plugin.ts';
import type { OpenpgpHooks } from '../../core/plugin/services/transit-keys.ts';
import { type WrappingKeyRotation, wrappingKeysService } from '../../core/plugin/services/wrapping-keys.ts';
import { KeyLedger } from '../../core/plugin/key-ledger.ts';
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
  /** set once by the OpenPGP plugin while it is provisioned; without it keys with openpgp-* fields are refused */
  openpgp: OpenpgpHooks | undefined;
};

/** Opens the tables and puts the parts together; starts nothing. */
export function makeTransit(context: PluginContext<unknown>): Transit {
  const { store, hsm, clock, log, audit } = context;
  const tables = openTables(store);
  return {
    store,
    hsm,
    clock,
    log,
    audit,
    tables,
    keyring: new Keyring(tables),
    usage: new UsageMeters(store, tables, log),
    ledger: new KeyLedger({ store, table: tables.pendingKeys, hsm, clock, log }),
    rotation: context.service(wrappingKeysService),
    openpgp: undefined,
  };
}
