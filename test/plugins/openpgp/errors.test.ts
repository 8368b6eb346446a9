// The error rows that OpenPGP copies from the transit plugin equal the owner's.
import { expect, test } from 'vitest';
import { borrowedErrors } from '../../../plugins/openpgp/errors.ts';
import { transitErrors } from '../../../plugins/transit/errors.ts';

test.each(Object.keys(borrowedErrors) as (keyof typeof borrowedErrors)[])('%s reads as in the transit plugin', (code) => {
  expect(borrowedErrors[code]).toEqual(transitErrors[code]);
});
