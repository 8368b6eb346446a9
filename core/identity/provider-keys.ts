// Filters the keys of a provider before openid-client gets them: weak and malformed keys verify nothing.
import { setImmediate } from 'node:timers/promises';
import { isTooDeep } from './depth.ts';
import { given } from './given.ts';
import { OutboundError } from '../outbound/outbound-error.ts';
import { isJsonObject, type JsonObject } from '../wire/json.ts';
import { readJwk } from '../base/public-keys/public-key.ts';

/** The largest providers have a few dozen. */
const mostKeys = 256;

/**
 * The answer without keys that break the rules for foreign keys, and without members of keys that have no value. Keys of other types stay, and
 * an answer that is not a key set is returned unchanged. Throws OutboundError `too-deep`, and `too-large` for more keys than a provider has.
 */
export async function withSoundKeys(response: Response): Promise<Response> {
  if (response.status !== 200) return response;
  const set: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  if (isTooDeep(set)) throw new OutboundError('too-deep', 'the key set is nested too deep');
  if (!isJsonObject(set) || !Array.isArray(set['keys'])) return response;
  if (set['keys'].length > mostKeys) throw new OutboundError('too-large', `the key set has more than ${mostKeys} keys`);
  const keys: unknown[] = [];
  for (const one of set['keys'] as readonly unknown[]) {
    const key = isJsonObject(one) ? { ...given(one), ...emptyKid(one) } : one;
    if (!isJsonObject(key) || !judged.has(key['kty'])) keys.push(key);
    else if (isSound(key)) keys.push(key);
    // A key costs milliseconds, and everybody else waits meanwhile.
    await setImmediate();
  }
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
