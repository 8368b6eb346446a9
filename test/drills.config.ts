// The long drills: other people's clients (npm test -- interop) and soaks (npm run soak); the word is chosen by KEYSTORED_DRILLS.
import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** The long ones run only when they are asked for: npm test -- image secure, full, cuts, metal or cluster */
const unasked = ['secure', 'full', 'cuts', 'metal', 'cluster']
  .filter((name) => !process.argv.includes(name))
  .map((name) => `test/image/${name}.test.ts`);
const drills = process.env['KEYSTORED_DRILLS'] ?? 'interop';

export default mergeConfig(
  { ...base, test: { ...base.test, include: [], exclude: [] } },
  defineConfig({
    test: {
      env: { KEYSTORED_TEST_PATIENCE_SECONDS: '900' },
      include: [`test/${drills}/**/*.test.ts`],
      exclude: unasked,
      // Emulated machines are slow, and each of their tests goes on where the one before has ended.
      ...(drills === 'image'
        ? { testTimeout: 3_600_000, hookTimeout: 3_600_000, bail: 1 }
        : { testTimeout: 900_000, hookTimeout: 900_000 }),
      isolate: true,
      maxWorkers: 1,
    },
  }),
);
