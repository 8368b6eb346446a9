// The same tokens and certificates at OpenBao's logins and at ours: where both differ, DIVERGENCES.md of the plugin has a row that says so.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireToolchain } from '../clients/commands.ts';
import { type Answer, ask } from '../harness/client.ts';
import { type Daemon, freePort, startDaemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { type Identity, makeIdentity, usages, x509 } from '../plugins/ca/pki.ts';
import { base64url, hmacToken, type Json, makeSigner, makeToken, signTexts } from '../plugins/jwt/tokens.ts';
import { obtainOpenBao, type OpenBao, startOpenBao } from './vault/openbao.ts';

const at = temporaryDirectory();
const noPython = await requireToolchain('python3').then(
  () => '',
  (error: Error) => ` (${error.message})`,
);
const issuer = 'https://issuer.test';
const signer = makeSigner('ES256');
const other = makeSigner('ES256');
const now = Math.floor(Temporal.Now.instant().epochMilliseconds / 1_000);
const right = { iss: issuer, aud: 'keystore', sub: 'workload', iat: now - 5, nbf: now - 5, exp: now + 600 };
const pem = (key: typeof signer): string => key.publicKey.export({ type: 'spki', format: 'pem' });
let there: OpenBao;
let here: Daemon;
let certificateUrl: string;

/** Whether a login gives a token. Anything but a refusal of the caller fails the test. */
function admits({ status, text }: Answer): boolean {
  expect([200, 400, 401, 403, 500], text).toContain(status);
  return status === 200;
}

describe.skipIf(noPython !== '')(`logins beside OpenBao's${noPython}`, () => {
  beforeAll(async () => {
    there = await startOpenBao(await obtainOpenBao(), at('openbao'));
    const port = await freePort();
    here = await startDaemon({ directory: at('here'), args: ['--certificate-listen', `127.0.0.1:${port}`] });
    certificateUrl = `https://127.0.0.1:${port}`;
  }, 300_000);
  afterAll(async () => {
    there?.stop();
    await here?.stop();
  });

  describe('tokens', () => {
    beforeAll(async () => {
      await there.data('POST', 'sys/auth/jwt', { type: 'jwt' });
      await there.data('POST', 'auth/jwt/config', { jwt_validation_pubkeys: [pem(signer)], bound_issuer: issuer });
      const role = { role_type: 'jwt', user_claim: 'sub', bound_audiences: ['keystore'], bound_subject: 'workload', policies: ['default'] };
      await there.data('POST', 'auth/jwt/role/r', role);
      const base = '/v1/config/keystore/authentication/jwt';
      await here.request('POST', base, { name: 'i', kind: 'generic', issuer, 'static-keys': pem(signer) });
      const bindings = [{ claim: 'sub', value: 'workload' }];
      await here.request('POST', `${base}/i/roles`, { name: 'r', audience: 'keystore', bindings, use: 'many', 'token-policies': ['root'] });
    });

    const text = (claims: Json): string => JSON.stringify(claims);
    const header = text({ alg: 'ES256', typ: 'JWT' });
    const without = (...names: readonly (keyof typeof right)[]): Json =>
      Object.fromEntries(Object.entries(right).filter(([name]) => !(names as readonly string[]).includes(name)));
    const twice = `{"sub":"other",${text(right).slice(1)}`;
    const token = (claims: Json, more: Json = {}): string => makeToken(signer, claims, more);

    test.each<readonly [what: string, jwt: string, there: boolean, here: boolean]>([
      ['the right one', token(right), true, true],
      ['an unknown kid beside keys in PEM', token(right, { kid: 'other' }), true, true],
      ['another issuer', token({ ...right, iss: `${issuer}/` }), false, false],
      ['no issuer', token(without('iss')), false, false],
      ['another audience', token({ ...right, aud: 'other' }), false, false],
      ['another subject', token({ ...right, sub: 'workload2' }), false, false],
      ['an ended one', token({ ...right, iat: now - 7_200, nbf: now - 7_200, exp: now - 3_600 }), false, false],
      ['one that has not begun', token({ ...right, iat: now + 3_000, nbf: now + 3_000, exp: now + 3_600 }), false, false],
      ['one of another key', makeToken(other, right), false, false],
      ['no signature', `${base64url(text({ alg: 'none' }))}.${base64url(text(right))}.`, false, false],
      ['a MAC by the public key', hmacToken(pem(signer), { alg: 'HS256', typ: 'JWT' }, right), false, false],
      ['no end', token(without('exp')), true, false],
      ['an end in ten years', token({ ...right, exp: now + 315_360_000 }), true, false],
      ['a type that is for others', token(right, { typ: 'secevent+jwt' }), true, false],
      ['an empty list of critical names', token(right, { crit: [] }), true, false],
      ['an audience beside ours', token({ ...right, aud: ['keystore', 'other'] }), true, false],
      ['another party', token({ ...right, azp: 'other' }), true, false],
      ['a member twice', signTexts(signer, header, twice), false, false],
      ['names in capitals', token({ ...without('aud'), AUD: 'keystore' }), false, false],
    ])('%s', async (_what, jwt, isTakenThere, isTakenHere) => {
      const theirs = await there.exchange('PUT', 'auth/jwt/login', { role: 'r', jwt });
      const ours = await here.exchange('POST', '/v1/jwt-login', { tenant: 'system', role: 'r', jwt });
      expect([admits(theirs), admits(ours)], `${theirs.text} ${ours.text}`).toEqual([isTakenThere, isTakenHere]);
    });
  });

  describe('certificates', () => {
    let root: Identity;
    let twin: Identity;
    const makers: Readonly<Record<string, () => Promise<Identity>>> = {
      'the right one': () => makeIdentity({ subject: 'CN=device1', issuer: root }),
      'another name': () => makeIdentity({ subject: 'CN=device2', issuer: root }),
      'an ended one': () => makeIdentity({ subject: 'CN=device1', issuer: root, notAfter: new Date(Date.now() - 60_000) }),
      'one for servers': () =>
        makeIdentity({
          subject: 'CN=device1',
          issuer: root,
          extensions: [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth])],
        }),
      'one of a twin of the CA': () => makeIdentity({ subject: 'CN=device1', issuer: twin }),
      'one that signs itself': () => makeIdentity({ subject: 'CN=device1' }),
      'one that says it is a CA': () =>
        makeIdentity({ subject: 'CN=device1', issuer: root, ca: true, extensions: [usages('digitalSignature', 'keyCertSign')] }),
      'a key that does not sign': () => makeIdentity({ subject: 'CN=device1', issuer: root, extensions: [usages('keyAgreement')] }),
      'two common names': () => makeIdentity({ subject: 'CN=other, CN=device1', issuer: root }),
    };
    const login = async (identity: Identity): Promise<readonly [Answer, Answer]> => {
      const client = { key: identity.keys.pem, cert: identity.pem };
      const trust = readFileSync(there.caFile, 'utf8');
      return [
        await ask(there.url, '/v1/auth/cert/login', { method: 'PUT', body: { name: 'r' }, ca: trust, client }),
        await ask(certificateUrl, '/v1/certificate-login', {
          method: 'POST',
          body: { tenant: 'system', role: 'r' },
          ca: here.caPem,
          client,
        }),
      ];
    };

    beforeAll(async () => {
      root = await makeIdentity({ subject: 'CN=Root', ca: true });
      twin = await makeIdentity({ subject: 'CN=Root', ca: true });
      await there.data('POST', 'sys/auth/cert', { type: 'cert' });
      await there.data('POST', 'auth/cert/certs/r', { certificate: root.pem, allowed_common_names: ['device1'], policies: ['default'] });
      await here.request('POST', '/v1/config/keystore/tls/ca', { name: 'root', 'ca-cert': root.pem });
      const role = { name: 'r', 'trust-ca': 'root', names: ['device1'], revocation: 'none', 'token-policies': ['root'] };
      await here.request('POST', '/v1/config/keystore/authentication/certificate/roles', role);
    });

    test.each<readonly [what: string, there: boolean, here: boolean]>([
      ['the right one', true, true],
      ['another name', false, false],
      ['an ended one', false, false],
      ['one for servers', false, false],
      ['one of a twin of the CA', false, false],
      ['one that signs itself', false, false],
      ['one that says it is a CA', true, false],
      ['a key that does not sign', true, false],
      ['two common names', true, false],
    ])('%s', async (what, isTakenThere, isTakenHere) => {
      const [theirs, ours] = await login((await makers[what]?.()) as Identity);
      expect([admits(theirs), admits(ours)], `${theirs.text} ${ours.text}`).toEqual([isTakenThere, isTakenHere]);
    });

    test('a token of it works without the certificate there, and with it alone here', async () => {
      const [theirs, ours] = await login((await makers['the right one']?.()) as Identity);
      const trust = readFileSync(there.caFile, 'utf8');
      const headers = { 'x-vault-token': String(theirs.body.auth.client_token) };
      const used = await ask(there.url, '/v1/auth/token/lookup-self', { ca: trust, token: null, headers });
      const unused = await here.exchange('GET', '/v1/config/keystore/transit-keys', undefined, String(ours.body.token));
      expect([used.status, unused.status]).toEqual([200, 401]);
    });
  });
});
