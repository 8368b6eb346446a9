// The API of Vault for transit keys, as its clients use it: each request is answered in its form, and is the request that it stands for.
import { constants, createHmac, hash, publicEncrypt } from 'node:crypto';
import { ed25519, ed25519ctx, ed25519ph } from '@noble/curves/ed25519.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestAppliance, type Answer, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { asVaultClient } from './vault-client.ts';

const at = temporaryDirectory();
let appliance: TestAppliance;

beforeAll(async () => {
  appliance = await startTestAppliance({
    directory: at('vault'),
    configuration: { vault: { tenants: { system: {}, acme: { upsert: true, strictContext: true }, boxes: { rsaUse: 'encrypt' } } } },
  });
});
afterAll(() => appliance.close());

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const ask = asVaultClient(() => appliance);
const actions = '/v1/state/keystore/transit-keys';
const dataOf = ({ status, body }: Answer) => {
  expect([status, body.errors]).toEqual([200, undefined]);
  return body.data;
};
const made = async (name: string, fields: object = {}) => dataOf(await ask('PUT', `transit/keys/${name}`, fields));

async function makeTenant(name: string): Promise<string> {
  await appliance.request('POST', '/v1/config/tenants', { name });
  return (await appliance.request('POST', '/v1/state/keystore/token/create-root', { name })).body.token;
}

describe('keys', () => {
  test('are made, answered as read, and left alone when they exist', async () => {
    const key = await made('orders');
    expect(key).toMatchObject({
      ...{ name: 'orders', type: 'aes256-gcm96', latest_version: 1, min_decryption_version: 1, min_encryption_version: 0 },
      ...{ supports_encryption: true, supports_signing: false, deletion_allowed: false, auto_rotate_period: 0, derived: false },
      keys: { '1': Math.floor(appliance.clock.now().epochMilliseconds / 1_000) },
    });
    const again = await ask('POST', 'transit/keys/orders', { type: 'ed25519' });
    expect(again.body.warnings).toEqual(['The key exists already and was not changed.']);
    expect(dataOf(again)).toMatchObject({ type: 'aes256-gcm96' });
    expect(dataOf(await ask('GET', 'transit/keys/orders'))).toEqual(key);
  });

  test('have the envelope that strict clients need', async () => {
    const { body, headers } = await ask('GET', 'transit/keys/orders');
    expect(Object.keys(body)).toEqual(['request_id', 'lease_id', 'renewable', 'lease_duration', 'data', 'wrap_info', 'warnings', 'auth']);
    expect(body).toMatchObject({ request_id: headers['request-id'], lease_id: '', renewable: false, lease_duration: 0, wrap_info: null });
    expect(headers['content-type']).toBe('application/json');
  });

  test.each([
    ['ecdsa-p256', 'P-256', /^-----BEGIN PUBLIC KEY-----\n/],
    ['rsa-2048', 'rsa-2048', /^-----BEGIN PUBLIC KEY-----\n/],
    ['ed25519', 'ed25519', /^[A-Za-z0-9+/]{43}=$/],
  ])('show the public half of %s', async (type, name, form) => {
    const { keys } = await made(`public-${type}`, { type });
    expect(keys['1'].name).toBe(name);
    expect(keys['1'].public_key).toMatch(form);
  });

  test('are listed by a GET that says so, and nothing is 404', async () => {
    expect(dataOf(await ask('GET', 'transit/keys?list=true')).keys).toContain('orders');
    expect(dataOf(await ask('GET', 'transit/keys?list=True')).keys).toContain('orders');
    expect(dataOf(await ask('LIST', 'transit/keys')).keys).toContain('orders');
    expect((await ask('LIST', 'transit/keys/')).status).toBe(200);
    expect((await appliance.request('LIST', '/v1/config/keystore/transit-keys')).status).toBe(405);
    expect((await ask('GET', 'transit/keys')).status).toBe(405);
    const nobody = await ask('GET', 'transit/keys/nobody');
    expect([nobody.status, nobody.body]).toEqual([404, { errors: [] }]);
  });

  test('are configured, rotated, trimmed and removed', async () => {
    await made('life');
    expect(dataOf(await ask('POST', 'transit/keys/life/rotate'))).toMatchObject({ latest_version: 2 });
    expect(dataOf(await ask('PUT', 'transit/keys/life/rotate', {}))).toMatchObject({ latest_version: 3 });
    const configured = dataOf(
      await ask('POST', 'transit/keys/life/config', { min_decryption_version: '2', deletion_allowed: 'true', auto_rotate_period: '24h' }),
    );
    expect(configured).toMatchObject({ min_decryption_version: 2, deletion_allowed: true, auto_rotate_period: 86_400 });
    expect(Object.keys(configured.keys)).toEqual(['2', '3']);
    expect(dataOf(await ask('POST', 'transit/keys/life/trim', { min_available_version: 2 }))).toMatchObject({ min_available_version: 2 });
    const removed = await ask('DELETE', 'transit/keys/life');
    expect([removed.status, removed.text, removed.headers['content-type']]).toEqual([204, '', 'application/json']);
  });

  test.each([
    [{ type: 'chacha20-poly1305' }, 'unknown key type chacha20-poly1305'],
    [{ auto_rotate_period: '5m' }, 'at least an hour'],
    [{ derived: 'perhaps' }, 'error converting input for field "derived"'],
  ])('%o are refused', async (fields, words) => {
    const { status, body } = await ask('POST', 'transit/keys/refused', fields);
    expect(status).toBe(400);
    expect(body.errors[0]).toContain(words);
  });

  test.each(['null', ' null\n', ''])('the body %j says nothing, as clients in Go do that have nothing to say', async (body) => {
    await ask('PUT', 'transit/keys/nothing-said', body);
    const { latest_version: before } = dataOf(await ask('GET', 'transit/keys/nothing-said'));
    expect(dataOf(await ask('PUT', 'transit/keys/nothing-said/rotate', body))).toMatchObject({ latest_version: before + 1 });
    expect((await ask('PUT', 'transit/encrypt/nothing-said', body)).body.errors).toEqual(['missing plaintext to encrypt']);
  });

  test.each(['[]', '"null"', 'nullnull', '[null]'])('the body %s is refused', async (body) => {
    expect((await ask('PUT', 'transit/keys/refused', body)).status).toBe(400);
  });

  test('that must not be deleted say so in words that people search for', async () => {
    await made('kept');
    const { status, body } = await ask('DELETE', 'transit/keys/kept');
    expect([status, body.errors]).toEqual([400, ['deletion is not allowed for this key: Set deletion-allowed to true first.']]);
  });

  test('a name that we cannot have is refused, and never changed', async () => {
    const { status, body } = await ask('POST', 'transit/keys/My_Key.v1', {});
    expect(status).toBe(400);
    expect(body.errors[0]).toContain('"My_Key.v1" is not a name here');
  });
});

describe('encryption', () => {
  test('goes both ways, and between both APIs', async () => {
    const { ciphertext, key_version } = dataOf(await ask('PUT', 'transit/encrypt/orders', { plaintext: base64('hello') }));
    expect([ciphertext.slice(0, 9), key_version]).toEqual(['vault:v1:', 1]);
    expect(dataOf(await ask('PUT', 'transit/decrypt/orders', { ciphertext }))).toEqual({ plaintext: base64('hello') });
    const ours = await appliance.request('POST', '/v1/state/keystore/transit-keys/orders/decrypt', {
      ciphertext: ciphertext.replace('vault:', 'store:'),
    });
    expect(ours.body.plaintext).toBe(base64('hello'));
  });

  test('takes what clients send: no media type, null, numbers as text, line ends in base64, fields without effect', async () => {
    const body = JSON.stringify({
      plaintext: 'aGVs\nbG8=',
      context: null,
      batch_input: null,
      key_version: '1',
      nonce: 'AAAA',
      name: 'orders',
    });
    const answer = await appliance.request('POST', '/v1/transit/encrypt/orders', body, {
      token: null,
      headers: { authorization: `Bearer ${appliance.rootToken}`, 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(answer.body.warnings).toEqual(['Endpoint ignored these unrecognized parameters: [nonce]']);
    const { ciphertext } = dataOf(answer);
    expect(dataOf(await ask('POST', 'transit/decrypt/orders', { ciphertext })).plaintext).toBe('aGVsbG8=');
  });

  test('an empty plaintext is one', async () => {
    const { ciphertext } = dataOf(await ask('POST', 'transit/encrypt/orders', { plaintext: '' }));
    expect(dataOf(await ask('POST', 'transit/decrypt/orders', { ciphertext }))).toEqual({ plaintext: '' });
  });

  test.each([
    ['encrypt/orders', {}, 'missing plaintext to encrypt'],
    ['encrypt/orders', { plaintext: '?' }, 'base64'],
    ['encrypt/orders', { plaintext: '', key_version: 9 }, 'version is too new'],
    ['encrypt/nobody', { plaintext: '' }, 'encryption key not found'],
    ['encrypt/public-ed25519', { plaintext: '' }, 'does not encrypt'],
    ['decrypt/orders', { ciphertext: 'AAAA' }, 'no prefix'],
    ['decrypt/orders', { ciphertext: 'vault:v0:AAAA' }, 'prefix'],
    ['decrypt/orders', { ciphertext: 'vault:v9:AAAA' }, 'version is too new'],
    ['decrypt/orders', { ciphertext: `vault:v1:${base64('x'.repeat(40))}` }, 'cipher: message authentication failed'],
    ['sign/orders', { input: '' }, 'does not sign'],
    ['datakey/plaintext/orders', { bits: 100 }, 'bits'],
  ])('%s of %o is 400 with its reason', async (path, body, words) => {
    const { status, body: refused } = await ask('POST', `transit/${path}`, body);
    expect([status, Object.keys(refused)]).toEqual([400, ['errors']]);
    expect(refused.errors[0]).toContain(words);
  });

  test('a batch with a failed item is 400, and answers the others', async () => {
    const { ciphertext } = dataOf(await ask('POST', 'transit/encrypt/orders', { plaintext: base64('one') }));
    const { status, body } = await ask('POST', 'transit/decrypt/orders', {
      batch_input: [{ ciphertext, reference: 'a' }, { ciphertext: `${ciphertext.slice(0, -4)}AAA=` }],
    });
    expect(status).toBe(400);
    expect(body.data.batch_results).toMatchObject([
      { plaintext: base64('one'), reference: 'a' },
      { plaintext: '', reference: '', error: expect.any(String) },
    ]);
    const partial = await ask('POST', 'transit/decrypt/orders', {
      batch_input: [{ ciphertext }, { ciphertext: `${ciphertext.slice(0, -4)}AAA=` }],
      partial_failure_response_code: 206,
    });
    expect(partial.status).toBe(206);
  });

  test('an item whose text is not base64 fails alone', async () => {
    const { status, body } = await ask('POST', 'transit/encrypt/orders', {
      batch_input: [{ plaintext: base64('one') }, { plaintext: '?', reference: 'b' }],
    });
    expect(status).toBe(400);
    expect(body.data.batch_results).toMatchObject([
      { ciphertext: expect.stringMatching(/^vault:v1:/), reference: '' },
      { reference: 'b', error: expect.stringContaining('base64') },
    ]);
  });

  test('rewrap goes to the latest version, and a batch of it is 200 with whatever failed', async () => {
    await made('rewrapped');
    const { ciphertext } = dataOf(await ask('POST', 'transit/encrypt/rewrapped', { plaintext: base64('x') }));
    await ask('POST', 'transit/keys/rewrapped/rotate');
    expect(dataOf(await ask('POST', 'transit/rewrap/rewrapped', { ciphertext }))).toMatchObject({
      ciphertext: expect.stringMatching(/^vault:v2:/),
      key_version: 2,
    });
    const { status, body } = await ask('POST', 'transit/rewrap/rewrapped', { batch_input: [{ ciphertext: 'vault:v1:AAAA' }] });
    expect([status, body.data.batch_results[0].error]).toEqual([200, expect.any(String)]);
  });

  test('data keys are answered in clear or wrapped', async () => {
    const key = dataOf(await ask('POST', 'transit/datakey/plaintext/orders', { bits: '512' }));
    expect(Buffer.from(key.plaintext, 'base64')).toHaveLength(64);
    expect(dataOf(await ask('POST', 'transit/decrypt/orders', { ciphertext: key.ciphertext })).plaintext).toBe(key.plaintext);
    expect(dataOf(await ask('POST', 'transit/datakey/wrapped/orders', {}))).not.toHaveProperty('plaintext');
  });

  test('a context derives, and what one API makes the other opens', async () => {
    await made('derived', { derived: true });
    const { ciphertext } = dataOf(
      await ask('POST', 'transit/encrypt/derived', { plaintext: base64('x'), context: base64('customer 4711') }),
    );
    const ours = await appliance.request('POST', '/v1/state/keystore/transit-keys/derived/decrypt', {
      ciphertext: ciphertext.replace('vault:', 'store:'),
      context: 'customer 4711',
    });
    expect(ours.body.plaintext).toBe(base64('x'));
  });

  test('a context of octets that are not UTF-8 derives as well, in batches too, and opens at our API', async () => {
    await made('of-octets', { derived: true });
    const context = Buffer.from([0, 0xff, 0x80, 10]).toString('base64');
    const batch = await ask('POST', 'transit/encrypt/of-octets', { batch_input: [{ plaintext: base64('x'), context }] });
    const [{ ciphertext }] = dataOf(batch).batch_results;
    const ours = (fields: object) =>
      appliance.request('POST', '/v1/state/keystore/transit-keys/of-octets/decrypt', {
        ciphertext: ciphertext.replace('vault:', 'store:'),
        ...fields,
      });
    expect((await ours({ 'context-base64': context })).body.plaintext).toBe(base64('x'));
    expect((await ours({ context: '\0\ufffd\ufffd\n' })).body.code).toBe('decryption-failed');
    expect(dataOf(await ask('POST', 'transit/rewrap/of-octets', { ciphertext, context })).key_version).toBe(1);
    const key = dataOf(await ask('POST', 'transit/datakey/plaintext/of-octets', { context }));
    expect(dataOf(await ask('POST', 'transit/decrypt/of-octets', { ciphertext: key.ciphertext, context })).plaintext).toBe(key.plaintext);
    // Refusals name the fields as they are called there.
    for (const wrong of ['no base64', base64('x'.repeat(4_097))])
      expect(await ask('POST', 'transit/encrypt/of-octets', { plaintext: '', context: wrong })).toMatchObject({
        ...{ status: 400, body: { errors: [expect.stringContaining('"context" must')] } },
      });
    const others = { associated_data: 'no base64', key_version: -1 };
    for (const [field, wrong] of Object.entries(others))
      expect((await ask('POST', 'transit/encrypt/of-octets', { plaintext: '', context, [field]: wrong })).body.errors[0]).toContain(
        `"${field}"`,
      );
  });

  test('a context that nothing would authenticate is ignored with a warning', async () => {
    const { body } = await ask('POST', 'transit/encrypt/orders', { plaintext: '', context: base64('x') });
    expect(body.warnings[0]).toContain('nothing authenticates it');
  });
});

test('a key for HMACs alone is refused with what to do, and what it says is so', async () => {
  const refused = [
    await ask('PUT', 'transit/keys/macs', { type: 'hmac', key_size: 32 }),
    await ask('PUT', 'transit/keys/macs/import', { type: 'hmac', ciphertext: 'eA==' }),
  ];
  for (const { status, body } of refused)
    expect([status, body.errors]).toEqual([400, [expect.stringMatching(/^unknown key type hmac: .*hmac-key/)]]);
  expect((await ask('GET', 'transit/keys/macs')).status).toBe(404);
  const secret = Buffer.alloc(32, 7);
  const [name, rules] = [
    'macs',
    ['hmac', 'verify'].map((action) => ({ path: `${actions}/macs/${action}`, operations: { execute: 'allow' } })),
  ];
  await made(name);
  const brought = { data: Buffer.alloc(32, 1).toString('base64'), 'hmac-key': secret.toString('base64'), 'as-version': 1 };
  expect((await appliance.request('POST', `${actions}/macs/import`, brought)).status).toBe(204);
  await appliance.request('POST', '/v1/config/policy/policies', { name, 'rest-api': { rules } });
  const { token } = (await appliance.request('POST', '/v1/state/keystore/token/create', { policies: [name] })).body;
  const hmac = `vault:v1:${createHmac('sha256', secret).update('signed').digest('base64')}`;
  expect(dataOf(await ask('PUT', 'transit/hmac/macs', { input: base64('signed') }, token))).toEqual({ hmac });
  expect(dataOf(await ask('PUT', 'transit/verify/macs', { input: base64('signed'), hmac }, token))).toEqual({ valid: true });
  expect((await ask('PUT', 'transit/encrypt/macs', { plaintext: '' }, token)).status).toBe(403);
});

describe('signatures', () => {
  test.each([
    ['ecdsa-p256', {}],
    ['ecdsa-p256', { marshaling_algorithm: 'jws' }],
    ['rsa-2048', {}],
    ['rsa-2048', { signature_algorithm: 'pkcs1v15' }],
    ['ed25519', { prehashed: false, signature_algorithm: 'pkcs1v15', hash_algorithm: 'sha2-256' }],
  ])('%s with %o are made and verified', async (type, options) => {
    const input = base64('signed');
    const { signature, key_version } = dataOf(await ask('PUT', `transit/sign/public-${type}`, { input, ...options }));
    expect([signature.slice(0, 9), key_version]).toEqual(['vault:v1:', 1]);
    expect(dataOf(await ask('PUT', `transit/verify/public-${type}`, { input, signature, ...options }))).toEqual({ valid: true });
    expect(dataOf(await ask('PUT', `transit/verify/public-${type}`, { input: base64('other'), signature, ...options }))).toEqual({
      valid: false,
    });
  });

  test.each([
    ['ed25519', 'prehashed', { prehashed: true, hash_algorithm: 'sha2-512' }],
    ['ed25519', 'prehashed', { prehashed: true, signature_algorithm: 'ed25519ph', hash_algorithm: 'sha2-512' }],
    ['ed25519', 'hash_algorithm', { hash_algorithm: 'sha2-512' }],
    ['ed25519', 'signature algorithm', { signature_algorithm: 'ed25519ctx' }],
    ['ed25519', 'context', { context: base64('c') }],
    ['ecdsa-p256', 'signature algorithm', { signature_algorithm: 'ed25519ph' }],
    ['ecdsa-p256', 'signature_context', { signature_context: base64('c') }],
    ['rsa-2048', 'signature_context', { signature_context: base64('c') }],
    ['rsa-2048', 'context', { context: base64('c') }],
  ])('%s neither signs nor verifies with %s, which it would not apply: %o', async (type, name, options) => {
    const input = Buffer.alloc(64, 7).toString('base64');
    const { signature } = dataOf(await ask('PUT', `transit/sign/public-${type}`, { input }));
    for (const act of ['sign', 'verify']) {
      const answer = await ask('PUT', `transit/${act}/public-${type}`, { input, ...options, ...(act === 'sign' ? {} : { signature }) });
      expect([answer.status, answer.body.errors[0]]).toEqual([400, expect.stringContaining(name)]);
    }
    const batch = await ask('PUT', `transit/verify/public-${type}`, { ...options, batch_input: [{ input, signature }] });
    expect(batch.body.data.batch_results).toEqual([{ valid: false, error: expect.stringContaining(name), reference: '' }]);
  });

  test('a context and Ed25519ph are verified as such', async () => {
    const text = Buffer.from('signed');
    const input = text.toString('base64');
    const { secretKey, publicKey } = ed25519.keygen();
    const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), publicKey]).toString('base64');
    const pem = `-----BEGIN PUBLIC KEY-----\n${spki}\n-----END PUBLIC KEY-----\n`;
    const key = { name: 'elsewhere', cipher: 'ed25519', 'public-key': pem };
    expect(await appliance.request('POST', '/v1/config/keystore/transit-keys', key)).toMatchObject({ status: 201 });
    const context = Buffer.from('of one protocol');
    const cases = [
      [ed25519.sign(text, secretKey), {}],
      [ed25519ph.sign(text, secretKey), { signature_algorithm: 'ed25519ph', hash_algorithm: 'sha2-512' }],
      [ed25519ph.sign(text, secretKey, { context }), { signature_algorithm: 'ed25519ph', signature_context: context.toString('base64') }],
      [ed25519ctx.sign(text, secretKey, { context }), { signature_context: context.toString('base64') }],
    ] as const;
    for (const [made, [octets]] of cases.entries())
      for (const [asked, [, options]] of cases.entries()) {
        const signature = `vault:v1:${Buffer.from(octets).toString('base64')}`;
        const answer = await ask('PUT', 'transit/verify/elsewhere', { input, signature, ...options });
        expect([made, asked, dataOf(answer)]).toEqual([made, asked, { valid: made === asked }]);
      }
  });

  test('what a signing client sends for every key is taken: the hash in the path, a prehashed input, options without effect', async () => {
    const body = { input: Buffer.alloc(32, 7).toString('base64'), prehashed: true, key_version: '0', signature_algorithm: 'pkcs1v15' };
    const { signature } = dataOf(await ask('PUT', 'transit/sign/public-ecdsa-p256/sha2-256', body));
    expect(dataOf(await ask('PUT', 'transit/verify/public-ecdsa-p256/sha2-256', { ...body, signature }))).toEqual({ valid: true });
  });

  test('options beside a batch hold for every item that has none of its own', async () => {
    const [input, wanted] = [base64('signed'), { prehashed: true, signature_algorithm: 'pkcs1v15', hash_algorithm: 'sha2-512' }];
    const digest = hash('sha512', 'signed', 'buffer').toString('base64');
    const items = [{ input: digest }, { input, prehashed: false, reference: 'own' }];
    const signed = dataOf(await ask('PUT', 'transit/sign/public-rsa-2048', { ...wanted, batch_input: items })).batch_results;
    const single = { input, signature_algorithm: 'pkcs1v15', hash_algorithm: 'sha2-512' };
    const { signature } = dataOf(await ask('PUT', 'transit/sign/public-rsa-2048', single));
    // PKCS#1 v1.5 gives the same signature each time.
    expect(signed.map((one: Record<string, unknown>) => [one['signature'], one['reference']])).toEqual([
      [signature, ''],
      [signature, 'own'],
    ]);
    const verified = await ask('PUT', 'transit/verify/public-rsa-2048', { ...wanted, batch_input: [{ input: digest, signature }] });
    expect(dataOf(verified).batch_results).toMatchObject([{ valid: true }]);
    await made('turned');
    await ask('PUT', 'transit/keys/turned/rotate');
    const hmacOf = async (body: object) => dataOf(await ask('PUT', 'transit/hmac/turned', body));
    const options = { key_version: 1, algorithm: 'sha2-512' };
    const [only] = (await hmacOf({ ...options, batch_input: [{ input }] })).batch_results;
    expect(only.hmac).toBe((await hmacOf({ ...options, input })).hmac);
    const marshaled = { marshaling_algorithm: 'jws', batch_input: [{ input }] };
    const [jws] = dataOf(await ask('PUT', 'transit/sign/public-ecdsa-p256', marshaled)).batch_results;
    expect(jws.signature).toMatch(/^vault:v1:[A-Za-z0-9_-]{86}$/);
  });

  test('hmac, of every key, by its path or its body', async () => {
    const { hmac } = dataOf(await ask('POST', 'transit/hmac/orders/sha2-512', { input: base64('x') }));
    expect(hmac).toMatch(/^vault:v1:/);
    expect(dataOf(await ask('POST', 'transit/verify/orders', { input: base64('x'), hmac, algorithm: 'sha2-512' }))).toEqual({
      valid: true,
    });
    for (const algorithm of ['none', 'sha1', 'md5'])
      expect((await ask('POST', `transit/hmac/orders/${algorithm}`, { input: '' })).status).toBe(400);
  });

  test('random octets', async () => {
    expect(Buffer.from(dataOf(await ask('POST', 'transit/random/16', {})).random_bytes, 'base64')).toHaveLength(16);
    for (const source of ['platform', 'seal', 'all'])
      expect(Buffer.from(dataOf(await ask('POST', `transit/random/${source}`, {})).random_bytes, 'base64')).toHaveLength(32);
    expect(dataOf(await ask('POST', 'transit/random', { bytes: 4, format: 'hex' })).random_bytes).toMatch(/^[0-9a-f]{8}$/);
  });
});

describe('RSA keys for encryption', () => {
  const opened = async (name: string, ciphertext: string, token?: string) =>
    dataOf(await ask('PUT', `transit/decrypt/${name}`, { ciphertext }, token)).plaintext;

  test('encrypt, decrypt, rewrap and make data keys, with the OAEP of Vault', async () => {
    await appliance.request('POST', '/v1/config/keystore/transit-keys', { name: 'box', cipher: 'rsa-2048', use: 'encrypt' });
    const { keys, supports_encryption: encrypts, supports_signing: signs } = dataOf(await ask('GET', 'transit/keys/box'));
    expect([encrypts, signs]).toEqual([true, false]);
    const { ciphertext } = dataOf(await ask('PUT', 'transit/encrypt/box', { plaintext: base64('sealed') }));
    expect(ciphertext).toMatch(/^vault:v1:/);
    expect(await opened('box', ciphertext)).toBe(base64('sealed'));
    const elsewhere = publicEncrypt(
      { key: keys['1'].public_key, oaepHash: 'sha256', padding: constants.RSA_PKCS1_OAEP_PADDING },
      Buffer.from('sent'),
    );
    expect(await opened('box', `vault:v1:${elsewhere.toString('base64')}`)).toBe(base64('sent'));
    await ask('PUT', 'transit/keys/box/rotate');
    const again = dataOf(await ask('PUT', 'transit/rewrap/box', { ciphertext }));
    expect([again.key_version, again.ciphertext.slice(0, 9), await opened('box', again.ciphertext)]).toEqual([
      2,
      'vault:v2:',
      base64('sealed'),
    ]);
    const data = dataOf(await ask('PUT', 'transit/datakey/plaintext/box'));
    expect(await opened('box', data.ciphertext)).toBe(data.plaintext);
    const refused = await ask('PUT', 'transit/sign/box', { input: base64('text') });
    expect(refused.status).toBe(400);
    for (const [path, body] of [
      ['encrypt', { plaintext: base64('x'), padding_scheme: 'pkcs1v15' }],
      ['decrypt', { ciphertext, padding_scheme: 'pkcs1v15' }],
      ['rewrap', { ciphertext, encrypt_padding_scheme: 'pkcs1v15' }],
      ['datakey/plaintext', { padding_scheme: 'pkcs1v15' }],
    ] as const)
      expect((await ask('PUT', `transit/${path}/box`, body)).body.errors).toEqual([expect.stringContaining('must be oaep')]);
    expect((await ask('PUT', 'transit/encrypt/box', { plaintext: base64('x'), padding_scheme: 'oaep' })).status).toBe(200);
  });

  test('that may leave are exported as encryption keys', async () => {
    const fields = { name: 'leaving', cipher: 'rsa-2048', use: 'encrypt', exportable: true };
    await appliance.request('POST', '/v1/config/keystore/transit-keys', fields);
    expect(dataOf(await ask('GET', 'transit/export/encryption-key/leaving')).keys['1']).toContain('PRIVATE KEY');
    expect((await ask('GET', 'transit/export/signing-key/leaving')).status).toBe(400);
  });

  test('are those that this API makes, where the tenant has that so', async () => {
    const token = await makeTenant('boxes');
    const made = dataOf(await ask('PUT', 'transit/keys/mine', { type: 'rsa-2048' }, token));
    expect([made.supports_encryption, made.supports_signing]).toEqual([true, false]);
    const { ciphertext } = dataOf(await ask('PUT', 'transit/encrypt/mine', { plaintext: base64('sealed') }, token));
    expect(await opened('mine', ciphertext, token)).toBe(base64('sealed'));
    expect(dataOf(await ask('PUT', 'transit/keys/other', { type: 'ecdsa-p256' }, token)).supports_signing).toBe(true);
  });
});
