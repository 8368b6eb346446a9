// A common mistake: restoring a key takes settings from the backup that the caller could not have set. Here they are judged as an
// update of the key.
import { beforeAll, expect, test } from 'vitest';
import { startVictim, type Victim } from '../victim.ts';

let victim: Victim;
const keys = '/v1/config/keystore/transit-keys';
const state = '/v1/state/keystore/transit-keys';
const backups: Record<string, string> = {};

beforeAll(async () => {
  victim = await startVictim();
  for (const [name, document] of Object.entries({
    rich: { exportable: true, labels: { team: 'a' } },
    plain: { labels: { team: 'b' } },
    other: { cipher: 'ed25519' },
    user: { cipher: 'ed25519', 'openpgp-user-id': 'Ada <ada@example.org>' },
  })) {
    await victim.request('POST', keys, { name, 'allow-plaintext-backup': true, ...document });
    backups[name] = String((await victim.request('POST', `${state}/${name}/backup`, {})).body.key);
  }
});

let made = 0;
async function restore(token: string, backup: string): Promise<string> {
  const name = `target-${(made += 1)}`;
  await victim.request('POST', keys, { name });
  return victim.verdict('POST', `${state}/${name}/restore`, { key: backups[backup] }, { token });
}

const action = (name: string) => ({ path: `${state}/*/${name}`, operations: { execute: 'allow' } });
const mayAct = [action('restore'), action('import')];

test('a value that an update of the key must not have cannot come from a backup', async () => {
  await victim.makePolicy('not-exportable', [
    ...mayAct,
    { path: `${keys}/*`, operations: { update: 'allow' }, 'allowed-values': { exportable: [false], cipher: ['aes256-gcm96', 'ed25519'] } },
  ]);
  const token = await victim.makeToken(['not-exportable']);
  expect(await restore(token, 'rich')).toBe('403 policy-denied');
  expect(await restore(token, 'plain')).toBe('204 done');
  expect(await restore(token, 'other')).toBe('204 done');
  await victim.makePolicy('no-user-id', [
    ...mayAct,
    { path: `${keys}/*`, operations: { update: 'allow' }, 'allowed-values': { 'openpgp-user-id': [null, 'Root <root@example.org>'] } },
  ]);
  const other = await victim.makeToken(['no-user-id']);
  expect(await restore(other, 'user')).toBe('403 policy-denied');
  expect(await restore(other, 'other')).toBe('204 done');
});

test('who may not update a key may not restore it, and learns nothing of the backup', async () => {
  await victim.makePolicy('only-restore', mayAct);
  const token = await victim.makeToken(['only-restore']);
  expect(await restore(token, 'plain')).toBe('403 policy-denied');
  backups['broken'] = 'AAAA';
  expect(await restore(token, 'broken')).toBe('403 policy-denied');
});

test('the record of a restore has the settings that the key got', async () => {
  await victim.request('POST', keys, { name: 'traced' });
  expect(await victim.verdict('POST', `${state}/traced/restore`, { key: backups['rich'] })).toBe('204 done');
  const line = victim
    .written()
    .split('\n')
    .find((one) => one.includes('transit-keys/traced/restore') && one.includes('"status":204'));
  expect(JSON.parse(line ?? '{}')).toMatchObject({ 'request-parameters': { document: { exportable: true, cipher: 'aes256-gcm96' } } });
  expect(line).not.toContain(backups['rich']);
});

const mayChange = { path: `${keys}/*`, operations: { update: 'allow' } };

test('material of the caller comes in by no restore where import is refused', async () => {
  await victim.makePolicy('does-not-import', [action('restore'), mayChange]);
  expect(await restore(await victim.makeToken(['does-not-import']), 'plain')).toBe('403 policy-denied');
  await victim.makePolicy('imports', [...mayAct, mayChange]);
  const token = await victim.makeToken(['imports']);
  expect(await restore(token, 'plain')).toBe('204 done');
  const { body } = await victim.request(
    'POST',
    '/v1/state/policy/check',
    { path: `${state}/plain/restore`, operation: 'execute' },
    { token },
  );
  expect(body['also-needs']).toContainEqual({ field: 'key', operation: 'execute', path: `${state}/plain/import` });
});

test('a User ID comes from no backup where certify-subkey is refused, as in an update', async () => {
  await victim.makePolicy('restores', [...mayAct, mayChange]);
  expect(await restore(await victim.makeToken(['restores']), 'user')).toBe('403 policy-denied');
  await victim.makePolicy('restores-and-certifies', [...mayAct, mayChange, action('certify-subkey')]);
  expect(await restore(await victim.makeToken(['restores-and-certifies']), 'user')).toBe('204 done');
});

test('a flag that is known of the material is judged as one of the backup', async () => {
  const name = 'known';
  await victim.request('POST', keys, { name, 'allow-plaintext-backup': true, 'deletion-allowed': true });
  const { key } = (await victim.request('POST', `${state}/${name}/backup`, {})).body;
  await victim.request('PATCH', `${keys}/${name}`, { exportable: true });
  await victim.makePolicy('never-exportable', [...mayAct, { ...mayChange, 'allowed-values': { exportable: [false] } }]);
  const token = await victim.makeToken(['never-exportable']);
  const back = (target: string, as = token) => victim.verdict('POST', `${state}/${target}/restore`, { key }, { token: as });
  expect(await back(name)).toBe('403 policy-denied');
  await victim.request('DELETE', `${keys}/${name}`);
  await victim.request('POST', keys, { name: 'elsewhere' });
  expect(await back('elsewhere')).toBe('403 policy-denied');
  expect((await victim.request('GET', `${keys}/elsewhere`)).body).toMatchObject({ exportable: false });
  expect(await back('elsewhere', victim.rootToken)).toBe('204 done');
  expect((await victim.request('GET', `${keys}/elsewhere`)).body).toMatchObject({ exportable: true });
});
