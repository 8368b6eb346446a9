// login oidc: keystorectl shows address and code, a person approves in the browser, and the token arrives.
import { mkdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fieldOf, pathOf, startHouse, type House } from '../oidc/house.ts';
import { temporaryDirectory } from '../setup/temporary.ts';
import { ctlFor, type Ctl, type Run } from './run.ts';

const path = temporaryDirectory();
let house: House;
let ctl: Ctl;

beforeAll(async () => {
  for (const name of ['appliance', 'home']) mkdirSync(path(name));
  house = await startHouse(path('appliance'));
  await house.setService();
  await house.setRole('g1', { 'claim-mappings': { email: 'username' }, 'token-policies': ['user'] });
  house.provider.script = { person: { groups: ['g1'], email: 'eve@x.test' } };
  ctl = ctlFor(house.appliance, readFileSync(path('appliance', 'tls-cert.pem'), 'utf8'), path('home'));
});
afterAll(() => house.close());

/** Runs the login while a person behind the shown address decides. */
async function logIn(decision: 'approve' | 'deny'): Promise<Run> {
  let address: (url: string) => void;
  const shown = new Promise<string>((done) => (address = done));
  const onStderr = (text: string): void => address(/https:\/\/\S+/.exec(text)?.[0] ?? '');
  const running = ctl(['login', 'oidc', '--tenant', 'system', '--service', 'corp'], { environment: { KEYSTORED_TOKEN: '' }, onStderr });
  const browser = house.browser();
  const begun = await browser.get(pathOf(await shown));
  const back = await browser.get(pathOf(house.provider.authorize(String(begun.headers['location']))));
  const page = String((await browser.get(String(back.headers['location']))).body);
  await browser.post('/login/confirm', { request: fieldOf(page, 'request'), 'form-token': fieldOf(page, 'form-token'), decision });
  return running;
}

test('what a person approves logs in, and the profile has the token', async () => {
  const { code, stderr } = await logIn('approve');
  expect(stderr).toMatch(/confirm there that the code is [A-Z]{4}-[A-Z]{4}/);
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('logged in') });
  const info = await ctl(['do', 'token', 'info'], { environment: { KEYSTORED_TOKEN: '' } });
  expect(JSON.parse(info.stdout)).toMatchObject({ user: 'eve@x.test' });
});

test('what a person denies is exit code 3', async () => {
  expect(await logIn('deny')).toMatchObject({ code: 3, stderr: expect.stringContaining('access-denied') });
});
