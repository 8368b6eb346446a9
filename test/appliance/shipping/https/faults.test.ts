// Receivers of JSON lines that fail in every way.
import { describe } from 'vitest';
import { testFaults } from './faults.ts';
import { httpsHarness } from './harness.ts';

const harness = httpsHarness();

describe('json-lines', () => {
  testFaults('json-lines', harness);
});
