// Part of the store that a plugin sees: its own tables, and those inherited from the plugin that kept them earlier.
import type { OpenStore } from '../store/open.ts';
import type { TableKinds } from '../store/records/table-kinds.ts';
import type { Store } from '../store/store.ts';
import type { AnyPlugin } from './plugin.ts';

/** Kinds of the tables of all plugins, by full name. */
export function tableKindsOf(plugins: readonly Pick<AnyPlugin, 'name' | 'inherits' | 'tables'>[]): TableKinds {
  return Object.fromEntries(
    plugins.flatMap(({ name, inherits, tables = {} }) =>
      Object.entries(tables).map(([table, kind]) => [`${inherits?.tables.includes(table) === true ? inherits.from : name}/${table}`, kind]),
    ),
  );
}

/** View of a plugin, whose `table` throws TypeError for a table that another plugin has inherited from this one. */
export function storeOf({ name, inherits }: AnyPlugin, plugins: readonly AnyPlugin[], store: OpenStore): Store {
  const own = store.prefixed(name);
  const earlier = inherits === undefined ? undefined : store.prefixed(inherits.from);
  const given = new Set(plugins.flatMap((other) => (other.inherits?.from === name ? other.inherits.tables : [])));
  const viewOf = (table: string): Store => {
    if (given.has(table)) throw new TypeError(`the table ${table} of plugin ${name} belongs to another plugin now`);
    return earlier !== undefined && inherits?.tables.includes(table) === true ? earlier : own;
  };
  return {
    table: <V>(table: string) => viewOf(table).table<V>(table),
    tenantTable: <V>(table: string) => viewOf(table).tenantTable<V>(table),
    write: (change) => own.write(change),
    refresh: () => own.refresh(),
    appliance: own.appliance,
    get level() {
      return own.level;
    },
    get state() {
      return own.state;
    },
  };
}
