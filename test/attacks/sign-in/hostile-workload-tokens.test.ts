// OpenBao took 37 and jose 30 of such tokens that a careful judge refuses: lists for texts, other spellings of base64url, crit, times without an end.
// MUTATIONS=100000 MUTATIONS_SEED=7 tries more changed tokens.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startJwtHarness, type JwtHarness } from '../../plugins/jwt/harness.ts';
import { bindings, hostileTokens, referenceBindings } from '../../plugins/jwt/hostile.ts';
import { audience, es, issuer, ps, rightClaims, rs } from '../../plugins/jwt/right-token.ts';
import { referenceAccepts, type ReferenceRules } from '../../plugins/jwt/reference-judge.ts';
import { base64url, jwks, makeToken, signTexts } from '../../plugins/jwt/tokens.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const at = temporaryDirectory();
let harness: JwtHarness;
let from = 0;

beforeAll(async () => {
  harness = await startJwtHarness(at());
  await harness.setIssuer('issuer', { issuer, 'static-keys': jwks(es, rs, ps) });
  await harness.setRole('issuer', 'hostile', { audience, bindings });
});
afterAll(() => harness.close());

const rules: ReferenceRules = {
  issuer,
  audience,
  algorithms: ['RS256', 'ES256'],
  keys: [es, rs, ps],
  toleranceSeconds: 30,
  maxAgeSeconds: 3_600,
  bindings: referenceBindings,
};

/** The answer to a login with the token: none but these two is right. */
async function logsIn(token: string): Promise<boolean> {
  const { status, body = {} } = await harness.login('hostile', token, {}, `127.7.${++from >> 8}.${from & 255}`);
  expect(['200 done', '401 login-failed']).toContain(`${status} ${String(body.code ?? 'done')}`);
  return status === 200;
}

const rows = hostileTokens(Math.floor(Temporal.Now.instant().epochMilliseconds / 1_000)).map(({ name }) => name);

test('there are rows of every class, each once', () => {
  expect(rows.length).toBeGreaterThan(230);
  expect(new Set(rows).size).toBe(rows.length);
});

describe('each is answered as it should be, by the appliance and by the judge of the tests', () => {
  test.each(rows.map((name, index) => [name, index] as const))('%s', async (name, index) => {
    const row = hostileTokens(harness.now())[index];
    expect(row?.name).toBe(name);
    const { token = '', wanted } = row ?? {};
    expect({ reference: await referenceAccepts(token, rules, harness.now()), appliance: await logsIn(token) }).toEqual({
      reference: wanted,
      appliance: wanted,
    });
  });
});

/** Numbers that repeat with the seed: a failure can be run again. */
function* random(seed: number): Generator<number, never> {
  for (let state = seed; ;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

/** Logins that are under way together: each waits for the disk. */
const atOnce = 16;

test('of thousands of changed tokens none is accepted that the judge of the tests refuses, and none the other way round', async () => {
  const next = random(Number(process.env['MUTATIONS_SEED'] ?? 1));
  const draw = (below: number): number => Math.floor(next.next().value * below);
  const count = Number(process.env['MUTATIONS'] ?? 2_000);
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ \n{}"';
  const values = [null, '', 0, -1, 1e308, true, [], {}, 'root', 'acme/app', [audience], harness.now(), issuer, 'none', ['ES256']];
  const outcomes = { accepted: 0, refused: 0 };
  let together: (readonly [index: number, token: string])[] = [];
  const compare = async ([index, token]: readonly [number, string]): Promise<void> => {
    const [reference, appliance] = [await referenceAccepts(token, rules, harness.now()), await logsIn(token === '' ? 'x' : token)];
    expect({ index, appliance, token }).toEqual({ index, appliance: reference, token });
    outcomes[appliance ? 'accepted' : 'refused']++;
  };
  for (let index = 0; index < count; index++) {
    const claims: Record<string, unknown> = rightClaims(harness.now());
    const header: Record<string, unknown> = { alg: 'ES256', kid: 'es', typ: 'JWT' };
    // A change of claims or header under a right signature, of the texts under it, or of the octets of the token.
    const target = draw(2) === 0 ? claims : header;
    const names = [...Object.keys(target), 'jti', 'azp', 'crit', 'jwk', 'x5t', '__proto__'];
    if (draw(4) > 0) target[names[draw(names.length)] ?? ''] = values[draw(values.length)];
    if (draw(3) === 0) delete target[names[draw(names.length)] ?? ''];
    let token = makeToken(es, claims, header);
    const way = draw(4);
    if (way === 0) {
      const text = JSON.stringify(claims);
      const place = draw(text.length);
      token = signTexts(
        es,
        JSON.stringify(header),
        text.slice(0, place) + (alphabet[draw(alphabet.length)] ?? '') + text.slice(place + draw(3)),
      );
    } else if (way === 1) {
      const place = draw(token.length);
      token = token.slice(0, place) + (alphabet[draw(alphabet.length)] ?? '') + token.slice(place + draw(3));
    } else if (way === 2) {
      const parts = token.split('.');
      const octets = Buffer.from(parts[draw(3)] ?? '', 'base64url');
      octets[draw(octets.length)] = draw(256);
      parts[draw(3)] = base64url(octets);
      token = parts.join('.');
    }
    together.push([index, token]);
    if (together.length < atOnce && index < count - 1) continue;
    await Promise.all(together.map(compare));
    together = [];
  }
  expect(Math.min(outcomes.accepted, outcomes.refused)).toBeGreaterThan(count / 20);
});
