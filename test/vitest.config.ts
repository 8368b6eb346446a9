// Tests run in forked processes: with threads SoftHSM does not see SOFTHSM2_CONF.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    pool: 'forks',
    maxWorkers: 2,
    include: ['test/**/*.test.ts'],
    exclude: ['test/interop/**', 'test/image/**', 'test/package/**', 'test/soak/**'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    dangerouslyIgnoreUnhandledErrors: false,
  },
});
