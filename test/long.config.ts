// What takes long (npm test -- long): the files named *.long.test.ts, beside the quick tests of their subject.
import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

// Three at once: they wait more than they compute.
export default defineConfig({ ...base, test: { ...base.test, include: ['test/**/*.long.test.ts'], exclude: [], maxWorkers: 3 } });
