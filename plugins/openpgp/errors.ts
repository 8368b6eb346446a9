// The errors of OpenPGP: most are refusals of transit keys, whose rows are those of the service.
import { type ErrorTable, errorsOf } from '../../core/base/errors.ts';
import { transitKeyErrors } from '../../core/plugin/services/transit-key-errors.ts';

/** Rows of this plugin. */
export const openpgpErrors = {
  'openpgp-sign-only': {
    status: 409,
    title: 'Signed by openpgp-sign only',
    when: 'a key with an OpenPGP role was to sign a finished hash, or a text that OpenPGP could hash, with sign; use openpgp-sign',
    detail: 'Use openpgp-sign, which signs the text in the way OpenPGP does.',
  },
} as const satisfies ErrorTable;

/** Makes an error of the tables above. */
export const fail = errorsOf({ ...transitKeyErrors, ...openpgpErrors });

/** Key material that is refused. */
export const unusable = (detail: string): Error => fail('invalid-key-data', { detail });
