// Tokens with few sessions: what does not fit runs with fewer threads, and no host ends by it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Hsm, HsmError, TokenConfig } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { Engine } from '../../hsm/engine/engine.ts';
import { bindingOf, freshMaterial, publicKeyOf, signatures } from '../harness/keys.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { type FaultTable, makeFaultyToken, makeFaultyTokenForThisProcess } from '../harness/token/faulty-module.ts';
import { testHsmConfig } from '../harness/token/softhsm.ts';

const path = temporaryDirectory();
const always = 1_000_000;
const message = Buffer.from('hello');
let token: TokenConfig;
let table: FaultTable;

beforeAll(async () => {
  ({ token, table } = await makeFaultyToken(path()));
});
afterAll(() => table.disarm());

/** Signs with RSA many times at once, which takes as many threads as there may be. Answers what went wrong. */
async function signMany(hsm: Hsm): Promise<readonly string[]> {
  const material = freshMaterial('rsa-2048');
  const binding = bindingOf('many');
  const { stored } = await hsm.importKey('rsa-2048', Buffer.from(material), binding);
  const [{ scheme, check }] = signatures('rsa-2048', message, publicKeyOf('rsa-2048', material) as Uint8Array) as [
    ReturnType<typeof signatures>[number],
  ];
  const one = (): Promise<string> =>
    hsm.sign({ stored, binding }, scheme).then(
      (signature) => (check(signature) ? 'right' : 'wrong'),
      (error: HsmError) => error.message,
    );
  const outcomes = await Promise.all(Array.from({ length: 40 }, one));
  return outcomes.filter((outcome) => outcome !== 'right');
}

test.each([2, 3, 6])('where the token has %d sessions and says so by CKR_SESSION_COUNT alone, everything is done', async (sessions) => {
  table.arm({ name: 'C_OpenSession', kind: 'refuse', argument: 0xb1, before: sessions, times: always });
  const events: string[] = [];
  const hsm = await openHsm(testHsmConfig(token), {
    onEvent: ({ kind, message: told }) => void (kind === 'token-up' || events.push(told)),
  });
  try {
    expect(await signMany(hsm)).toEqual([]);
    await Promise.all([1, 2, 3].map((at) => hsm.generate('ecdsa-p384', bindingOf(`made-${at}`))));
    expect(events).toEqual([]);
  } finally {
    table.disarm();
    await hsm.close();
  }
});

test.each([2, 4])('with max-sessions %d no more are opened', async (maxSessions) => {
  const hsm = await openHsm(testHsmConfig({ ...token, maxSessions }));
  try {
    // Counts from here: the host has opened its own two.
    table.arm({ name: 'C_OpenSession', kind: 'refuse', argument: 0x30, before: maxSessions - 2, times: always });
    expect(await signMany(hsm)).toEqual([]);
    await hsm.generate('ecdsa-p384', bindingOf(`limited-${maxSessions}`));
    expect(table.struck).toBe(0);
    expect(hsm.status()[0]?.state).toBe('up');
  } finally {
    table.disarm();
    await hsm.close();
  }
});

test('a token without read-only sessions gets others', async () => {
  const here = await makeFaultyTokenForThisProcess(path('here'));
  here.table.arm({ name: 'C_OpenSession', kind: 'refuse', argument: 0x06, before: 1, times: 1 });
  const engine = new Engine({ token: here.token, cacheKeys: 10, pin: here.token.pin });
  try {
    engine.sessions.renewWork();
    expect(engine.random.octets(8)).toHaveLength(8);
    expect(here.table.struck).toBe(1);
  } finally {
    here.table.disarm();
    engine.close();
  }
});
