// OpenBao CVE-2025-62513 and CVE-2025-62705: bodies and octet fields stood in the audit log unredacted. Every endpoint, with planted secrets.
import { beforeAll, expect, test } from 'vitest';
import type { AnyEndpoint } from '../../../core/http/endpoint.ts';
import { toKebab } from '../../../core/wire/schema.ts';
import { startVictim, type Victim } from '../victim.ts';

let victim: Victim;
beforeAll(async () => {
  victim = await startVictim();
});

/** As text, as base64 and as it would look inside other encodings. */
const canary = 'canary-7f3a9c1e-in-the-coal-mine';
const forms = [canary, Buffer.from(canary).toString('base64'), Buffer.from(canary).toString('hex'), encodeURIComponent(canary)];

function expectUnwritten(): void {
  const written = victim.written();
  for (const form of forms) expect(written).not.toContain(form);
  expect(written).not.toContain(victim.rootToken);
}

test('secret fields of every endpoint, right and wrong, alone, misspelt, doubled and too long', async () => {
  const secretOnes = victim.app.routes.filter(({ secretInput = [] }) => secretInput.length > 0);
  expect(secretOnes.length).toBeGreaterThan(15);
  for (const endpoint of secretOnes) {
    const path = endpoint.path.replaceAll(/\{[^}]+\}/g, 'some');
    for (const field of endpoint.secretInput ?? []) {
      const wire = toKebab(field);
      for (const value of [canary, forms[1], [canary], { x: canary }, canary.repeat(10)]) {
        for (const name of [wire, wire.toUpperCase(), `${wire}x`]) await send(endpoint, path, JSON.stringify({ [name]: value }));
        await send(endpoint, path, `{"${wire}":"${canary}","${wire}":"${canary}"}`);
      }
      await send(endpoint, path, `{"${wire}":"${canary}`);
    }
  }
  expectUnwritten();
});

test('in paths, queries, headers, methods, media types and bodies that are no JSON', async () => {
  for (const target of [`/v1/${canary}`, `/v1/config/tenants?x=${canary}`, `/v1/config/tenants?fields=${canary}`, `/?${canary}`]) {
    await victim.raw('GET', target);
    await victim.raw('GET', target, { token: undefined });
  }
  const headers = {
    authorization: `Bearer ${canary}`,
    cookie: `a=${canary}`,
    'x-api-key': canary,
    referer: `https://x/${canary}`,
    'if-match': canary,
  };
  for (const [name, value] of Object.entries(headers)) await victim.raw('GET', '/v1/config/tenants', { headers: { [name]: value } });
  for (const type of ['text/plain', `application/${canary}`, 'application/json']) {
    await victim.request('POST', '/v1/config/tenants', canary, { headers: { 'content-type': type } });
  }
  expectUnwritten();
});

test('secrets in documents and keys that went in and came out', async () => {
  const keys = '/v1/config/keystore/transit-keys';
  await victim.request('POST', keys, { name: 'k', exportable: true, 'allow-plaintext-backup': true, derived: true });
  const actions = '/v1/state/keystore/transit-keys/k';
  const plaintext = forms[1];
  const { ciphertext } = (await victim.request('POST', `${actions}/encrypt`, { plaintext, context: canary })).body;
  await victim.request('POST', `${actions}/decrypt`, { ciphertext, context: canary });
  await victim.request('POST', `${actions}/decrypt`, { ciphertext, context: `${canary}x` });
  const exported = (await victim.request('POST', `${actions}/export`, {})).body.keys?.['1'] ?? '';
  const backup = (await victim.request('POST', `${actions}/backup`, {})).body.key;
  await victim.request('POST', '/v1/config/keystore/tls/ca', { name: 'c', est: { enabled: true, 'initial-enroll-secret': canary } });
  expect(backup.length).toBeGreaterThan(100);
  const written = victim.written();
  expect(written).not.toContain(String(backup).slice(40, 100));
  expect(exported === '' || !written.includes(String(exported))).toBe(true);
  expectUnwritten();
});

test('secrets of documents in another form than the document has', async () => {
  const resources = victim.app.routes.filter(({ method, documented }) => method === 'POST' && documented?.resource?.form === 'list');
  const paths = resources.flatMap(({ path, documented }) =>
    (documented?.resource?.facts.secretFields ?? []).map((field) => [path, field.split('.').map(toKebab)] as const),
  );
  expect(paths.length).toBeGreaterThanOrEqual(2);
  for (const [path, names] of paths) {
    const [outer = '', inner = outer] = names;
    const secret = { [inner]: canary };
    const wrong = [[canary], [secret], [[secret]], secret, { [outer]: secret }, { [outer]: [secret] }];
    const fields = ['name', 'display-name', 'client-id', 'subject', 'ttl', outer];
    const documents = [{ [outer]: canary }, ...fields.flatMap((field) => wrong.map((value) => ({ [field]: value })))];
    const { body: all } = await victim.request('GET', path);
    for (const document of documents) {
      await victim.request('POST', path, { name: 'wrong', ...document });
      await victim.request('PUT', `${path}/wrong`, document);
      for (const { name } of all) await victim.request('PATCH', `${path}/${name}`, document);
    }
  }
  expectUnwritten();
});

test('a private key where a public one belongs', async () => {
  const pem = `-----BEGIN PRIVATE KEY-----\n${canary}\n-----END PRIVATE KEY-----\n`;
  for (const [path, field] of [
    ['/v1/config/keystore/transit-keys', 'public-key'],
    ['/v1/config/keystore/tls/ca', 'ca-cert'],
  ] as const) {
    const answer = await victim.request('POST', path, { name: 'pasted', [field]: pem });
    expect(answer.status).toBe(400);
  }
  expectUnwritten();
});

test('and every request above is on record all the same', () => {
  const records = victim.written().split('\n').filter((line) => line.startsWith('{"chain"')); // prettier-ignore
  expect(records.length).toBeGreaterThan(200);
  expect(records.filter((line) => line.includes('"bytes":')).length).toBeGreaterThan(0);
});

async function send({ method, consumes }: AnyEndpoint, path: string, body: string): Promise<void> {
  const { status, body: answer } = await victim.request(method, path, body, {
    headers: { 'content-type': consumes ?? 'application/json' },
  });
  expect(status).toBeLessThan(500);
  for (const form of forms) expect(JSON.stringify(answer ?? '')).not.toContain(form);
}
