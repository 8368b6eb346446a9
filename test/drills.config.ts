// The long drills: other people's clients (npm run test:interop) and soaks (npm run soak); the word is chosen by KEYSTORED_DRILLS.
import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

const drills = process.env['KEYSTORED_DRILLS'] ?? 'interop';

export default mergeConfig(
  { ...base, test: { ...base.test, include: [], exclude: [] } },
  defineConfig({
    test: { include: [`test/${drills}/**/*.test.ts`], exclude: [], testTimeout: 900_000, hookTimeout: 900_000, maxWorkers: 1 },
  }),
);
