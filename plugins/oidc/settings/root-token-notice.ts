// Notice to somebody who works with a root token, which is for the first hour.
import type { Caller } from '../../../core/access/caller.ts';
import type { Notice } from '../../../core/base/context.ts';

/** Only the caller can be told: no record says that a root token is in use. */
export function rootTokenNotices(caller: Caller | undefined): readonly Notice[] {
  if (caller?.userKind !== 'root-token') return [];
  const text = 'You work with a root token: connect a sign-in, and put the token away';
  return [{ name: 'root-token-used', text, path: '/v1/config/keystore/authentication/oidc' }];
}
