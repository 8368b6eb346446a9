// The requests of Vault's API for keys, certificates and wrapped answers, in one order, to OpenBao and to this service: status and form of the answers are the same, or the row of
// DIVERGENCES.md that is named here says why not. A difference that has gone is an error too.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireToolchain } from '../clients/commands.ts';
import { startTestAppliance, type TestAppliance } from '../harness/appliance.ts';
import { type Answer, ask } from '../harness/client.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { makeCsr, makeKeys } from '../plugins/ca/pki.ts';
import { obtainOpenBao, type OpenBao, startOpenBao } from './vault/openbao.ts';

const at = temporaryDirectory();
const noPython = await requireToolchain('python3').then(
  () => '',
  (error: Error) => ` (${error.message})`,
);
const documented = readFileSync(join(import.meta.dirname, '../../plugins/vault/DIVERGENCES.md'), 'utf8');
const x = 'eA==';
let there: OpenBao;
let here: TestAppliance;

type Row = readonly [
  /** method and path below `/v1/`; `<name>` is a value that was kept */
  asked: string,
  body?: Readonly<Record<string, unknown>> | string | undefined,
  more?: {
    /** text in the row of DIVERGENCES.md that explains another answer */
    readonly differs?: string;
    /** the member of `data` whose value is another, where the form is the same */
    readonly member?: string;
    /** keeps a member of `data` or of `wrap_info` under a name, of each server its own */
    readonly keep?: readonly [member: string, name: string];
    /** the answer is to be wrapped for so long */
    readonly wrap?: string;
    /** with this token, of those kept; null: without one */
    readonly by?: string | null;
  },
];

const table: readonly Row[] = [
  ['PUT transit/keys/plain', {}],
  ['PUT transit/keys/plain', { type: 'rsa-2048' }],
  ['POST transit/keys/small', { type: 'aes128-gcm96', exportable: 'true', allow_plaintext_backup: true }],
  ['POST transit/keys/signs', { type: 'ecdsa-p256', exportable: true }],
  ['POST transit/keys/quick', { type: 'ed25519' }],
  ['POST transit/keys/web', { type: 'rsa-2048' }, { differs: '| RSA keys |', member: 'supports_encryption' }],
  ['POST transit/keys/derived', { derived: 1 }, { differs: '| derived keys |', member: 'kdf' }],
  ['POST transit/keys/chacha', { type: 'chacha20-poly1305' }, { differs: '| key types chacha20-poly1305' }],
  ['POST transit/keys/mac', { type: 'hmac', key_size: 32 }, { differs: '| key types chacha20-poly1305' }],
  ['POST transit/keys/other', { type: 'aes192-gcm96' }, { differs: '| key types of `/v1` |' }],
  ['POST transit/keys/wrong', { type: 'AES' }],
  ['POST transit/keys/wrong', { convergent_encryption: true }],
  ['POST transit/keys/wrong', { auto_rotate_period: '5m' }],
  ['POST transit/keys/wrong', { derived: 'perhaps' }],
  ['POST transit/keys/My_Key', {}, { differs: '| names of keys |' }],
  ['GET transit/keys/plain'],
  ['GET transit/keys/signs'],
  ['GET transit/keys/quick'],
  ['GET transit/keys/absent'],
  ['GET transit/keys'],
  ['GET transit/keys?list=true', undefined, { differs: '| key types chacha20-poly1305' }],
  ['PUT transit/keys/plain/rotate'],
  ['PUT transit/keys/plain/rotate'],
  ['PUT transit/keys/absent/rotate'],
  ['PUT transit/keys/plain/config', { min_decryption_version: 9 }],
  ['PUT transit/keys/plain/config', { min_decryption_version: '2' }],
  ['PUT transit/keys/plain/config', { min_encryption_version: 1 }],
  ['PUT transit/keys/plain/config', { min_encryption_version: 2 }],
  ['PUT transit/keys/plain/config', { deletion_allowed: 'yes' }],
  ['PUT transit/keys/small/config', { exportable: false }],
  ['PUT transit/keys/absent/config', { deletion_allowed: true }],
  ['PUT transit/keys/plain/trim', { min_available_version: 2 }],
  ['PUT transit/keys/plain/trim', { min_available_version: 1 }, { differs: '| `keys/K/trim` to' }],
  ['PUT transit/encrypt/plain', { plaintext: x }, { keep: ['ciphertext', 'sealed'] }],
  ['PUT transit/encrypt/plain', { plaintext: '' }],
  ['PUT transit/encrypt/plain', {}],
  ['PUT transit/encrypt/plain', { plaintext: '?' }],
  ['PUT transit/encrypt/plain', { plaintext: x, key_version: 9 }],
  ['PUT transit/encrypt/plain', { plaintext: x, key_version: 1 }],
  ['PUT transit/encrypt/plain', { plaintext: x, key_version: -1 }],
  ['PUT transit/encrypt/plain', { plaintext: x, key_version: 'two' }],
  ['PUT transit/encrypt/plain', { plaintext: x, unknown: 1 }],
  ['PUT transit/encrypt/plain', { plaintext: x, context: x }],
  ['PUT transit/encrypt/plain', { plaintext: x, associated_data: x }, { keep: ['ciphertext', 'bound'] }],
  ['PUT transit/encrypt/derived', { plaintext: x }],
  ['PUT transit/encrypt/derived', { plaintext: x, context: x }, { keep: ['ciphertext', 'inContext'] }],
  ['PUT transit/encrypt/signs', { plaintext: x }],
  ['PUT transit/encrypt/plain', '[]'],
  ['PUT transit/encrypt/plain', '{"plaintext"'],
  ['PUT transit/encrypt/plain', '{"plaintext":"eA==","plaintext":"eQ=="}', { differs: '| duplicate members of a body |' }],
  ['PUT transit/decrypt/plain', { ciphertext: '<sealed>' }],
  ['PUT transit/decrypt/plain', { ciphertext: '<bound>', associated_data: x }],
  ['PUT transit/decrypt/plain', { ciphertext: '<bound>' }],
  ['PUT transit/decrypt/plain', { ciphertext: 'AAAA' }],
  ['PUT transit/decrypt/plain', { ciphertext: 'vault:v9:AAAA' }],
  ['PUT transit/decrypt/plain', { ciphertext: 'vault:v1:AAAA' }],
  ['PUT transit/decrypt/plain', {}],
  ['PUT transit/decrypt/derived', { ciphertext: '<inContext>', context: x }],
  ['PUT transit/decrypt/derived', { ciphertext: '<inContext>', context: 'eQ==' }],
  ['PUT transit/decrypt/derived', { ciphertext: '<inContext>' }],
  ['PUT transit/decrypt/absent', { ciphertext: '<sealed>' }],
  ['PUT transit/rewrap/plain', { ciphertext: '<sealed>' }],
  ['PUT transit/rewrap/plain', { ciphertext: 'AAAA' }],
  ['PUT transit/datakey/plaintext/plain', {}],
  ['PUT transit/datakey/wrapped/plain', { bits: 512 }],
  ['PUT transit/datakey/plaintext/plain', { bits: 100 }],
  ['PUT transit/encrypt/plain', { batch_input: [{ plaintext: x }, { plaintext: '', reference: 'a' }] }],
  ['PUT transit/encrypt/plain', { batch_input: [{ plaintext: x }, { plaintext: '?' }] }],
  ['PUT transit/encrypt/plain', { batch_input: [{ plaintext: x }, { plaintext: '?' }], partial_failure_response_code: 207 }],
  ['PUT transit/encrypt/plain', { batch_input: [] }],
  ['PUT transit/encrypt/plain', { batch_input: 'x' }, { differs: '| an item that cannot be read at all |' }],
  ['PUT transit/decrypt/plain', { batch_input: [{ ciphertext: '<sealed>' }, { ciphertext: 'AAAA' }] }],
  ['PUT transit/rewrap/plain', { batch_input: [{ ciphertext: 'AAAA' }] }],
  ['PUT transit/hmac/plain', { input: x }, { keep: ['hmac', 'mac'] }],
  ['PUT transit/hmac/signs/sha2-512', { input: x }],
  ['PUT transit/hmac/plain', {}],
  ['PUT transit/hmac/plain/md5', { input: x }],
  ['PUT transit/hmac/plain', { batch_input: [{ input: x }, {}] }],
  ['PUT transit/verify/plain', { input: x, hmac: '<mac>' }],
  ['PUT transit/verify/plain', { input: 'eQ==', hmac: '<mac>' }],
  ['PUT transit/verify/plain', { input: x }],
  ['PUT transit/sign/signs', { input: x }, { keep: ['signature', 'signed'] }],
  ['PUT transit/sign/signs/sha2-384', { input: x, marshaling_algorithm: 'jws' }],
  ['PUT transit/sign/signs', { input: x, signature_algorithm: 'pkcs1v15', salt_length: 'auto' }],
  ['PUT transit/sign/signs', { input: x, marshaling_algorithm: 'raw' }],
  ['PUT transit/sign/signs/sha256', { input: x }],
  ['PUT transit/sign/signs/sha3-256', { input: x }, { differs: '| hashes sha1' }],
  ['PUT transit/sign/quick', { input: x, prehashed: true }, { differs: '| options of signatures by Ed25519' }],
  ['PUT transit/sign/quick', { input: x, signature_algorithm: 'pkcs1v15' }],
  ['PUT transit/sign/web', { input: x, signature_algorithm: 'pkcs1v15' }, { keep: ['signature', 'rsa'] }],
  ['PUT transit/sign/web', { input: x, salt_length: 'hash' }],
  ['PUT transit/sign/plain', { input: x }],
  ['PUT transit/sign/absent', { input: x }],
  ['PUT transit/verify/signs', { input: x, signature: '<signed>' }],
  ['PUT transit/verify/signs', { input: 'eQ==', signature: '<signed>' }],
  ['PUT transit/verify/signs', { input: x, signature: 'AAAA' }],
  ['PUT transit/verify/web', { input: x, signature: '<rsa>', signature_algorithm: 'pkcs1v15' }],
  ['PUT transit/verify/web', { input: x, signature: '<rsa>' }],
  ['PUT transit/sign/signs', { batch_input: [{ input: x }, { input: '?' }] }],
  ['PUT transit/random/16', { format: 'hex' }],
  ['PUT transit/random', { bytes: 0 }],
  ['GET transit/random'],
  ['GET transit/wrapping_key'],
  ['GET transit/export/encryption-key/small'],
  ['GET transit/export/encryption-key/small/1'],
  ['GET transit/export/signing-key/signs'],
  ['GET transit/export/encryption-key/plain'],
  ['GET transit/export/public-key/signs'],
  ['GET transit/export/encryption-key/absent'],
  ['GET transit/export/hmac-key/small', undefined, { differs: '| `export/hmac-key`' }],
  ['GET transit/backup/small'],
  ['DELETE transit/keys/small'],
  ['PUT transit/keys/small/config', { deletion_allowed: true }, { differs: '| `backup_info`' }],
  ['DELETE transit/keys/small'],
  ['GET transit/keys/small'],
  ['GET auth/token/lookup-self', undefined, { differs: '| `meta` of a token |' }],
  ['PUT sys/capabilities-self', { paths: ['transit/encrypt/plain'] }],
  ['GET sys/seal-status'],
  ['GET sys/init'],
  ['GET sys/leader'],
  ['GET sys/health'],
];

const names = { common_name: 'a.example.test', exclude_cn_from_sans: true };
const certificates: readonly Row[] = [
  ['PUT pki/sign/web', { csr: '<csr>', ...names, ttl: '1h' }, { keep: ['serial_number', 'serial'] }],
  ['GET pki/certs?list=true', undefined, { differs: '| PKI: `LIST certs` |' }],
  ['POST pki/sign/web', { csr: '<csr>', common_name: 'a.example.test', alt_names: '', ip_sans: '', uri_sans: '', ttl: '2160h0m0s' }],
  ['PUT pki/sign/web', { csr: '<csr>', ...names, format: 'der' }],
  ['PUT pki/sign/web', { csr: '<csr>', ...names, format: 'pem_bundle' }],
  ['PUT pki/sign/web', { csr: '<csr>', ...names, format: 'text' }],
  ['PUT pki/sign/web', { csr: '<csr>', ...names, ttl: 'soon' }],
  ['PUT pki/sign/web', { csr: '<csr>', ...names, unknown: 1 }],
  ['PUT pki/sign/web', { csr: 'rubbish', ...names }],
  ['PUT pki/sign/web', { csr: '', ...names }],
  ['PUT pki/sign/web', names],
  ['PUT pki/sign/web', { csr: '<foreign>', common_name: 'a.example.org' }, { by: 'limited' }],
  ['PUT pki/sign/web', { csr: '<numbered>', ...names }, { by: 'limited' }],
  ['PUT pki/sign/web', { csr: '<foreign>', common_name: 'a.example.org' }, { differs: '| PKI: `sign` and `issue` beyond the role |' }],
  ['PUT pki/sign/absent', { csr: '<csr>', ...names }],
  ['PUT pki/issuer/default/sign/web', { csr: '<csr>', ...names }],
  ['PUT pki/sign-verbatim', { csr: '<csr>' }],
  ['PUT pki/sign-verbatim/web', { csr: '<csr>', ttl: '1h' }],
  ['PUT pki/issue/web', { common_name: 'b.example.test', ttl: '1h' }],
  ['PUT pki/issue/web', { common_name: 'b.example.test', private_key_format: 'pkcs8' }],
  ['PUT pki/issue/web', { common_name: 'b.example.org' }, { by: 'limited' }],
  ['PUT pki/issue/web', {}],
  [
    'PUT pki/root/sign-intermediate',
    { csr: '<middle>', common_name: '', organization: 'SPIFFE', country: 'US', uri_sans: 'spiffe://example.test', ttl: '3600' },
  ],
  ['PUT pki/root/sign-intermediate', { common_name: 'x' }],
  ['GET pki/cert/<serial>'],
  ['GET pki/cert/ca'],
  ['GET pki/cert/ca_chain'],
  ['GET pki/cert/crl'],
  ['GET pki/cert/01:02'],
  ['GET pki/ca/pem', undefined, { by: null }],
  ['GET pki/ca', undefined, { by: null }],
  ['GET pki/ca_chain', undefined, { by: null, differs: '| PKI: media type of `ca_chain` |' }],
  ['GET pki/crl', undefined, { by: null }],
  ['GET pki/crl/pem', undefined, { by: null }],
  ['PUT pki/revoke', { serial_number: '<serial>' }],
  ['PUT pki/revoke', { serial_number: '<serial>' }],
  ['PUT pki/revoke', { serial_number: '01:02' }],
  ['PUT pki/revoke', {}],
];

const wrapped: readonly Row[] = [
  ['PUT transit/random/8', {}, { wrap: '60', keep: ['token', 'first'] }],
  ['PUT sys/wrapping/lookup', { token: '<first>' }],
  ['PUT sys/wrapping/lookup', { token: '<first>' }, { by: null }],
  ['PUT sys/wrapping/unwrap', { token: '<first>' }],
  ['PUT sys/wrapping/unwrap', { token: '<first>' }],
  ['PUT sys/wrapping/lookup', { token: '<first>' }],
  ['PUT sys/wrapping/wrap', { a: '1', b: { c: 2 } }, { wrap: '1m0s', keep: ['token', 'second'] }],
  ['PUT sys/wrapping/rewrap', { token: '<second>' }, { keep: ['token', 'third'] }],
  ['PUT sys/wrapping/unwrap', { token: '<second>' }],
  ['PUT sys/wrapping/unwrap', undefined, { by: 'third' }],
  ['PUT sys/wrapping/unwrap', {}, { by: null, differs: '| an absent wrapping token |' }],
  ['PUT sys/wrapping/unwrap', { token: 'no-token' }],
  ['PUT sys/wrapping/wrap', { a: '1' }],
  ['PUT transit/random/8', {}, { wrap: 'soon' }],
  ['GET transit/keys/plain', undefined, { wrap: '60s' }],
  ['GET transit/keys/absent', undefined, { wrap: '60s' }],
  ['PUT transit/encrypt/plain', { plaintext: '?' }, { wrap: '60' }],
  ['GET sys/health', undefined, { wrap: '60', differs: '| wrapping of what is for everyone |' }],
];

const kept = { there: new Map<string, string>(), here: new Map<string, string>() };

/** A text with what was kept of a server, as inside a text of JSON. */
const fill = (side: 'there' | 'here', text: string): string =>
  text.replaceAll(/<(\w+)>/g, (_, name: string) => JSON.stringify(kept[side].get(name) ?? 'not-kept').slice(1, -1));

async function send(side: 'there' | 'here', [asked, body, { keep, wrap, by } = {}]: Row): Promise<Answer> {
  const [method = '', path = ''] = fill(side, asked).split(' ');
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const [url, ca, token] =
    side === 'there'
      ? [there.url, readFileSync(there.caFile, 'utf8'), there.token]
      : [here.url, readFileSync(at('here', 'tls-cert.pem'), 'utf8'), here.rootToken];
  const shown = by === undefined ? token : by === null ? undefined : kept[side].get(by);
  const headers = {
    ...(shown === undefined ? {} : { 'x-vault-token': shown }),
    ...(wrap === undefined ? {} : { 'x-vault-wrap-ttl': wrap }),
    'x-vault-request': 'true',
  };
  const sent = text === undefined ? undefined : fill(side, text);
  const answer = await ask(url, `/v1/${path}`, { method, body: sent, ca, token: null, headers });
  const value: unknown = keep === undefined ? undefined : (answer.body?.data ?? answer.body?.wrap_info)?.[keep[0]];
  if (keep !== undefined && typeof value === 'string') kept[side].set(keep[1], value);
  return answer;
}

/** Status and form: the members of the answer and of what is in it, without their values. Members beyond OpenBao's are no difference. */
function formOf({ status, body, headers }: Answer, beside?: Answer): unknown {
  if (typeof body === 'string') return { status, type: headers['content-type'], begins: /^-----BEGIN [\w ]+-----/.exec(body)?.[0] };
  const { data, errors, wrap_info: info } = (body ?? {}) as Readonly<Record<string, unknown>>;
  if (Array.isArray(errors)) return { status, errors: errors.length };
  const waits = info === undefined || info === null ? {} : { wrapped: membersOf(info, beside?.body?.wrap_info) };
  return { status, data: membersOf(data, beside?.body?.data), ...waits };
}

function membersOf(value: unknown, beside: unknown): unknown {
  if (Array.isArray(value))
    return value.map((one, index) => membersOf(one, Array.isArray(beside) ? (beside[index] as unknown) : undefined));
  if (typeof value !== 'object' || value === null) return typeof value;
  const others = typeof beside === 'object' && beside !== null ? (beside as Record<string, unknown>) : undefined;
  const names = Object.keys(value).filter((name) => others === undefined || Object.hasOwn(others, name));
  return Object.fromEntries(names.toSorted().map((name) => [name, membersOf((value as Record<string, unknown>)[name], others?.[name])]));
}

/** A CA on each side, and requests for its certificates. */
async function makeAuthorities(): Promise<void> {
  await there.data('POST', 'sys/mounts/pki', { type: 'pki', config: { max_lease_ttl: '87600h' } });
  await there.data('POST', 'pki/root/generate/internal', { common_name: 'root', ttl: '87600h' });
  const role = { allowed_domains: 'example.test', allow_subdomains: true, allow_ip_sans: false, max_ttl: '720h', key_type: 'ec' };
  await there.data('POST', 'pki/roles/web', role);
  const est = { 'allowed-domains': ['example.test'], 'allow-subdomains': true, ttl: '30d' };
  const made = await here.request('POST', '/v1/config/keystore/tls/ca', { name: 'web', est });
  expect(made.status, made.text).toBe(201);
  const rules = ['sign-csr', 'issue'].map((act) => ({ path: `/v1/state/keystore/tls/ca/web/${act}`, operations: { execute: 'allow' } }));
  await here.request('POST', '/v1/config/policy/policies', { name: 'limited', 'rest-api': { rules } });
  const limited = await here.request('POST', '/v1/state/keystore/token/create', { policies: ['limited'], ttl: '1h' });
  kept.here.set('limited', limited.body.token);
  kept.there.set('limited', there.token);
  const requests = {
    csr: ['CN=a.example.test', [{ type: 'dns', value: 'a.example.test' }]],
    foreign: ['CN=a.example.org', [{ type: 'dns', value: 'a.example.org' }]],
    numbered: ['CN=a.example.test', [{ type: 'ip', value: '127.0.0.1' }]],
    middle: ['O=SPIFFE,C=US', [{ type: 'url', value: 'spiffe://example.test' }]],
  } as const;
  for (const [name, [subject, alternatives]] of Object.entries(requests)) {
    const der = await makeCsr({ keys: await makeKeys('P-256'), subject, names: [...alternatives] });
    const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
    for (const side of [kept.there, kept.here]) side.set(name, pem);
  }
}

const rows = [...table, ...certificates, ...wrapped];

describe.skipIf(noPython !== '')(`the same requests to OpenBao and here${noPython}`, () => {
  beforeAll(async () => {
    there = await startOpenBao(await obtainOpenBao(), at('openbao'));
    const vault = { tenants: { system: {} }, pkiMounts: { pki: { tenant: 'system', ca: 'web' } } };
    here = await startTestAppliance({ directory: at('here'), configuration: { vault } });
    await makeAuthorities();
  }, 300_000);
  afterAll(async () => {
    there?.stop();
    await here?.close();
  });

  test.each(rows.map((row) => [`${row[0]} ${JSON.stringify(row[1] ?? '').slice(0, 80)}`, row] as const))('%s', async (_, row) => {
    const theirs = await send('there', row);
    const ours = await send('here', row);
    const { differs = '', member } = row[2] ?? {};
    expect(documented).toContain(`\n${differs}`);
    const [form, wanted] = [formOf(ours, theirs), formOf(theirs)];
    const isOther =
      member === undefined ? !isDeepStrictEqual(form, wanted) : !isDeepStrictEqual(ours.body.data[member], theirs.body.data[member]);
    const said = `${theirs.text}\n${ours.text}\n${JSON.stringify([form, wanted])}`;
    expect(isOther, said).toBe(differs !== '');
  });
});
