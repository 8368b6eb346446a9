// A judge of tokens that shares no code with the product: its own JSON reader, its own base64url, the Web Crypto API. The tests compare the two.
import { webcrypto } from 'node:crypto';
import type { Signer } from './tokens.ts';

export type ReferenceRules = {
  readonly issuer: string;
  readonly audience: string;
  readonly algorithms: readonly string[];
  readonly keys: readonly Pick<Signer, 'jwk'>[];
  readonly toleranceSeconds: number;
  readonly maxAgeSeconds: number;
  /** path of members to the exact value */
  readonly bindings: readonly (readonly [path: readonly string[], value: string | number | boolean])[];
};

/** Tells whether the token logs in. */
export async function referenceAccepts(token: string, rules: ReferenceRules, nowSeconds: number): Promise<boolean> {
  try {
    await judge(token, rules, nowSeconds);
    return true;
  } catch (error) {
    if (error instanceof No) return false;
    throw error;
  }
}

class No extends Error {}

function need(condition: boolean, what: string): asserts condition {
  if (!condition) throw new No(what);
}

async function judge(token: string, rules: ReferenceRules, now: number): Promise<void> {
  need(token.length <= 16_384, 'length');
  const match = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/.exec(token);
  // `$` also matches before a last line end.
  need(match !== null && !token.endsWith('\n'), 'three parts');
  const [, one = '', two = '', three = ''] = match;
  const [headerOctets, claimsOctets, signature] = [decode(one), decode(two), decode(three)];
  const header = readObject(headerOctets);
  const claims = readObject(claimsOctets);
  for (const name of header.keys()) need(['alg', 'kid', 'typ', 'x5t', 'x5t#S256', 'x5c'].includes(name), `header ${name}`);
  const [alg, kid, typ] = [header.get('alg'), header.get('kid'), header.get('typ')];
  need(typeof alg === 'string' && rules.algorithms.includes(alg), 'alg');
  need(!header.has('kid') || (typeof kid === 'string' && kid.length > 0), 'kid');
  need(!header.has('typ') || typ === 'JWT' || typ === 'JOSE', 'typ');
  await verify(alg, kid as string | undefined, Buffer.from(`${one}.${two}`), signature, rules);
  need(claims.get('iss') === rules.issuer, 'iss');
  judgeAudience(claims, rules);
  judgeTimes(claims, rules, now);
  const sub = claims.get('sub');
  need(typeof sub === 'string' && sub.length > 0 && sub.length <= 1_024, 'sub');
  // Control, format, surrogate, line and paragraph separators, and what has no width.
  need(!/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u.test(sub), 'sub unseen');
  need(sub.normalize('NFKC').replaceAll(/\s/g, '').toLowerCase() !== 'root', 'sub root');
  const jti = claims.get('jti');
  need(jti === undefined || jti === null || (typeof jti === 'string' && jti !== ''), 'jti');
  for (const [path, wanted] of rules.bindings) {
    let value: unknown = claims;
    for (const step of path) value = value instanceof Map ? value.get(step) : undefined;
    need(value === wanted, `binding ${path.join('/')}`);
  }
}

function judgeAudience(claims: Map<string, unknown>, { audience }: ReferenceRules): void {
  const aud = claims.get('aud');
  const list = Array.isArray(aud) ? aud : [aud];
  need(list.length === 1 && list[0] === audience, 'aud');
  const azp = claims.get('azp');
  need(azp === undefined || azp === null || azp === audience, 'azp');
}

function judgeTimes(claims: Map<string, unknown>, { toleranceSeconds: skew, maxAgeSeconds }: ReferenceRules, now: number): void {
  const time = (name: string): number | undefined => {
    if (!claims.has(name)) return undefined;
    const value = claims.get(name);
    need(typeof value === 'number' && Number.isFinite(value) && value >= 0 && value < 253_402_300_800, name);
    return value;
  };
  const [exp, iat, nbf] = [time('exp'), time('iat'), time('nbf')];
  need(exp !== undefined && (iat !== undefined || nbf !== undefined), 'times');
  const from = iat ?? nbf ?? NaN;
  need(exp > from && (nbf === undefined || exp > nbf), 'order');
  need(exp - from <= maxAgeSeconds, 'age');
  need(now < exp + skew, 'expired');
  need(now >= from - skew && (nbf === undefined || now >= nbf - skew), 'early');
}

async function verify(alg: string, kid: string | undefined, signed: Buffer, signature: Uint8Array, rules: ReferenceRules): Promise<void> {
  const kty = alg.startsWith('ES') ? 'EC' : 'RSA';
  const fitting = rules.keys.filter(
    ({ jwk }) => jwk['kty'] === kty && (jwk['alg'] ?? alg) === alg && (kid === undefined || jwk['kid'] === kid),
  );
  need(fitting.length > 0 && (kid !== undefined || fitting.length === 1), 'key');
  const hash = `SHA-${alg.slice(2)}`;
  const algorithm = alg.startsWith('ES')
    ? { name: 'ECDSA', namedCurve: 'P-256', hash }
    : { name: alg.startsWith('PS') ? 'RSA-PSS' : 'RSASSA-PKCS1-v1_5', hash, saltLength: Number(alg.slice(2)) / 8 };
  for (const { jwk } of fitting) {
    const { kty: type, n, e, crv, x, y } = jwk as Record<string, string>;
    const key = await webcrypto.subtle.importKey(
      'jwk',
      (type === 'EC' ? { kty: type, crv, x, y } : { kty: type, n, e }) as never,
      algorithm,
      false,
      ['verify'],
    );
    if (await webcrypto.subtle.verify(algorithm, key, signature as never, signed as never)) return;
  }
  need(false, 'signature');
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Bit by bit; bits that are left must be zero. */
function decode(text: string): Uint8Array {
  const octets: number[] = [];
  let [bits, held] = [0, 0];
  for (const character of text) {
    held = (held << 6) | alphabet.indexOf(character);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    octets.push((held >> bits) & 0xff);
    held &= (1 << bits) - 1;
  }
  need(bits < 6 && held === 0, 'base64url');
  return Uint8Array.from(octets);
}

/**
 * A strict reader of JSON: no member twice, at most 32 levels, UTF-8 without a byte order mark. Objects are maps.
 * Long because a reader of JSON is one grammar.
 */
function readObject(octets: Uint8Array): Map<string, unknown> {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(octets);
  } catch {
    throw new No('utf-8');
  }
  let at = 0;
  const skip = (): void => {
    while (/[ \t\r\n]/.test(text[at] ?? '')) at++;
  };
  const take = (what: string): void => {
    need(text.startsWith(what, at), 'json');
    at += what.length;
  };
  const string = (): string => {
    // oxlint-disable-next-line no-control-regex -- JSON forbids exactly these
    const found = /^"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/.exec(text.slice(at));
    need(found !== null, 'json string');
    at += found[0].length;
    return JSON.parse(found[0]) as string;
  };
  const value = (depth: number): unknown => {
    need(depth <= 32, 'depth');
    skip();
    const first = text[at];
    if (first === '{') {
      const members = new Map<string, unknown>();
      at++;
      skip();
      if (text[at] === '}') return (at++, members);
      for (;;) {
        skip();
        const name = string();
        need(!members.has(name), 'twice');
        skip();
        take(':');
        members.set(name, value(depth + 1));
        need(members.size <= 1_024, 'members');
        skip();
        if (text[at] === ',') at++;
        else return (take('}'), members);
      }
    }
    if (first === '[') {
      const list: unknown[] = [];
      at++;
      skip();
      if (text[at] === ']') return (at++, list);
      for (;;) {
        list.push(value(depth + 1));
        skip();
        if (text[at] === ',') at++;
        else return (take(']'), list);
      }
    }
    if (first === '"') return string();
    for (const [word, meant] of [
      ['true', true],
      ['false', false],
      ['null', null],
    ] as const)
      if (text.startsWith(word, at)) return ((at += word.length), meant);
    const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/.exec(text.slice(at));
    need(number !== null, 'json value');
    at += number[0].length;
    return Number(number[0]);
  };
  const whole = value(1);
  skip();
  need(at === text.length && whole instanceof Map, 'json object');
  return whole as Map<string, unknown>;
}
