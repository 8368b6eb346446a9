// Eviden VULN-05: what was true when it was checked was no longer when it was acted on. The same races here, run many times at once.
import { beforeAll, expect, test } from 'vitest';
import { startVictim, type Victim } from '../victim.ts';

let victim: Victim;
const token = '/v1/state/keystore/token';
const keys = '/v1/config/keystore/transit-keys';
const actions = '/v1/state/keystore/transit-keys';
const approles = 'keystore/authentication/approles';

beforeAll(async () => {
  victim = await startVictim();
});

const infoOf = async (one: string) => victim.verdict('POST', `${token}/info`, {}, { token: one });

test('a token that is being ended leaves no child behind', async () => {
  for (let round = 0; round < 6; round++) {
    const parent = await victim.makeToken(['root']);
    const create = () => victim.request('POST', `${token}/create`, {}, { token: parent });
    const [first, ended, ...others] = await Promise.all([
      create(),
      victim.verdict('POST', `${token}/disable`, { token: parent }),
      ...Array.from({ length: 6 }, create),
    ]);
    expect(ended).toBe('204 done');
    for (const { status, body } of [first, ...others]) {
      expect([200, 401]).toContain(status);
      if (status === 200) expect(await infoOf(String(body.token))).toBe('401 invalid-token'); // oxlint-disable-line vitest/no-conditional-expect -- who was first is the race
    }
  }
});

test('the last use of a secret-id is one, however many try it at the same time', async () => {
  await victim.request('POST', `/v1/config/${approles}`, { name: 'once', 'secret-id-num-uses': 2 });
  const { 'role-id': roleId } = (await victim.request('GET', `/v1/state/${approles}/once`)).body;
  const made = (await victim.request('POST', `/v1/state/${approles}/once/generate-secret-id`, {})).body;
  const login = { 'role-id': roleId, 'secret-id': made['secret-id'] };
  const verdicts = await Promise.all(
    Array.from({ length: 9 }, () => victim.verdict('POST', '/v1/approle-login', login, { token: undefined })),
  );
  expect(verdicts.filter((one) => one === '200 done')).toHaveLength(2);
});

test('of changes on one entity tag one succeeds; no flag, version or name is won twice', async () => {
  await victim.request('POST', keys, { name: 'raced' });
  const etag = String((await victim.request('GET', `${keys}/raced`)).headers['etag']);
  const changes = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      victim.verdict('PATCH', `${keys}/raced`, n % 2 === 0 ? { exportable: true } : { 'deletion-allowed': true }, {
        headers: { 'if-match': etag },
      }),
    ),
  );
  expect(changes.filter((one) => one === '204 done')).toHaveLength(1);
  expect(changes.filter((one) => one === '412 precondition-failed')).toHaveLength(7);

  const rotations = await Promise.all(Array.from({ length: 8 }, () => victim.verdict('POST', `${actions}/raced/rotate`)));
  const done = rotations.filter((one) => one === '204 done').length;
  expect((await victim.request('GET', `${actions}/raced`)).body['latest-version']).toBe(1 + done);
});

test('a key that is being deleted is used before or not at all, and never half-there', async () => {
  for (let round = 0; round < 6; round++) {
    await victim.request('POST', keys, { name: 'leaving', 'deletion-allowed': true, exportable: true });
    const use = (action: string) => victim.verdict('POST', `${actions}/leaving/${action}`, action === 'encrypt' ? { plaintext: '' } : {});
    const [removed, ...uses] = await Promise.all([
      victim.verdict('DELETE', `${keys}/leaving`),
      ...['encrypt', 'export', 'rotate', 'encrypt', 'rotate', 'generate-data-key'].map(use),
    ]);
    expect(removed).toMatch(/^(204 done|409 conflict)$/);
    // A use that was under way is told that its version is gone.
    for (const one of uses) expect(one).toMatch(/^(20[04] done|404 not-found|400 version-unknown|409 conflict)$/);
    await victim.request('DELETE', `${keys}/leaving`);
    expect((await victim.request('GET', `${keys}/leaving`)).status).toBe(404);
  }
  expect(await victim.check()).toEqual([]);
});

test('a CA that is being deleted signs before or not at all', async () => {
  const cas = '/v1/config/keystore/tls/ca';
  for (let round = 0; round < 6; round++) {
    await victim.request('POST', cas, { name: 'leaving' });
    const act = (action: string) => victim.verdict('POST', `/v1/state/keystore/tls/ca/leaving/${action}`, {});
    const [, ...acts] = await Promise.all([victim.verdict('DELETE', `${cas}/leaving`), ...['renew', 'csr', 'renew', 'csr'].map(act)]);
    for (const one of acts) expect(one).toMatch(/^(200 done|404 not-found|409 conflict)$/);
    await victim.request('DELETE', `${cas}/leaving`);
  }
});

test('a policy that is removed while it is being granted is not granted', async () => {
  for (let round = 0; round < 4; round++) {
    const holder = await victim.makeToken(['user']);
    const [made] = await Promise.all([
      victim.request('POST', `/v1/config/${approles}`, { name: `heir-${round}`, 'token-policies': ['root'] }, { token: holder }),
      victim.request('POST', `${token}/disable`, { token: holder }),
    ]);
    expect([401, 403]).toContain(made?.status);
  }
});
