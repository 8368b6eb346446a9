// The next own keys of a group, carried to every token of it that can be reached.
import { HsmError, type OwnKeyName, type TokenConfig } from '../api.ts';
import { asHsmError } from '../protocol/error-coding.ts';
import { giveOwnKeys, listOwnKeys, openTransport, prepareToken, takeOwnKeys, type Transport } from './setup.ts';

/**
 * As prepareToken, for a single token or the tokens of a group: one makes the first keys, unless any has keys, and the others get the next
 * ones from it. Returns the labels of the keys made.
 */
export async function prepareHolder(tokens: readonly [TokenConfig, ...TokenConfig[]]): Promise<string[]> {
  if (tokens.length > 1) for (const token of tokens) if ((await listOwnKeys(token)).length > 0) return [];
  return prepareToken(tokens[0]);
}

/** Groups the tokens by the name in stored keys: that of a single token, or of a group. */
export function byHolder(tokens: readonly TokenConfig[]): ReadonlyMap<string, readonly [TokenConfig, ...TokenConfig[]]> {
  const holders = new Map<string, [TokenConfig, ...TokenConfig[]]>();
  for (const token of tokens) {
    const name = token.group ?? token.name;
    const before = holders.get(name);
    if (before === undefined) holders.set(name, [token]);
    else before.push(token);
  }
  return holders;
}

/** Result of a carrying. `left`: the tokens that did not take the keys, each with the reason; another carrying includes them. */
export type Carried = OwnKeyName & { readonly left: readonly { readonly token: string; readonly reason: string }[] };

/**
 * Makes the wrapping and the binding key after the one in use, and carries them to these tokens. One that has the key in use gives them and must
 * take them itself, so that every key can be wrapped again; `unavailable` otherwise, without a change to keys in use. Safe to
 * repeat after a crash at any line: the number is above those that any token has.
 */
export async function carryToGroup(tokens: readonly TokenConfig[], inUse: OwnKeyName): Promise<Carried> {
  const left: { token: string; reason: string }[] = [];
  const leave = ({ name: token }: TokenConfig, error: unknown): void => {
    left.push({ token, reason: asHsmError(error).message });
  };
  const receivers: { readonly token: TokenConfig; readonly transport: Transport }[] = [];
  for (const token of tokens) {
    try {
      receivers.push({ token, transport: await openTransport(token) });
    } catch (error) {
      leave(token, error);
    }
  }
  const has = ({ transport }: { readonly transport: Transport }): boolean =>
    transport.present.some(({ number, carrying }) => number === inUse.number && carrying === inUse.carrying);
  const giver = receivers.find(has);
  if (giver === undefined) throw noGiver(inUse, left);
  const numbers = receivers.flatMap(({ transport }) => transport.present.map(({ number }) => number));
  const given = await giveOwnKeys(
    giver.token,
    Math.max(inUse.number, ...numbers) + 1,
    receivers.map(({ transport }) => transport),
  );
  for (const [place, { token, transport }] of receivers.entries()) {
    try {
      await takeOwnKeys(token, transport, given, place);
    } catch (error) {
      // Another carrying, begun meanwhile, has replaced the transport key.
      if (token === giver.token)
        throw new HsmError('unavailable', `token ${token.name} did not take its own keys: ${asHsmError(error).message}`);
      leave(token, error);
    }
  }
  return { number: given.number, carrying: given.carrying, left };
}

function noGiver({ number }: OwnKeyName, left: Carried['left']): HsmError {
  const why = left.map(({ token, reason }) => `${token}: ${reason}`).join('; ');
  return new HsmError('unavailable', `no token that has wrapping key ${number} can be reached${why === '' ? '' : ` (${why})`}`);
}
