// Custody statements in other people's libraries: PyJWT and jwcrypto verify what the appliance signed, and refuse what was changed.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { virtualEnvironment } from '../clients/virtual-environment.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { ok, startTransitHarness, type TransitHarness } from '../plugins/transit/harness.ts';
import { statementOf } from '../plugins/transit/custody/statements.ts';

const path = temporaryDirectory();
const page = readFileSync(join(import.meta.dirname, '../../appliance/docs/understand/custody.md'), 'utf8');
let harness: TransitHarness;
let python: string;

/** The program of the documentation, which uses jwcrypto. */
const documented = /```python\n([^]*?)```/.exec(page)?.[1] ?? '';

/** The same with PyJWT, which judges the registered claims too. */
const withPyJwt = `
import json
import jwt

text = open("orders.jws").read().strip()
keys = jwt.PyJWKSet.from_dict(json.load(open("attestation-keys.json")))
header = jwt.get_unverified_header(text)
key = next(one for one in keys.keys if one.key_id == header["kid"])
claims = jwt.decode(text, key, algorithms=["ES256"], options={"require": ["iss", "sub", "jti", "iat"]})
assert header["typ"] == "keystored-custody+jwt"
print(json.dumps(claims))
`;

beforeAll(async () => {
  const bin = await virtualEnvironment('custody', [], ['PyJWT[crypto]', 'jwcrypto'], join(import.meta.dirname, 'custody'));
  python = join(bin, 'python3');
  harness = await startTransitHarness(path('harness'));
});
afterAll(() => harness.stop());

const run = (program: string): Record<string, unknown> =>
  JSON.parse(execFileSync(python, ['-c', program], { cwd: path(), encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })) as Record<
    string,
    unknown
  >;

test.for([
  ['jwcrypto, as documented', documented],
  ['PyJWT', withPyJwt],
])('%s verifies a statement and refuses a changed one', async ([name = '', program = '']) => {
  const key = name.toLowerCase().replaceAll(/[^a-z]+/g, '-');
  await harness.create(key, { cipher: 'ecdsa-p256' });
  const statement = await statementOf(harness, key);
  const published = await ok(200, harness.request('GET', '/v1/state/system/attestation-keys', undefined, { token: undefined }));
  writeFileSync(path('attestation-keys.json'), JSON.stringify(published));
  writeFileSync(path('orders.jws'), `${statement}\n`);
  expect(run(program)).toMatchObject({ sub: `/v1/state/keystore/transit-keys/${key}`, key: { name: key, version: 1 } });
  const [head = '', body = '', signature = ''] = statement.split('.');
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>;
  const forged = Buffer.from(JSON.stringify({ ...claims, iat: 1 })).toString('base64url');
  writeFileSync(path('orders.jws'), `${head}.${forged}.${signature}`);
  expect(() => run(program)).toThrow(/[Ii]nvalid|verification/);
});
