// How the tests run: two worker processes that take one file after the other, loaded by Node.js itself as in production.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    // Processes, not threads: SoftHSM reads SOFTHSM2_CONF from the environment of the process.
    pool: 'forks',
    // A file of its own process would import the whole appliance again: a second of processor time, two hundred times.
    isolate: false,
    restoreMocks: true,
    unstubEnvs: true,
    // Node.js strips the types and keeps what it compiled. Nothing is mocked by module, so no loader hooks are needed.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    globalSetup: ['test/harness/scratch.ts', 'test/harness/client-libraries.ts'],
    setupFiles: ['test/harness/each-file.ts'],
    maxWorkers: 2,
    include: ['test/**/*.test.ts'],
    exclude: ['test/{clients,cluster,interop,image,package,soak}/**', 'test/**/*.long.test.ts'],
    // Against a hang, not a measure of speed: a busy machine takes several times as long.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
