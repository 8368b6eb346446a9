// Tests run in forked processes: with threads SoftHSM does not see SOFTHSM2_CONF.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    pool: 'forks',
    globalSetup: ['test/harness/scratch.ts'],
    maxWorkers: 2,
    include: ['test/**/*.test.ts'],
    exclude: ['test/interop/**', 'test/image/**', 'test/package/**', 'test/soak/**'],
    // Against a hang, not a measure of speed: a busy machine takes several times as long.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    dangerouslyIgnoreUnhandledErrors: false,
  },
});
