// Logins by certificates of every class that other servers have taken wrongly: other CAs of the same name, pinned leaves compared by serial number alone
// (CVE-2024-2048), names that are not compared (CVE-2025-6037), lists that were never fetched (CVE-2022-41316), two names where one counts.
import { sign, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { type CertificateOptions, type Identity, makeIdentity, makeKeys, usages, x509 } from '../../plugins/ca/pki.ts';
import { readTree, writeTree } from '../../plugins/certificate-login/der-tree.ts';
import { type CertificateHarness, type Client, startCertificateHarness } from '../../plugins/certificate-login/harness.ts';

const at = temporaryDirectory();
let harness: CertificateHarness;
let root: Identity;

const name = 'd1.example.test';
const day = 86_400_000;
const from = (days: number): Date => new Date(Date.now() + days * day);
const san = (...names: x509.JsonGeneralNames) => new x509.SubjectAlternativeNameExtension(names);
const eku = (...purposes: string[]) => new x509.ExtendedKeyUsageExtension(purposes);
const serverAuth = '1.3.6.1.5.5.7.3.1';
const clientAuth = '1.3.6.1.5.5.7.3.2';
const any = '2.5.29.37.0';
const clientOf = ({ keys, pem }: Identity, ...chain: readonly Identity[]): Client => ({
  key: keys.pem,
  cert: [pem, ...chain.map((one) => one.pem)].join('\n'),
});

beforeAll(async () => {
  harness = await startCertificateHarness(at());
  root = await makeIdentity({ subject: 'CN=Devices', ca: true });
  await harness.must('POST', '/v1/config/keystore/tls/ca', { name: 'elsewhere', 'ca-cert': root.pem });
  const est = { enabled: true, 'allowed-domains': ['example.test'], 'allow-subdomains': true, 'allow-bare-domains': true };
  await harness.must('POST', '/v1/config/keystore/tls/ca', { name: 'ours', subject: 'CN=Devices', est });
  const foreign = { 'trust-ca': 'elsewhere', revocation: 'none' };
  await harness.setRole('cn', { ...foreign, names: [name] });
  await harness.setRole('dns', { ...foreign, 'name-from': 'dns', names: [name, '*.sub.example.test'] });
  await harness.setRole('uri', { ...foreign, 'name-from': 'uri', names: ['spiffe://example.test/ns/pay/*'] });
  await harness.setRole('email', { ...foreign, 'name-from': 'email', names: ['*@example.test'] });
  await harness.setRole('any', { ...foreign, names: ['*'] });
  await harness.setRole('ours', { 'trust-ca': 'ours', names: [name] });
});
afterAll(() => harness.close());

type Row = {
  readonly title: string;
  readonly role?: string;
  readonly make: () => Promise<Client>;
  readonly taken?: true;
  /** the certificate cannot be sent in a handshake */
  readonly mayBreak?: true;
};

/** A leaf of the CA elsewhere. */
const leaf = (title: string, options: CertificateOptions, more: Partial<Row> = {}): Row => ({
  title,
  make: async () => clientOf(await makeIdentity({ subject: `CN=${name}`, issuer: root, ...options })),
  ...more,
});
const below = async (sub: CertificateOptions, own: CertificateOptions = {}): Promise<readonly [Identity, Identity]> => {
  const middle = await makeIdentity({ subject: 'CN=Middle', issuer: root, ca: true, ...sub });
  return [await makeIdentity({ subject: `CN=${name}`, issuer: middle, ...own }), middle];
};
const named = (title: string, role: string, names: x509.JsonGeneralNames, more: Partial<Row> = {}): Row =>
  leaf(title, { extensions: [san(...names)] }, { role, ...more });
/** A leaf whose common name is a value of this tag and these octets. */
const spelt = (title: string, tag: number, octets: Buffer | string, more: Partial<Row> = {}): Row => ({
  title,
  async make() {
    const { certificate, keys } = await makeIdentity({ subject: `CN=${name}`, issuer: root });
    const whole = readTree(certificate);
    const tbs = whole.members?.[0];
    const value = tbs?.members?.[5]?.members?.[0]?.members?.[0]?.members?.[1];
    if (tbs === undefined || value === undefined || whole.members?.[2] === undefined) throw new Error('there is no common name');
    Object.assign(value, { tag, octets: Buffer.from(octets as never) });
    whole.members[2].octets = Buffer.concat([Buffer.of(0), sign('sha256', writeTree(tbs), root.keys.pem)]);
    const pem = x509.PemConverter.encode(new Uint8Array(writeTree(whole)).buffer, 'CERTIFICATE');
    return { key: keys.pem, cert: pem };
  },
  ...more,
});
/** Characters as numbers of so many octets, as BMPString (2) and UniversalString (4) have them. */
const wide = (text: string, octets: number): Buffer =>
  Buffer.concat(Array.from(text, (letter) => Buffer.from((letter.codePointAt(0) ?? 0).toString(16).padStart(2 * octets, '0'), 'hex')));
const dns = (value: string) => ({ type: 'dns' as const, value });
const uri = (value: string) => ({ type: 'url' as const, value });
const email = (value: string) => ({ type: 'email' as const, value });
const own = (title: string, subject: string): Row => ({
  title,
  role: 'ours',
  make: () => harness.certify('ours', subject, { names: [dns(name)] }),
});

const rows: readonly Row[] = [
  leaf('a right one', {}, { taken: true }),
  leaf('for clients', { extensions: [eku(clientAuth)] }, { taken: true }),
  leaf('for anything', { extensions: [eku(any)] }, { taken: true }),
  leaf('with an RSA key', { key: 'RSA-2048' }, { taken: true }),
  leaf('with a P-384 key', { key: 'P-384' }, { taken: true }),
  leaf('with an Ed25519 key', { key: 'Ed25519' }, { taken: true }),
  leaf('expired', { notBefore: from(-9), notAfter: from(-1) }),
  leaf('not valid yet', { notBefore: from(1), notAfter: from(9) }),
  leaf('for servers alone', { extensions: [eku(serverAuth)] }),
  leaf('for code', { extensions: [eku('1.3.6.1.5.5.7.3.3')] }),
  leaf('for mail and OCSP', { extensions: [eku('1.3.6.1.5.5.7.3.4', '1.3.6.1.5.5.7.3.9')] }),
  leaf('whose key may not sign', { extensions: [usages('keyEncipherment')] }),
  leaf('that is a CA without digitalSignature', { ca: true }),
  leaf('that is a CA', { ca: true, extensions: [usages('digitalSignature', 'keyCertSign')] }),
  leaf('with a key of 1,024 bits', { key: 'RSA-1024' }, { mayBreak: true }),
  leaf('with an unknown critical extension', { extensions: [new x509.Extension('1.2.3.4.5', true, new Uint8Array([5, 0]))] }),
  leaf('with critical name constraints', { extensions: [new x509.Extension('2.5.29.30', true, new Uint8Array([0x30, 0]))] }),
  leaf('of two common names, the right one last', { subject: `CN=evil, CN=${name}` }),
  leaf('of two common names, the right one first', { subject: `CN=${name}, CN=evil` }),
  leaf('of two equal common names', { subject: `CN=${name}, CN=${name}` }),
  leaf('of two common names, for any name', { subject: 'CN=a, CN=b' }, { role: 'any' }),
  leaf('of another common name', { subject: 'CN=d2.example.test' }),
  leaf('in capitals', { subject: 'CN=D1.EXAMPLE.TEST' }),
  leaf('with a look-alike', { subject: 'CN=d1.examplе.test' }),
  leaf('with an unseen character', { subject: `CN=d1\u200B.example.test` }),
  leaf('with an unseen character, for any name', { subject: `CN=d1\u200B.example.test` }, { role: 'any' }),
  leaf('of a wildcard', { subject: 'CN=*' }),
  leaf('of a wildcard, for any name', { subject: 'CN=*' }, { role: 'any' }),
  leaf('of a wildcard below the domain', { subject: 'CN=*.example.test' }, { role: 'any' }),
  leaf('called root', { subject: 'CN=root' }, { role: 'any' }),
  leaf('called Root', { subject: 'CN=R o o t' }, { role: 'any' }),
  leaf('of 5,000 characters', { subject: `CN=${'a'.repeat(5_000)}` }, { role: 'any' }),
  spelt('in PrintableString', 0x13, name, { taken: true }),
  spelt('in TeletexString', 0x14, name, { taken: true }),
  spelt('in UniversalString', 0x1c, wide(name, 4), { taken: true }),
  spelt('in BMPString', 0x1e, wide(name, 2), { taken: true }),
  spelt('with NUL behind the common name', 0x0c, `${name}\0`),
  spelt('with NUL and another domain behind the common name', 0x0c, `${name}\0.evil.test`),
  spelt('with NUL before the common name', 0x0c, `\0${name}`),
  spelt('with NUL behind the common name, for any name', 0x0c, `${name}\0`, { role: 'any' }),
  spelt('with NUL in PrintableString', 0x13, `${name}\0`),
  spelt('with NUL in TeletexString', 0x14, `${name}\0.evil.test`),
  spelt('with NUL in BMPString', 0x1e, wide(`${name}\0`, 2)),
  spelt('with NUL in UniversalString', 0x1c, wide(`${name}\0`, 4)),
  spelt('in BMPString with octets of ASCII', 0x1e, `${name}.`),
  spelt('in BMPString of an odd length', 0x1e, name, { mayBreak: true }),
  spelt('in UTF8String with octets of BMPString', 0x0c, wide(name, 2)),
  spelt('in UTF8String with an overlong letter', 0x0c, Buffer.concat([Buffer.of(0xc1, 0xa4), Buffer.from(name.slice(1))]), {
    mayBreak: true,
  }),
  spelt('in UTF8String cut off within a letter', 0x0c, Buffer.concat([Buffer.from(name), Buffer.of(0xc3)]), { mayBreak: true }),
  spelt('in UniversalString beyond the characters', 0x1c, Buffer.concat([wide(name, 4), Buffer.of(0, 0x11, 0, 0)]), { mayBreak: true }),
  spelt('in TeletexString with an escape', 0x14, `\x1b(B${name}`),
  spelt('as an octet string', 0x04, name, { mayBreak: true }),
  spelt('of no letter', 0x0c, '', { role: 'any' }),
  leaf('without a subject', { subject: '', extensions: [san(dns(name))] }),
  leaf('without a common name', { subject: 'O=example' }, { role: 'any' }),
  leaf('whose alternative name alone fits', { subject: 'CN=evil', extensions: [san(dns(name))] }),
  named('with the DNS name', 'dns', [dns(name)], { taken: true }),
  named('with a DNS name below', 'dns', [dns('a.sub.example.test')], { taken: true }),
  named('of the domain itself, where those below it log in', 'dns', [dns('sub.example.test')]),
  named('that ends alike', 'dns', [dns('xsub.example.test')]),
  named('whose common name alone fits', 'dns', [dns('evil.test')]),
  named('with two DNS names', 'dns', [dns(name), dns('evil.test')]),
  named('with a wildcard as DNS name', 'dns', [dns('*.sub.example.test')]),
  named('with NUL in the DNS name', 'dns', [dns(`${name}\0.evil.test`)]),
  named('with a space behind the DNS name', 'dns', [dns(`${name} `)]),
  named('with a DNS name in capitals', 'dns', [dns('D1.example.test')]),
  named(
    'with 3,000 DNS names',
    'dns',
    Array.from({ length: 3_000 }, (_, index) => dns(`h${index}.example.test`)),
    { mayBreak: true },
  ),
  named('without a DNS name', 'dns', [email('d1@example.test')]),
  named('with a right SPIFFE id', 'uri', [uri('spiffe://example.test/ns/pay/sa/app')], { taken: true }),
  named('with a SPIFFE id of another domain', 'uri', [uri('spiffe://example.test.evil/ns/pay/sa/app')]),
  named('with a SPIFFE id beside', 'uri', [uri('spiffe://example.test/ns/payments')]),
  named('with nothing behind the path', 'uri', [uri('spiffe://example.test/ns/pay/')]),
  named('with two SPIFFE ids', 'uri', [uri('spiffe://example.test/ns/pay/a'), uri('spiffe://example.test/ns/pay/b')]),
  named('with a SPIFFE id that has a wildcard', 'uri', [uri('spiffe://example.test/ns/pay/*')]),
  named('with an address', 'email', [email('d1@example.test')], { taken: true }),
  named('with an address of two signs', 'email', [email('evil@evil.test@example.test')]),
  named('with an address elsewhere', 'email', [email('d1@example.test.evil')]),
  { title: 'of a CA below, with it', make: async () => clientOf(...(await below({}))), taken: true },
  { title: 'of a CA below, with it and the root', make: async () => clientOf(...(await below({})), root), taken: true },
  { title: 'of a CA below, without it', make: async () => clientOf((await below({}))[0]) },
  { title: 'of a CA below that has expired', make: async () => clientOf(...(await below({ notBefore: from(-9), notAfter: from(-1) }))) },
  { title: 'of a CA below that is for servers', make: async () => clientOf(...(await below({ extensions: [eku(serverAuth)] }))) },
  { title: 'below a leaf', make: async () => clientOf(...(await below({ ca: false }))) },
  { title: 'below a CA that may not sign certificates', make: async () => clientOf(...(await below({ extensions: [usages('cRLSign')] }))) },
  {
    title: 'below the length of its path',
    async make() {
      const first = await makeIdentity({ subject: 'CN=First', issuer: root, ca: 0 });
      const second = await makeIdentity({ subject: 'CN=Second', issuer: first, ca: true });
      return clientOf(await makeIdentity({ subject: `CN=${name}`, issuer: second }), second, first);
    },
  },
  {
    title: 'of another CA with the same name',
    make: async () =>
      clientOf(await makeIdentity({ subject: `CN=${name}`, issuer: await makeIdentity({ subject: 'CN=Devices', ca: true }) })),
  },
  { title: 'signed by itself', make: async () => clientOf(await makeIdentity({ subject: `CN=${name}` })) },
  {
    title: 'signed by itself, with the key identifier of the CA as its issuer’s',
    async make() {
      const identifier = await x509.AuthorityKeyIdentifierExtension.create(root.keys.publicKey);
      return clientOf(await makeIdentity({ subject: `CN=${name}`, extensions: [identifier] }));
    },
  },
  { title: 'of the CA itself', make: async () => clientOf(root) },
  { title: 'none', make: async () => undefined as never },
  {
    title: 'of our CA, as the record has it',
    role: 'ours',
    taken: true,
    make: () => harness.certify('ours', `CN=${name}`, { names: [dns(name)] }),
  },
  own('of our CA under another name', 'CN=d2.example.test'),
  {
    title: 'of a CA elsewhere that has the name of our CA',
    role: 'ours',
    make: async () => clientOf(await makeIdentity({ subject: `CN=${name}`, issuer: root })),
  },
  {
    title: 'of our CA with the serial number of another certificate of it, made by itself',
    role: 'ours',
    async make() {
      const right = await harness.certify('ours', `CN=${name}`, { names: [dns(name)] });
      const keys = await makeKeys('P-256');
      const twin = await x509.X509CertificateGenerator.create({
        serialNumber: new X509Certificate(right.cert).serialNumber,
        subject: `CN=${name}`,
        issuer: 'CN=Devices',
        notBefore: from(-1),
        notAfter: from(1),
        publicKey: keys.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: keys.signing,
      });
      return { key: keys.pem, cert: twin.toString('pem') };
    },
  },
  {
    title: 'of our CA that is revoked',
    role: 'ours',
    async make() {
      const client = await harness.certify('ours', `CN=${name}`, { names: [dns(name)] });
      await harness.must('POST', '/v1/state/keystore/tls/ca/ours/revoke', { serial: client.serial });
      return client;
    },
  },
];

test('there are as many as the classes need', () => {
  expect(rows.length).toBeGreaterThan(60);
  expect(new Set(rows.map(({ title }) => title)).size).toBe(rows.length);
});

/**
 * A judge that shares nothing with the product: the chain by OpenSSL through Node's own reading of certificates, names by @peculiar/x509. It
 * refuses at least what may not log in, so that no row is taken that it refuses.
 */
async function referenceTakes(role: string, client: Client | undefined): Promise<boolean> {
  if (client === undefined) return false;
  const sent = client.cert.match(/-----BEGIN[^]*?-----END CERTIFICATE-----/g) ?? [];
  const [own, ...chain] = sent.map((pem) => new x509.X509Certificate(pem));
  if (own === undefined) return false;
  const anchor = role === 'ours' ? undefined : new x509.X509Certificate(new Uint8Array(root.certificate));
  const now = new Date();
  let top = own;
  for (let step = 0; step < 4 && !(await isBelow(top, anchor, now)); step++) {
    const above = chain[step];
    if (above === undefined || !(await top.verify({ publicKey: above, date: now }))) return false;
    if (above.getExtension(x509.BasicConstraintsExtension)?.ca !== true || now > above.notAfter) return false;
    top = above;
  }
  const names = {
    cn: own.subjectName.getField('CN'),
    ...Object.fromEntries(['dns', 'url', 'email'].map((type) => [type, namesOf(own, type)])),
  } as Record<string, string[]>;
  const [found, ...more] = names[role === 'uri' ? 'url' : role in names ? role : 'cn'] ?? [];
  if (found === undefined || more.length > 0 || own.notAfter < now || own.notBefore > now) return false;
  const wanted: Record<string, RegExp> = {
    ...{ cn: /^d1\.example\.test$/, ours: /^d1\.example\.test$/, any: /^[!-~]{1,253}$/ },
    dns: /^(?:d1\.example\.test|[a-z0-9.-]+\.sub\.example\.test)$/,
    uri: /^spiffe:\/\/example\.test\/ns\/pay\/[a-z/]+$/,
    email: /^[a-z0-9]+@example\.test$/,
  };
  return wanted[role]?.test(found) === true;
}

/** Our own CA is not asked for here: its records decide. */
async function isBelow(top: x509.X509Certificate, anchor: x509.X509Certificate | undefined, date: Date): Promise<boolean> {
  return anchor === undefined || top.verify({ publicKey: anchor, date });
}

function namesOf(certificate: x509.X509Certificate, type: string): string[] {
  const extension = certificate.getExtension(x509.SubjectAlternativeNameExtension);
  return (extension?.names.items ?? []).flatMap((one) => (one.type === type ? [one.value] : []));
}

test.each(rows)('$title', async ({ role = 'cn', make, taken, mayBreak }) => {
  const client = await make();
  // Where OpenSSL ends the handshake over what it cannot read, nobody has logged in.
  const ended = { status: mayBreak === true ? 401 : 0, body: { code: mayBreak === true ? 'login-failed' : 'handshake ended' } };
  const { status, body } = await harness.login(role, client).catch(() => ended);
  expect([status, body.code]).toEqual(taken === true ? [200, undefined] : [401, 'login-failed']);
  expect(taken !== true || (await referenceTakes(role, client))).toBe(true);
});
