// The rows OpenPGP borrows from the transit plugin are the owner's, word for word.
import { expect, test } from 'vitest';
import { borrowedErrors } from '../../../plugins/openpgp/errors.ts';
import { transitErrors } from '../../../plugins/transit/errors.ts';

test.each(Object.keys(borrowedErrors) as (keyof typeof borrowedErrors)[])('%s reads as in the transit plugin', (code) => {
  expect(borrowedErrors[code]).toEqual(transitErrors[code]);
});
