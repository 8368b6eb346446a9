// Carries the next own keys into tokens, as the steps of hsm/setup/carry.ts are for.
import type { TokenConfig } from '../../../hsm/api.ts';
import { giveOwnKeys, type WrappedForAll, listOwnKeys, openTransport, takeOwnKeys, type Transport } from '../../../hsm/setup/setup.ts';

/** The first token gives; every one of them receives. Returns what was given. */
export async function carryToAll(tokens: readonly [TokenConfig, ...TokenConfig[]]): Promise<WrappedForAll> {
  const transports: Transport[] = [];
  for (const token of tokens) transports.push(await openTransport(token));
  const given = await giveOwnKeys(tokens[0], newestOf(transports) + 1, transports);
  for (const [place, token] of tokens.entries()) await takeOwnKeys(token, transports[place] as Transport, given, place);
  return given;
}

/** The highest number of a wrapping key in any of the tokens; 0 without one. */
function newestOf(transports: readonly Transport[]): number {
  return Math.max(0, ...transports.flatMap(({ present }) => present.map(({ number }) => number)));
}

/** The numbers of the wrapping keys of a token. */
export async function numbersIn(token: TokenConfig): Promise<number[]> {
  return (await listOwnKeys(token)).map(({ number }) => number);
}
