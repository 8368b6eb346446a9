// Watches the sources of the appliance, and says which part has changed.
import { watch } from 'node:fs';
import { join } from 'node:path';

export type Changed = 'service' | 'console';

/** An editor writes a file in several steps, and a switch of branches many files. */
const quietMs = 100;

/**
 * Calls `changed` after each change below the folders of the sources, once for all that come close together: `console` when the browser
 * application has to be built again, and otherwise `service`. Returns a function that ends it.
 */
export function watchSources(root: string, changed: (what: Changed) => void): () => void {
  let quiet: NodeJS.Timeout | undefined;
  let isConsole = false;
  const note = (path: string): void => {
    const what = partOf(path);
    if (what === undefined) return;
    isConsole ||= what === 'console';
    clearTimeout(quiet);
    quiet = setTimeout(() => {
      const part = isConsole ? 'console' : 'service';
      isConsole = false;
      changed(part);
    }, quietMs);
  };
  const watchers = ['core', 'hsm', 'plugins', 'appliance'].map((folder) =>
    watch(join(root, folder), { recursive: true }, (_event, name) => {
      if (name !== null) note(`${folder}/${name}`);
    }),
  );
  return () => {
    clearTimeout(quiet);
    for (const watcher of watchers) watcher.close();
  };
}

/** The part that a file belongs to; undefined for one that no running appliance reads. */
export function partOf(path: string): Changed | undefined {
  if (/^plugins\/console\/(?:app|words)\//.test(path)) return 'console';
  if (/^plugins\/console\/built|^appliance\/(?:cli|clients|dev|docs|packaging)\//.test(path)) return undefined;
  return /\.(?:ts|proto|json)$/.test(path) ? 'service' : undefined;
}
