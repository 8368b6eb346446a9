// The errors of the plugin beyond those of the platform.
import { errorsOf, type ErrorTable } from '../../core/base/errors.ts';

export const jwtErrors = {
  'issuer-unavailable': {
    status: 503,
    title: 'Keys of the issuer cannot be fetched',
    when: 'the keys of a JWT issuer could not be fetched for a day, or never',
    detail: 'Try again in a minute; "test" of the issuer tells an administrator what is wrong.',
  },
} as const satisfies ErrorTable;

export const failJwt = errorsOf(jwtErrors);
