// The gateway of Ceph for S3 encrypts its objects with keys that it fetches by KMIP: its own program, of the packages of the distribution.
import { hash, X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { AwsClient } from 'aws4fetch';
import { afterAll, expect, test } from 'vitest';
import { must } from '../clients/commands.ts';
import { enumeration } from '../../plugins/kmip/ttlv/item.ts';
import { type Daemon, freePort, startDaemon } from '../harness/daemon.ts';
import { connectKmip, keyAttributes, uid } from '../harness/kmip/client.ts';
import { patienceMs } from '../harness/patience.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { cephPrograms, cephUser, startCeph } from './kmip/ceph.ts';

const at = temporaryDirectory();
let daemon: Daemon;
afterAll(() => daemon?.stop());

const programs = await cephPrograms().catch((error: Error) => error);
const isMissing = programs instanceof Error;
if (isMissing) console.warn(`SKIPPED: Ceph, because its packages are not to be had: ${programs.message.split('\n')[0]}`);

test.skipIf(isMissing)('radosgw encrypts and decrypts with a key that it finds by its name, until that is destroyed', async () => {
  const port = await freePort();
  writeFileSync(at('keystored.yaml'), `kmip:\n  listen: 127.0.0.1:${port}\n`);
  daemon = await startDaemon({ directory: at('data'), args: ['--config', at('keystored.yaml')] });
  const files = { ca: at('ca.pem'), certificate: at('cert.pem'), key: at('key.pem') };
  writeFileSync(files.ca, daemon.caPem);
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=rgw'];
  await must('openssl', [...request, '-keyout', files.key, '-out', files.certificate]);
  const identity = { key: readFileSync(files.key, 'utf8'), cert: readFileSync(files.certificate, 'utf8') };
  const rules = ['locate', 'create', 'objects/*/get', 'objects/*/destroy'].map((name) => ({
    path: `/v1/state/keystore/kmip-spaces/ceph/${name}`,
    operations: { execute: 'allow' },
  }));
  await daemon.request('POST', '/v1/config/policy/policies', { name: 'ceph', 'rest-api': { rules } });
  await daemon.request('POST', '/v1/config/keystore/kmip-spaces', { name: 'ceph' });
  const fingerprints = [hash('sha256', new X509Certificate(identity.cert).raw, 'hex')];
  await daemon.request('POST', '/v1/config/keystore/kmip-clients', {
    name: 'rgw',
    space: 'ceph',
    fingerprints,
    'token-policies': ['ceph'],
  });
  const client = await connectKmip({ port, ca: daemon.caPem, ...identity });
  const made = await client.done('Create', enumeration('ObjectType', 'SymmetricKey'), keyAttributes('photos'));
  const id = made.required('UniqueIdentifier', 'text');

  mkdirSync(at('ceph'));
  const gateway = await startCeph(programs as string, at('ceph'), { address: `127.0.0.1:${port}`, ...files });
  const s3 = new AwsClient({ ...cephUser, service: 's3', region: 'us-east-1', retries: 0 });
  const ask = (path: string, init: RequestInit = {}): Promise<Response> => s3.fetch(`${gateway}/${path}`, init);
  const put = (path: string, keyName: string): Promise<Response> =>
    ask(path, {
      method: 'PUT',
      body: 'a photo',
      headers: { 'x-amz-server-side-encryption': 'aws:kms', 'x-amz-server-side-encryption-aws-kms-key-id': keyName },
    });
  await expect
    .poll(
      () =>
        ask('album', { method: 'PUT' }).then(
          ({ status }) => status,
          () => 'not up',
        ),
      { timeout: patienceMs, interval: 500 },
    )
    .toBe(200);
  expect((await put('album/1', 'photos')).status).toBe(200);
  const got = await ask('album/1');
  expect([await got.text(), got.headers.get('x-amz-server-side-encryption-aws-kms-key-id')]).toEqual(['a photo', 'photos']);
  expect((await put('album/2', 'nobody')).ok).toBe(false);
  const list = (await daemon.request('GET', `/v1/state/keystore/kmip-spaces/ceph/objects/${id}`)) as object;
  expect(list).toMatchObject({ 'left-time': expect.any(String) as string });
  await client.done('Destroy', uid(id));
  client.close();
  expect((await ask('album/1')).ok).toBe(false);
});
