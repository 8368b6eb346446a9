// Health of the tokens: whether each works, and whether keys open in it. No token is called.
import type { HealthPart } from '../../core/base/context.ts';
import type { Hsm, TokenStatus } from '../../hsm/api.ts';
import type { WrappingState } from './record.ts';

type Wrapping = (token: string) => WrappingState;

/** `wrapping`: the state of the wrapping key of a token or a group. */
export function tokenParts(hsm: Pick<Hsm, 'status'>, wrapping: Wrapping): readonly HealthPart[] {
  const tokens = hsm.status();
  return tokens.map((token) => ({ name: `token ${token.name}`, ...tokenPart(token, tokens, wrapping) }));
}

function tokenPart(token: TokenStatus, all: readonly TokenStatus[], wrapping: Wrapping): Omit<HealthPart, 'name'> {
  const { name, state, reason = 'the token does not work', group } = token;
  if (state !== 'up') {
    const goesOn = group !== undefined && all.some((other) => other.group?.name === group.name && other.group.opensKeys);
    return goesOn ? { state, reason: `${reason}; the other tokens of its group go on` } : { state, reason, hinders: true };
  }
  if (group?.opensKeys === false) return { state, reason: notInGroup };
  return wrapping(group?.name ?? name).state === 'incomplete' ? { state, reason: incompleteRotation } : { state };
}

const notInGroup = 'the token does not have the wrapping key of its group yet, so no key opens in it: it gets the next one';

const incompleteRotation =
  'some keys could not be rewrapped, so the old wrapping key is kept: system:logs names them; the next start tries again';
