// What leaves the API while the token's signatures are wrong: with `check-answers` nothing that does not verify, and never a certificate.
import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Answer, startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { type FaultTable, makeFaultyToken } from '../../harness/token/faulty-module.ts';

const path = temporaryDirectory();
const config = '/v1/config/keystore';
const state = '/v1/state/keystore';
const text = Buffer.from('what is signed').toString('base64');
const flip = { name: 'C_Sign', kind: 'flip', argument: 41 } as const;
const always = 1_000_000;
let appliance: TestAppliance;
let table: FaultTable;

beforeAll(async () => {
  const faulty = await makeFaultyToken(path());
  table = faulty.table;
  appliance = await startTestAppliance({ directory: path(), tokens: [faulty.token], checkAnswers: true });
});

beforeEach(() => table.disarm());

afterAll(() => appliance.close());

const post = (where: string, body: object): Promise<Answer> => appliance.request('POST', where, body);
const act = (name: string, action: string, body: object): Promise<Answer> => post(`${state}/transit-keys/${name}/${action}`, body);

test.each(['rsa-2048', 'ecdsa-p256', 'ed25519'])('sign with %s, alone, in a batch and as OpenPGP', async (cipher) => {
  const name = `signs-${cipher}`;
  expect((await post(`${config}/transit-keys`, { name, cipher, 'openpgp-user-id': 'Ada <ada@example.org>' })).status).toBe(201);
  const signed = async (action: string, body: object): Promise<Answer['body']> => {
    await act(name, action, body);
    table.arm(flip);
    const answer = await act(name, action, body);
    expect(table.struck).toBe(1);
    expect(answer.status).toBe(200);
    table.disarm();
    return answer.body;
  };
  const { signature } = await signed('sign', { text });
  expect((await act(name, 'verify', { text, signature })).body).toMatchObject({ valid: true });
  const { 'batch-results': results } = await signed('sign-batch', { 'batch-input': [{ text }, { text }] });
  for (const one of results) expect((await act(name, 'verify', { text, signature: one.signature })).body).toMatchObject({ valid: true });
  const { signature: openpgp } = await signed('openpgp-sign', { text });
  expect((await act(name, 'openpgp-verify', { text, signature: openpgp })).body).toMatchObject({ valid: true });
  table.arm({ ...flip, times: always });
  for (const action of ['sign', 'openpgp-sign']) {
    const refused = await act(name, action, { text });
    expect([refused.status, refused.body.code, refused.body.signature]).toEqual([503, 'hsm-unavailable', undefined]);
  }
});

test('a certificate of a CA verifies, whichever signature was wrong while it was made', async () => {
  for (let before = 0; before < 8; before++) {
    table.arm({ ...flip, before });
    const name = `ca-${before}`;
    const { status, body } = await post(`${config}/tls/ca`, { name });
    table.disarm();
    // A wrong answer while the key is made may refuse the CA; then there is none.
    expect(['201 undefined', '503 hsm-unavailable']).toContain(`${status} ${body.code}`);
    const { body: found } = await appliance.request('GET', `${state}/tls/ca/${name}`);
    if (status !== 201) continue;
    const certificate = new X509Certificate(found['ca-cert']);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
  }
  expect(await appliance.check()).toEqual([]);
});
