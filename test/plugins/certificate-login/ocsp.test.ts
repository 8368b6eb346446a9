// OCSP responders of CAs elsewhere: `openssl ocsp` answers, for the CA itself, for a responder of it, and for those who are neither.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { type Identity, makeIdentity, usages, x509 } from '../ca/pki.ts';
import { openssl } from '../est/openssl.ts';
import { type CertificateHarness, type Client, listOf, roles, startCertificateHarness } from './harness.ts';

const at = temporaryDirectory();
let harness: CertificateHarness;
let root: Identity;
let one: Identity;
let other: Identity;
let url: string;

/** How the responder answers; `revoked`, `unknown`: of which certificates. */
type Answering = {
  readonly signer?: Identity;
  /** the CA whose responder is at a path; elsewhere it is the root */
  readonly issuers?: Readonly<Record<string, Identity>>;
  readonly revoked?: readonly Identity[];
  readonly unknown?: readonly Identity[];
  readonly flags?: readonly string[];
  /** in place of the answer that was made */
  readonly instead?: (answer: Buffer) => { readonly status?: number; readonly body: Buffer | string };
};
let answering: Answering = {};
let asked = 0;

const serialOf = ({ certificate }: Identity): string => new x509.X509Certificate(new Uint8Array(certificate)).serialNumber.toUpperCase();
const write = (name: string, text: string | Buffer): string => {
  writeFileSync(at(name), text);
  return at(name);
};
const clientOf = ({ keys, pem }: Identity, ...above: readonly Identity[]): Client => ({
  key: keys.pem,
  cert: [pem, ...above.map((ca) => ca.pem)].join('\n'),
});

/** Every certificate that a CA of the test has made. */
const made = new Map<Identity, Identity[]>();
async function issue(issuer: Identity, subject: string, options: Partial<Parameters<typeof makeIdentity>[0]> = {}): Promise<Identity> {
  const identity = await makeIdentity({ subject, issuer, ...options });
  made.set(issuer, [...(made.get(issuer) ?? []), identity]);
  return identity;
}

function respond(path: string, request: Buffer): Buffer {
  const { signer, issuers = {}, revoked = [], unknown = [], flags = ['-ndays', '1'] } = answering;
  const issuer = issuers[path] ?? root;
  const by = signer ?? issuer;
  const lines = (made.get(issuer) ?? []).flatMap((identity) => {
    if (unknown.includes(identity)) return [];
    const [state, when] = revoked.includes(identity) ? ['R', '250101000000Z'] : ['V', ''];
    return [[state, '491231235959Z', when, serialOf(identity), 'unknown', `/CN=${serialOf(identity)}`].join('\t')];
  });
  const files = ['-index', write('index', `${lines.join('\n')}\n`), '-CA', write('ca.pem', issuer.pem)];
  const signing = ['-rsigner', write('signer.pem', by.pem), '-rkey', write('signer.key', by.keys.pem), ...flags];
  const { code, output } = openssl('ocsp', ...files, ...signing, '-reqin', write('request', request), '-respout', at('response'));
  if (code !== 0) throw new Error(output);
  return readFileSync(at('response'));
}

const server = createServer((request, response) => {
  void (async () => {
    asked++;
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const instead: NonNullable<Answering['instead']> = answering.instead ?? ((body) => ({ body }));
    const { status = 200, body } = instead(respond(request.url ?? '', Buffer.concat(parts)));
    response.writeHead(status, { 'content-type': 'application/ocsp-response' }).end(body);
  })();
});

beforeAll(async () => {
  harness = await startCertificateHarness(at());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  root = await makeIdentity({ subject: 'CN=Elsewhere', ca: true });
  [one, other] = [await issue(root, 'CN=one'), await issue(root, 'CN=two')];
  await harness.must('POST', '/v1/config/keystore/tls/ca', { name: 'elsewhere', 'ca-cert': root.pem });
  await harness.must('POST', '/v1/config/keystore/tls/ca', { name: 'devices', subject: 'CN=devices' });
});
afterAll(async () => {
  server.close();
  await harness.close();
});
beforeEach(() => {
  [answering, asked] = [{}, 0];
  // What was answered before is asked again.
  harness.clock.advance(301);
});

/** Roles have responders of their own: those of one URL share what it has answered. */
const setRole = (name: string, more: object = { 'ocsp-urls': [`${url}${name}`] }) =>
  harness.setRole(name, { 'trust-ca': 'elsewhere', ...more });
const verdict = async (role: string, client: Client): Promise<string> => {
  const { status, body } = await harness.login(role, client);
  return status === 200 ? 'in' : String(body.code);
};
const explain = async (role: string, { cert }: Client) =>
  (await harness.must('POST', `${roles.replace('config', 'state')}/${role}/explain`, { certificate: cert })) as Record<string, string>;
const delegate = (options: Partial<Parameters<typeof makeIdentity>[0]> = {}, issuer = root) =>
  makeIdentity({ subject: 'CN=responder', issuer, extensions: [new x509.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.9'])], ...options });

test('an answer that names no end counts for 15 minutes', async () => {
  await setRole('endless');
  answering = { flags: [] };
  expect(await verdict('endless', clientOf(one))).toBe('in');
  answering = { instead: () => ({ status: 500, body: '' }) };
  harness.clock.advance(400);
  expect([await verdict('endless', clientOf(one)), asked]).toEqual(['in', 2]);
  harness.clock.advance(300);
  expect(await verdict('endless', clientOf(one))).toBe('login-failed');
});

test('a certificate that the responder calls good logs in; logins at once, and soon after, share one question', async () => {
  await setRole('asked');
  expect(await Promise.all([1, 2, 3].map(() => verdict('asked', clientOf(one))))).toEqual(['in', 'in', 'in']);
  expect([await verdict('asked', clientOf(one)), asked]).toEqual(['in', 1]);
  harness.clock.advance(301);
  expect([await verdict('asked', clientOf(one)), asked]).toEqual(['in', 2]);
  // A certificate of another CA has nobody asked.
  const foreigner = await makeIdentity({ subject: 'CN=one', issuer: await makeIdentity({ subject: 'CN=Elsewhere', ca: true }) });
  expect([await verdict('asked', clientOf(foreigner)), asked]).toEqual(['login-failed', 2]);
});

test('answers that are not right, not signed by the CA or a responder of it, not current, or of another question count for nothing', async () => {
  const twin = await makeIdentity({ subject: 'CN=Elsewhere', ca: true });
  const otherUsage = { extensions: [new x509.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.2'])] };
  const noSigning = { extensions: [new x509.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.9']), usages('keyEncipherment')] };
  const ended = { notBefore: new Date(Date.now() - 7_200_000), notAfter: new Date(Date.now() - 3_600_000) };
  const nextTo = await issue(root, 'CN=three');
  let earlier: Buffer = Buffer.alloc(0);
  const unsigned = (status: number) => () => ({ body: Buffer.from([0x30, 3, 0x0a, 1, status]) });
  const cases: readonly (readonly [what: string, Answering, says: string])[] = [
    ['unknown', { unknown: [one] }, 'gave no answer'],
    ['another key of the same name', { signer: twin }, 'has signed'],
    ['a responder of another CA', { signer: await delegate({}, twin) }, 'has signed'],
    ['any certificate of the CA', { signer: nextTo }, 'has signed'],
    ['a client of the CA', { signer: await delegate(otherUsage) }, 'has signed'],
    ['a responder that may not sign', { signer: await delegate(noSigning) }, 'has signed'],
    ['a responder whose certificate has ended', { signer: await delegate(ended) }, 'not current'],
    [
      'a responder that does not send its certificate',
      { signer: await delegate(), flags: ['-ndays', '1', '-resp_no_certs'] },
      'has signed',
    ],
    ['a broken signature', { flags: ['-ndays', '1', '-badsig'] }, 'has signed'],
    ['tryLater', { instead: unsigned(3) }, 'tryLater'],
    ['unauthorized', { instead: unsigned(6) }, 'unauthorized'],
    ['an answer to another question', { instead: () => ({ body: earlier }) }, 'another question'],
    ['octets behind it', { instead: (body) => ({ body: Buffer.concat([body, Buffer.alloc(1)]) }) }, 'has signed'],
    ['no DER', { instead: () => ({ body: 'good' }) }, 'has signed'],
    ['nothing', { instead: () => ({ body: '' }) }, 'has signed'],
    ['too much', { instead: () => ({ body: randomBytes(70_000) }) }, 'over 65536 octets'],
    ['a redirect', { instead: () => ({ status: 302, body: '' }) }, 'redirects are not followed'],
    ['503', { instead: () => ({ status: 503, body: '' }) }, 'has the status 503.'],
  ];
  await setRole('before');
  answering = { instead: (body) => ({ body: (earlier = body) }) };
  expect(await verdict('before', clientOf(one))).toBe('in');
  await setRole('strict');
  const found: unknown[] = [];
  for (const [what, how, says] of cases) {
    answering = { ...how };
    harness.clock.advance(61);
    const { reason, explanation = '' } = await explain('strict', clientOf(one));
    found.push([what, reason, explanation.includes(says) ? says : explanation, await verdict('strict', clientOf(one))]);
  }
  // The answer about another certificate is signed rightly.
  answering = { instead: (body) => ({ body: (earlier = body) }) };
  await explain('strict', clientOf(other));
  answering = { instead: () => ({ body: earlier }) };
  harness.clock.advance(61);
  found.push(['of another', (await explain('strict', clientOf(one))).reason, '', await verdict('strict', clientOf(one))]);
  expect(found).toEqual([
    ...cases.map(([what, , says]) => [what, 'no-revocation-list', says, 'login-failed']),
    ['of another', 'no-revocation-list', '', 'login-failed'],
  ]);
  answering = {};
  harness.clock.advance(61);
  expect(await verdict('strict', clientOf(one))).toBe('in');
});

test('a responder that the CA has certified answers for it, by name or by key, until a list of the CA revokes it', async () => {
  const responder = await delegate();
  await setRole('delegated');
  answering = { signer: responder };
  expect(await verdict('delegated', clientOf(one))).toBe('in');
  answering = { signer: responder, flags: ['-ndays', '1', '-resp_key_id'] };
  expect(await verdict('delegated', clientOf(other))).toBe('in');
  // The list has the certificate as good, and the responder as revoked, which then says nothing.
  const end = new Date(harness.clock.now().epochMilliseconds + 86_400_000);
  await setRole('delegated', { 'ocsp-urls': [`${url}delegated`], crl: await listOf(root, [responder], end) });
  harness.clock.advance(301);
  answering = { signer: responder, revoked: [one] };
  expect(await verdict('delegated', clientOf(one))).toBe('in');
  // Beside a list that has it as good an answer of the CA itself counts.
  harness.clock.advance(301);
  answering = { revoked: [one] };
  expect(await verdict('delegated', clientOf(one))).toBe('login-failed');
});

test('a revoked certificate logs in no more, and its tokens end: by the job, and at its next login', async () => {
  await setRole('ending');
  const [mine, hers] = [await harness.login('ending', clientOf(one)), await harness.login('ending', clientOf(other))];
  const info = async (client: Client, { body }: typeof mine) =>
    (await harness.send('/v1/state/keystore/token/info', client, { token: String(body.token) })).status;
  answering = { revoked: [other] };
  harness.clock.advance(900);
  const job = harness.appliance.jobs.find(({ name }) => name === 'certificate-login: fetch revocation lists');
  await job?.run(new AbortController().signal);
  expect([await info(clientOf(one), mine), await info(clientOf(other), hers)]).toEqual([200, 401]);
  expect((await explain('ending', clientOf(other))).reason).toBe('revoked');
  answering = { revoked: [one, other] };
  harness.clock.advance(301);
  expect(await verdict('ending', clientOf(one))).toBe('login-failed');
  expect(await info(clientOf(one), mine)).toBe(401);
});

test('tokens end by the responders of one role, whichever other role without any the certificate logs in by, before or after', async () => {
  await setRole('with', { 'ocsp-urls': [`${url}with`], 'token-ttl': '1h', 'token-max-ttl': '2h' });
  const end = new Date(harness.clock.now().epochMilliseconds + 86_400_000);
  await setRole('without', { crl: await listOf(root, [], end), 'token-ttl': '12h', 'token-max-ttl': '24h' });
  const orders = [['with', 'without'], ['without', 'with'], ['with']];
  const held: { readonly identity: Identity; readonly tokens: readonly string[] }[] = [];
  for (const order of orders) {
    const identity = await issue(root, `CN=by ${order.join(' and ')}`);
    const tokens: string[] = [];
    for (const role of order) tokens.push(String((await harness.login(role, clientOf(identity))).body.token));
    held.push({ identity, tokens });
  }
  answering = { revoked: held.map(({ identity }) => identity) };
  harness.clock.advance(900);
  const job = harness.appliance.jobs.find(({ name }) => name === 'certificate-login: fetch revocation lists');
  await job?.run(new AbortController().signal);
  for (const { identity, tokens } of held)
    for (const token of tokens)
      expect((await harness.send('/v1/state/keystore/token/info', clientOf(identity), { token })).status).toBe(401);
});

test('a responder that has nothing for one CA answers at once for another one', async () => {
  const apart = await makeIdentity({ subject: 'CN=Apart', ca: true });
  const client = clientOf(await issue(apart, 'CN=there'));
  await harness.must('POST', '/v1/config/keystore/tls/ca', { name: 'apart', 'ca-cert': apart.pem });
  const shared = { 'ocsp-urls': [`${url}shared`] };
  await setRole('here', shared);
  await setRole('there', { 'trust-ca': 'apart', ...shared });
  answering = { instead: () => ({ status: 404, body: '' }) };
  expect(await verdict('here', clientOf(one))).toBe('login-failed');
  answering = { issuers: { '/shared': apart } };
  expect(await verdict('there', client)).toBe('in');
});

test('a responder that has nothing for one certificate is asked at once for another one of its CA, and one with a fault is not', async () => {
  for (const [name, status, verdictOfNext] of [
    ['nothing', 404, 'in'],
    ['busy', 429, 'login-failed'],
    ['faulty', 503, 'login-failed'],
  ] as const) {
    await setRole(name);
    answering = { instead: () => ({ status, body: '' }) };
    expect(await verdict(name, clientOf(one))).toBe('login-failed');
    answering = {};
    expect([name, await verdict(name, clientOf(other))]).toEqual([name, verdictOfNext]);
  }
});

test('tokens of a key end with each certificate of it that was shown', async () => {
  await setRole('keyed', { 'ocsp-urls': [`${url}keyed`], 'bound-to': 'key' });
  const former = await issue(root, 'CN=keyed');
  const renewed = await issue(root, 'CN=keyed', { keys: former.keys });
  const tokens: string[] = [];
  for (const identity of [former, renewed]) {
    tokens.push(String((await harness.login('keyed', clientOf(identity))).body.token));
    harness.clock.advance(1);
  }
  const info = async (token: string | undefined) =>
    (await harness.send('/v1/state/keystore/token/info', clientOf(renewed), { token: String(token) })).status;
  expect([await info(tokens[0]), await info(tokens[1])]).toEqual([200, 200]);
  answering = { revoked: [former] };
  harness.clock.advance(900);
  await harness.appliance.jobs.find(({ name }) => name === 'certificate-login: fetch revocation lists')?.run(new AbortController().signal);
  expect([await info(tokens[0]), await info(tokens[1])]).toEqual([401, 401]);
  expect(await verdict('keyed', clientOf(renewed))).toBe('in');
});

test('responders of one tenant that hang keep its own tokens waiting alone', async () => {
  const held = Promise.withResolvers<void>();
  await setRole('quick');
  const mine = await harness.login('quick', clientOf(one));
  expect(mine.status).toBe(200);
  const hanging = createServer(() => held.resolve());
  await once(hanging.listen(0, '127.0.0.1'), 'listening');
  const there = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}/`;
  await harness.must('POST', '/v1/config/tenants', { name: 'slow' });
  const { token } = (await harness.must('POST', '/v1/state/keystore/token/create-root', { name: 'slow' })) as { token: string };
  const set = (method: string, path: string, body: object) => harness.appliance.request(method, path, body, { token });
  await set('POST', '/v1/config/keystore/tls/ca', { name: 'elsewhere', 'ca-cert': root.pem });
  const role = { 'trust-ca': 'elsewhere', names: ['*'], 'crl-urls': [1, 2, 3, 4].map((path) => `${there}${path}`) };
  for (const name of ['a', 'b']) expect((await set('PUT', `${roles}/${name}`, role)).status).toBeLessThan(300);
  answering = { revoked: [one] };
  harness.clock.advance(900);
  const job = harness.appliance.jobs.find(({ name }) => name === 'certificate-login: fetch revocation lists');
  let isOver = false;
  const running = job?.run(new AbortController().signal).then(() => (isOver = true));
  await held.promise;
  await expect
    .poll(async () => (await harness.send('/v1/state/keystore/token/info', clientOf(one), { token: String(mine.body.token) })).status)
    .toBe(401);
  expect(isOver).toBe(false);
  hanging.closeAllConnections();
  hanging.close();
  await running;
});

test('the responder that a certificate names is asked where the role says so, of each CA of the path, and at allowed addresses alone', async () => {
  const naming = (address: string) => ({ extensions: [new x509.AuthorityInfoAccessExtension({ ocsp: address })] });
  const sub = await issue(root, 'CN=Between', { ca: true, ...naming(`${url}root`) });
  const leaf = await issue(sub, 'CN=leaf', naming(`${url}sub`));
  answering = { issuers: { '/sub': sub } };
  await setRole('named', { 'ocsp-from-certificate': true });
  expect([await verdict('named', clientOf(leaf, sub)), asked]).toEqual(['in', 2]);
  answering = { ...answering, revoked: [sub] };
  harness.clock.advance(301);
  expect((await explain('named', clientOf(leaf, sub))).reason).toBe('revoked');
  expect(String((await explain('named', clientOf(one))).explanation)).toContain('names no OCSP responder');
  // Addresses of this machine are closed but for the one that the configuration names.
  const inward = await issue(root, 'CN=inward', naming(url.replace('127.0.0.1', '127.0.0.2')));
  asked = 0;
  expect(await explain('named', clientOf(inward))).toMatchObject({ reason: 'no-revocation-list' });
  expect([String((await explain('named', clientOf(inward))).explanation), asked]).toEqual([expect.stringContaining('127.0.0.2'), 0]);
  // One that the role names is asked first.
  await setRole('both', { 'ocsp-urls': [`${url}both`], 'ocsp-from-certificate': true });
  expect([await verdict('both', clientOf(inward)), asked]).toEqual(['in', 1]);
});

test('a responder is set for a trust-only CA alone, in place of lists or beside them', async () => {
  const refused = async (more: object): Promise<unknown> => {
    const answer = await harness.appliance.request('PUT', `${roles}/refused`, { 'trust-ca': 'elsewhere', names: ['*'], ...more });
    return [answer.status, answer.body.errors?.[0]?.['error-info']];
  };
  expect(await refused({ 'ocsp-urls': ['ftp://ocsp.example.test/'] })).toEqual([400, 'ocsp-urls/0']);
  expect(await refused({ 'ocsp-urls': ['http://a:b@ocsp.example.test/'] })).toEqual([400, 'ocsp-urls']);
  expect(await refused({ 'ocsp-urls': [url], revocation: 'none' })).toEqual([400, 'ocsp-urls']);
  expect(await refused({ 'ocsp-from-certificate': true, 'trust-ca': 'devices' })).toEqual([400, 'ocsp-from-certificate']);
  expect(await refused({})).toEqual([400, 'crl']);
});

test('while the responder is away its last answer counts until its end', async () => {
  const away: Answering = { instead: () => ({ status: 500, body: '' }) };
  await setRole('kept');
  answering = { flags: ['-ndays', '2'] };
  const client = clientOf(await issue(root, 'CN=traveller'));
  expect(await verdict('kept', client)).toBe('in');
  answering = away;
  harness.clock.advance(86_400);
  expect(await verdict('kept', client)).toBe('in');
  harness.clock.advance(86_400);
  expect(await verdict('kept', client)).toBe('login-failed');
  answering = { flags: ['-ndays', '30'] };
  harness.clock.advance(61);
  expect(await verdict('kept', client)).toBe('in');
});
