// A backup has the objects of KMIP: restored elsewhere, they open there, in the state that they had, and their clients are the same.
import { hash, X509Certificate } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { afterAll, expect, test, vi } from 'vitest';
import { enumeration, octets, structure, text } from '../../../plugins/kmip/ttlv/item.ts';
import { ask } from '../../harness/client.ts';
import { type Daemon, freePort, startDaemon } from '../../harness/daemon.ts';
import { connectKmip, keyAttributes, nameAttribute, uid } from '../../harness/kmip/client.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';

vi.setConfig({ testTimeout: 120_000 });
const at = temporaryDirectory();
let daemon: Daemon;
afterAll(() => daemon?.stop());

test('a restored appliance has the objects, those of transit keys, what was destroyed, and the clients', async () => {
  const port = await freePort();
  writeFileSync(at('keystored.yaml'), `kmip:\n  listen: 127.0.0.1:${port}\n`);
  const args = ['--config', at('keystored.yaml')];
  daemon = await startDaemon({ directory: at('before'), args });
  mkdirSync(at('client'));
  const identity = selfSignedIdentity(at('client'));
  const fingerprints = [hash('sha256', new X509Certificate(identity.cert).raw, 'hex')];
  await daemon.request('POST', '/v1/config/keystore/kmip-spaces', { name: 'arrays' });
  const entry = { name: 'array', space: 'arrays', fingerprints, 'token-policies': ['root'], username: 'array', password: 'correct horse' };
  await daemon.request('POST', '/v1/config/keystore/kmip-clients', entry);
  await daemon.request('POST', '/v1/config/keystore/transit-keys', { name: 'pages', exportable: true });
  const tied = await daemon.request('POST', '/v1/state/keystore/kmip-spaces/arrays/tie', { 'transit-key': 'pages', names: ['pages'] });
  const credential = structure(
    'Authentication',
    structure(
      'Credential',
      enumeration('CredentialType', 'UsernameAndPassword'),
      structure('CredentialValue', text('Username', 'array'), text('Password', 'correct horse')),
    ),
  );
  const connect = async () => {
    const client = await connectKmip({ port, ca: daemon.caPem, ...identity });
    const exchange = async (...asked: Parameters<typeof client.done>) => {
      const [answer] = await client.ask([asked], [credential]);
      return { reason: answer?.reason, payload: answer?.payload };
    };
    return { exchange, close: () => client.close() };
  };
  type Client = Awaited<ReturnType<typeof connect>>;
  const create = async (client: Client, name: string): Promise<string> =>
    (await client.exchange('Create', enumeration('ObjectType', 'SymmetricKey'), keyAttributes(name))).payload?.value(
      'UniqueIdentifier',
      'text',
    ) ?? '';
  const materialOf = async (client: Client, id: string): Promise<string | undefined> => {
    const { payload } = await client.exchange('Get', uid(id));
    const value = payload?.structure('SymmetricKey')?.structure('KeyBlock')?.structure('KeyValue')?.value('KeyMaterial', 'octets');
    return value === undefined ? undefined : Buffer.from(value).toString('hex');
  };

  const before = await connect();
  const [kept, gone] = [await create(before, 'kept'), await create(before, 'gone')];
  const [page = ''] = (tied as { readonly ids: readonly string[] }).ids;
  const materials = [await materialOf(before, kept), await materialOf(before, page)];
  expect(materials.every((one) => one?.length === 64)).toBe(true);
  await before.exchange('Destroy', uid(gone));
  const sealed = (await before.exchange('Encrypt', uid(page), octets('Data', Buffer.from('a page')))).payload;
  before.close();

  const passphrase = 'a passphrase of some length';
  const options = { method: 'POST', ca: daemon.caPem, token: daemon.rootToken, body: { passphrase } };
  writeFileSync(at('backup'), (await ask(daemon.url, '/v1/state/system/backup', options)).octets);
  writeFileSync(at('passphrase'), `${passphrase}\n`);
  await daemon.stop();
  const restoring = ['--restore', at('backup'), '--restore-passphrase-file', at('passphrase')];
  daemon = await startDaemon({ directory: at('after'), args: [...args, ...restoring], rootToken: daemon.rootToken });

  const after = await connect();
  expect([await materialOf(after, kept), await materialOf(after, page)]).toEqual(materials);
  expect((await after.exchange('Get', uid(gone))).reason).toBe('ItemNotFound');
  expect((await after.exchange('Locate', nameAttribute('kept'))).payload?.values('UniqueIdentifier', 'text')).toEqual([kept]);
  const parts = (['Data', 'IVCounterNonce', 'AuthenticatedEncryptionTag'] as const).map((tag) =>
    octets(tag, sealed?.value(tag, 'octets') ?? Buffer.alloc(0)),
  );
  const opened = (await after.exchange('Decrypt', uid(page), ...parts)).payload?.value('Data', 'octets');
  expect(Buffer.from(opened ?? []).toString()).toBe('a page');
  after.close();
});
