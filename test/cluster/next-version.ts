// The sources as a version after this one could have them: another number, a later level of the records, and a migration to each.
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

export const nextVersion = '99.0.0';
/** The record that the migration makes; plugin and table are in the keys of etcd. */
export const migratedRecord = 'random/migrated';

/** Writes them below a directory that does not exist; answers the program. `level`: that it brings the records to. */
export function makeNextVersion(directory: string, level = 2): string {
  for (const name of [
    'appliance',
    'core',
    'hsm',
    'plugins',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'softhsm.conf',
    'LICENSE',
  ])
    cpSync(join(root, name), join(directory, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  const edit = (file: string, change: (text: string) => string): void => {
    const before = readFileSync(join(directory, file), 'utf8');
    const after = change(before);
    if (after === before) throw new Error(`${file} has not what the next version changes`);
    writeFileSync(join(directory, file), after);
  };
  edit('package.json', (text) => text.replace(/"version": "[^"]+"/, `"version": "${nextVersion}"`));
  // The time of the release: clocks may be set back behind the present.
  utimesSync(join(directory, 'package.json'), 0, 0);
  edit('core/store/records/level.ts', (text) => text.replace('newest: 1 }', `newest: ${level} }`));
  const migrations = Array.from(
    { length: level - 1 },
    (_, n) =>
      `{ version: ${n + 1}, level: ${n + 2}, describe: 'mark', run: (transaction, store) => transaction.put(store.table('migrated'), ['yes'], ${n + 1}) }`,
  );
  edit('plugins/random/index.ts', (text) =>
    text.replace(/ {2}name: 'random',\n/, (name) => `${name}  migrations: [${migrations.join()}],\n`),
  );
  return join(directory, 'appliance/keystored.ts');
}

/** The same, bundled as `npm start` and the packages run it: a program that starts sooner. */
export function makeNextService(directory: string, level: number): string {
  makeNextVersion(directory, level);
  execFileSync(process.execPath, [join(directory, 'appliance/packaging/service/provide.ts')]);
  const services = join(directory, 'dist/service');
  return join(services, readdirSync(services)[0] ?? '', 'keystored.js');
}
