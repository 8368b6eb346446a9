// The sources as the version after this one could have them: another number, the next level of the records, and a migration to it.
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

export const nextVersion = '99.0.0';
/** The record that the migration makes; plugin and table are in the keys of etcd. */
export const migratedRecord = 'random/migrated';

/** Writes them below a directory that does not exist; answers the program. */
export function makeNextVersion(directory: string): string {
  for (const name of ['appliance', 'core', 'hsm', 'plugins', 'package.json'])
    cpSync(join(root, name), join(directory, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  const edit = (file: string, change: (text: string) => string): void => {
    const before = readFileSync(join(directory, file), 'utf8');
    const after = change(before);
    if (after === before) throw new Error(`${file} has not what the next version changes`);
    writeFileSync(join(directory, file), after);
  };
  edit('package.json', (text) => text.replace(/"version": "[^"]+"/, `"version": "${nextVersion}"`));
  edit('core/store/records/level.ts', (text) => text.replace('newest: 1 }', 'newest: 2 }'));
  const migration = `{ version: 1, level: 2, describe: 'mark', run: (transaction, store) => transaction.put(store.table('migrated'), ['yes'], true) }`;
  edit('plugins/random/index.ts', (text) => text.replace(/ {2}name: 'random',\n/, (name) => `${name}  migrations: [${migration}],\n`));
  return join(directory, 'appliance/keystored.ts');
}
