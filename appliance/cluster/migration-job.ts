// Migrates stored records when every appliance works with the next level: at a start, or after the last one was updated.
import type { Job } from '../../core/base/context.ts';
import type { RunningPlugins } from '../../core/plugin/lifecycle.ts';
import type { OpenStore } from '../../core/store/open.ts';

export function migrationJob(store: OpenStore, running: () => Pick<RunningPlugins, 'migrate'>): Job {
  let migratedTo: number | undefined;
  return {
    name: 'migrations',
    everySeconds: 5,
    whileClockInDoubt: true,
    async run() {
      store.refresh();
      const { level } = store;
      if (level !== migratedTo) await running().migrate();
      migratedTo = level;
    },
  };
}
