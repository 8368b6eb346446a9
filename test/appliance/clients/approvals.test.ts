// The client libraries ask for approval, and send the same request once more with it.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AskedForApproval, Client } from '../../../dist/clients/typescript/src/index.ts';
import { type People, rule, rulePath, startPeople } from '../../core/approvals/people.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const key = 'payments';
let people: People;
let ca: string;

beforeAll(async () => {
  people = await startPeople(path());
  ca = readFileSync(path('tls-cert.pem'), 'utf8');
  await people.as('root', 'POST', '/v1/config/keystore/transit-keys', { name: key, exportable: true });
  await people.as('root', 'POST', rulePath, rule('key-material', { needed: 1 }));
});
afterAll(() => people.appliance.close());

test('TypeScript asks, says what was asked, and runs it with the approval once', async () => {
  const client = new Client({ address: people.appliance.url, ca, credentials: { token: people.tokens['asker'] ?? '' } });
  await expect(client.transitKeys.export(key, {})).rejects.toMatchObject({ code: 'approval-needed' });
  const asked: unknown = await client
    .askingApproval('für die neue Bank')
    .transitKeys.export(key, {})
    .catch((error: unknown) => error);
  if (!(asked instanceof AskedForApproval)) throw asked;
  expect([asked.status, asked.needed, asked.words.split(' ').length]).toEqual([202, 1, 6]);
  await people.approve('anna', asked.id);
  expect(await client.withApproval(asked.id).transitKeys.export(key, {})).toHaveProperty('keys');
  await expect(client.withApproval(asked.id).transitKeys.export(key, {})).rejects.toMatchObject({ code: 'approval-void' });
  expect(await client.askingApproval('nothing to ask for').transitKeys.encrypt(key, { plaintext: 'aGVsbG8=' })).toHaveProperty(
    'ciphertext',
  );
  client.close();
});

test('Python does, too', async () => {
  const program = `
import sys
from keystored_client import AskedForApproval, Client, Token
url, token, ca, step, id = sys.argv[1:]
with Client(url, credentials=Token(token), ca=open(ca).read()) as client:
    if step == "ask":
        try:
            client.asking_approval("für die neue Bank").transit_keys.export("payments", {"version": 1})
        except AskedForApproval as asked:
            print(asked.id, asked.status, len(asked.words.split()))
    else:
        print(len(client.with_approval(id).transit_keys.export("payments", {"version": 1}).keys))
`;
  writeFileSync(path('ask.py'), program);
  const environment = { ...process.env, PYTHONPATH: resolve('dist/clients/python/src') };
  const run = async (step: string, id: string): Promise<string> => {
    const words = [path('ask.py'), people.appliance.url, people.tokens['asker'] ?? '', join(path(), 'tls-cert.pem'), step, id];
    return (await promisify(execFile)('python3', words, { env: environment })).stdout.trim();
  };
  const [id = '', status, words] = (await run('ask', '')).split(' ');
  expect([status, words]).toEqual(['202', '6']);
  await people.approve('anna', id);
  expect(await run('send', id)).toBe('1');
});
