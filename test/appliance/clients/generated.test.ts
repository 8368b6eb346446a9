// The client libraries: their generated parts are what `npm run clients` would write now.
import { expect, test } from 'vitest';
import { generatedClients, outdatedClients } from '../../../appliance/clients/generate.ts';

test('the generated parts of the clients are up to date (else: npm run clients)', async () => {
  const generated = await generatedClients();
  expect(generated.size).toBeGreaterThan(0);
  expect(outdatedClients(generated)).toEqual([]);
});

test('a generated file that is missing or different is found', async () => {
  const generated = new Map(await generatedClients());
  const [first = ''] = generated.keys();
  expect(outdatedClients(new Map([...generated, [first, 'planted'], ['typescript/src/generated/missing.ts', 'planted']]))).toEqual([
    first,
    'typescript/src/generated/missing.ts',
  ]);
  generated.delete(first);
  expect(outdatedClients(generated)).toEqual([first]);
});
