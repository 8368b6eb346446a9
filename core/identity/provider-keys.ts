// Filters the keys of a provider before openid-client gets them: weak and malformed keys verify nothing.
import { isTooDeep } from './depth.ts';
import { given } from './given.ts';
import { OutboundError } from '../outbound/outbound-error.ts';
import { isJsonObject, type JsonObject } from '../wire/json.ts';
import { readJwk } from '../base/public-key.ts';

/**
 * The answer without keys that break the rules for foreign keys, and without members of keys that have no value. Keys of other types stay, and
 * an answer that is not a key set is returned unchanged. Throws OutboundError `too-deep`.
 */
export async function withSoundKeys(response: Response): Promise<Response> {
  if (response.status !== 200) return response;
  const set: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  if (isTooDeep(set)) throw new OutboundError('too-deep', 'the key set is nested too deep');
  if (!isJsonObject(set) || !Array.isArray(set['keys'])) return response;
  const keys = set['keys']
    .map((key: unknown) => (isJsonObject(key) ? { ...given(key), ...emptyKid(key) } : key))
    .filter((key: unknown) => !isJsonObject(key) || !judged.has(key['kty']) || isSound(key));
  return Response.json({ ...set, keys }, { headers: response.headers });
}

/** An empty key id is one: ID tokens may name it. */
function emptyKid({ kid }: JsonObject): { readonly kid?: '' } {
  return kid === '' ? { kid } : {};
}

const judged: ReadonlySet<unknown> = new Set(['RSA', 'EC', 'OKP']);

function isSound(key: object): boolean {
  return readJwk(key, 'verify') !== undefined;
}
