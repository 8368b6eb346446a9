// What the certificate of a CA that was signed elsewhere allows below it: what verifiers would not accept is not imported, or not issued.
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { encode, explicit, implicit, octetString, Reader, sequence, tag } from '../../../../core/der/der.ts';
import { readCertificate } from '../../../../plugins/ca/der/certificate.ts';
import { parseName } from '../../../../core/der/name.ts';
import { readGeneralName } from '../../../../plugins/ca/der/read-extensions.ts';
import { otherName } from '../../../../plugins/ca/names/other-name.ts';
import { findConstrainedName } from '../../../../plugins/ca/issuing/name-constraints.ts';
import type { Answer } from '../../../harness/appliance.ts';
import { basic } from '../../est/client.ts';
import { type EstAppliance, openEst, secret, startEstAppliance } from '../../est/est-appliance.ts';
import { file, openssl } from '../../est/openssl.ts';
import { type Identity, makeCsr, makeIdentity, makeKeys, type Names, usages, x509 } from '../pki.ts';

let appliance: EstAppliance;
let root: Identity;
beforeAll(async () => {
  appliance = await startEstAppliance();
  root = await makeIdentity({ subject: 'CN=Outside Root, O=Example', ca: true });
});

const dns = (name: string): Uint8Array => implicit(2, Buffer.from(name));
const mail = (name: string): Uint8Array => implicit(1, Buffer.from(name));
const uri = (name: string): Uint8Array => implicit(6, Buffer.from(name));
const ip = (...octets: number[]): Uint8Array => implicit(7, Uint8Array.from(octets));
const directory = (name: string): Uint8Array => explicit(4, parseName(name) ?? new Uint8Array(0));
const other = (): Uint8Array => encode(tag.constructed(0), octetString(Uint8Array.of(1)));

const zeros = [0, 0, 0, 0];
const [upper, top] = [
  [0x80, 0, 0, 0],
  [0xc0, 0, 0, 0],
];
/** Of each length of a mask the addresses that differ in its last bit from 0.0.0.0. */
const allButOne = Array.from({ length: 32 }, (_, bits) => {
  const [one, mask] = [Buffer.alloc(4), Buffer.alloc(4)];
  one.writeUInt32BE((0x80000000 >>> bits) >>> 0);
  mask.writeUInt32BE((-1 << (31 - bits)) >>> 0);
  return ip(...one, ...mask);
});
const everyV6 = ip(...Array.from({ length: 32 }, () => 0));

/** nameConstraints, critical. */
function constraints({ permitted = [], excluded = [] }: { permitted?: Uint8Array[]; excluded?: Uint8Array[] }): x509.Extension {
  const subtrees = (n: number, bases: Uint8Array[]) => (bases.length === 0 ? [] : [explicit(n, ...bases.map((base) => sequence(base)))]);
  return new x509.Extension('2.5.29.30', true, new Uint8Array(sequence(...subtrees(0, permitted), ...subtrees(1, excluded))));
}
const purposes = (...ids: string[]) => new x509.ExtendedKeyUsageExtension(ids, false);
const [serverAuth, clientAuth, emailProtection] = ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2', '1.3.6.1.5.5.7.3.4'];

/** The CA's certificate by an issuer, with these extensions in place of those of the same kind. */
async function signOutside(csr: string, issuer: Identity, extensions: readonly x509.Extension[]): Promise<string> {
  const request = new x509.Pkcs10CertificateRequest(csr);
  const own = new Set(extensions.map(({ type }) => type));
  const usual = [new x509.BasicConstraintsExtension(true, undefined, true), usages('keyCertSign', 'cRLSign', 'digitalSignature')];
  const certificate = await x509.X509CertificateGenerator.create({
    subject: request.subjectName,
    issuer: new x509.X509Certificate(new Uint8Array(issuer.certificate)).subjectName,
    publicKey: await request.publicKey.export(),
    signingKey: issuer.keys.privateKey,
    signingAlgorithm: issuer.keys.signing as EcdsaParams,
    extensions: [...usual.filter(({ type }) => !own.has(type)), ...extensions],
  });
  return certificate.toString('pem');
}

type Imported = { readonly ca: string; readonly certificate: string; readonly answer: Answer };

async function importing(extensions: readonly x509.Extension[], est: object = openEst, middle?: Identity): Promise<Imported> {
  const ca = await appliance.makeCa({ subject: 'CN=Device CA, O=Example', est });
  const certificate = await signOutside((await appliance.act(ca, 'csr')).body.csr, middle ?? root, extensions);
  const chain = [certificate, ...(middle === undefined ? [] : [middle.pem]), root.pem].join('\n');
  return { ca, certificate, answer: await appliance.act(ca, 'import-cert', { certificate: chain }) };
}

const requestFor = async (subject: string, names?: Names) =>
  makeCsr({ keys: await makeKeys('P-256'), subject, ...(names === undefined ? {} : { names }) });
const asPem = (csr: Buffer): string =>
  `-----BEGIN CERTIFICATE REQUEST-----\n${csr.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
const codeOf = ({ status, body }: Answer): string => `${status} ${body?.code ?? 'done'}`;

describe('import-cert refuses a certificate under which nothing that the CA issues is accepted', () => {
  test.each([
    ['a keyUsage without cRLSign', [usages('keyCertSign', 'digitalSignature')], openEst, /cRLSign/],
    ['an extended key usage without clientAuth, where devices enrol', [purposes(serverAuth)], openEst, /has no clientAuth,/],
    ['one with neither clientAuth nor serverAuth', [purposes(emailProtection)], {}, /no clientAuth and no serverAuth/],
    [
      'name constraints that permit other domains',
      [constraints({ permitted: [dns('other.test')] })],
      openEst,
      /none of est.*example\.test/,
    ],
    ['name constraints that exclude the domain', [constraints({ excluded: [dns('test')] })], openEst, /none of est.*example\.test/],
    [
      'name constraints that exclude all below the domain, where the domain itself is not allowed',
      [constraints({ excluded: [dns('.example.test')] })],
      { ...openEst, 'allow-bare-domains': false },
      /none of est.*example\.test/,
    ],
    [
      'name constraints on otherNames, which bar each',
      [constraints({ excluded: [otherName({ type: '1.2.3', value: 'x' })] })],
      { ...openEst, 'allowed-other-names': ['1.3.6.1.4.1.311.20.2.3;UTF8:*@example.test'] },
      /none of est\/allowed-other-names/,
    ],
    [
      'name constraints that exclude all addresses in parts',
      [
        constraints({
          excluded: [
            ip(...zeros, 0x80, ...zeros.slice(1)),
            ip(...upper, 0xc0, ...zeros.slice(1)),
            ip(...top, 0xc0, ...zeros.slice(1)),
            everyV6,
          ],
        }),
      ],
      { ...openEst, 'allow-ip-sans': true },
      /none of est\/allow-ip-sans/,
    ],
    [
      'name constraints that are none',
      [new x509.Extension('2.5.29.30', true, Uint8Array.of(5, 0))],
      openEst,
      /not a CA certificate|not well-formed/,
    ],
  ])('%s', async (_what, extensions, est, reason) => {
    const { answer } = await importing(extensions, est);
    expect(codeOf(answer)).toBe('400 invalid-certificate');
    expect(answer.body.detail).toMatch(reason);
  });

  test('the same in a certificate above it, which bounds its own name as well', async () => {
    const above = async (...extensions: x509.Extension[]) =>
      importing([], openEst, await makeIdentity({ subject: 'CN=Middle, O=Example', ca: true, issuer: root, extensions }));
    for (const extension of [
      purposes(serverAuth),
      constraints({ permitted: [dns('other.test')] }),
      constraints({ permitted: [directory('O=Somebody else')] }),
    ])
      expect(codeOf((await above(extension)).answer)).toBe('400 invalid-certificate');
    expect(codeOf((await above(constraints({ permitted: [directory('CN=device ca')], excluded: [dns('x.test')] }))).answer)).toBe(
      '204 done',
    );
  });

  const addresses = { ...openEst, 'allow-ip-sans': true };
  test.each<[string, x509.Extension[], object]>([
    ['domains of which some are left', [constraints({ permitted: [dns('west.example.test')] })], openEst],
    ['domains with a dot before them', [constraints({ permitted: [dns('.example.test')] })], openEst],
    ['any extended key usage', [purposes('2.5.29.37.0')], openEst],
    ['no keyUsage at all', [], openEst],
    ['all addresses but one excluded', [constraints({ excluded: [...allButOne, everyV6] })], addresses],
    ['all addresses excluded but those of version 6', [constraints({ excluded: [ip(...zeros, ...zeros)] })], addresses],
    [
      'masks that leave a part, with ones behind zeros',
      [constraints({ excluded: [ip(...zeros, 0x80, 0, 0, 0), ip(...upper, 0x81, 0, 0, 0), everyV6] })],
      addresses,
    ],
    [
      'otherNames of which nobody says anything',
      [constraints({ excluded: [mail('x.test')] })],
      { ...openEst, 'allowed-other-names': ['1.2.3;UTF8:*'] },
    ],
  ])('%s: imported', async (what, extensions, est) => {
    expect([what, codeOf((await importing(extensions, est)).answer)]).toEqual([what, '204 done']);
  });
});

describe('the limits on names that a CA was made with', () => {
  const made = {
    'permitted-domains': ['example.test'],
    'excluded-domains': ['east.example.test'],
    'permitted-uri-hosts': ['.example.test'],
    'permitted-ip-ranges': ['10.0.0.0/8'],
  };
  const bases = [dns('example.test'), uri('.example.test'), ip(10, 0, 0, 0, 255, 0, 0, 0)];
  const east = [dns('east.example.test')];

  let ca: string;
  let csr: string;
  beforeAll(async () => {
    ca = await appliance.makeCa({ subject: 'CN=Device CA, O=Example', est: openEst, ...made });
    csr = (await appliance.act(ca, 'csr')).body.csr;
  });

  test('are asked for by its request', () => {
    const asked = new x509.Pkcs10CertificateRequest(csr).extensions.find(({ type }) => type === '2.5.29.30');
    expect(asked?.rawData).toEqual(constraints({ permitted: bases, excluded: east }).rawData);
    const request = file(join(appliance.directory, 'limited.csr'), csr);
    expect(openssl('req', '-verify', '-noout', '-text', '-in', request).output).toContain('Name Constraints: critical');
  });

  test.each<[string, string, x509.Extension[], x509.Extension[]?]>([
    ['204 done', 'those asked for', [constraints({ permitted: bases, excluded: east })]],
    [
      '204 done',
      'narrower ones',
      [
        constraints({
          permitted: [dns('.west.example.test'), dns('example.test'), uri('a.example.test'), ip(10, 1, 0, 0, 255, 255, 0, 0)],
          excluded: [dns('a.test'), ...east],
        }),
      ],
    ],
    ['204 done', 'some of them above it', [constraints({ permitted: bases })], [constraints({ excluded: east })]],
    ['400 invalid-certificate', 'none', []],
    ['400 invalid-certificate', 'one excluded domain fewer', [constraints({ permitted: bases })]],
    [
      '400 invalid-certificate',
      'a part of the excluded domain',
      [constraints({ permitted: bases, excluded: [dns('.east.example.test')] })],
    ],
    ['400 invalid-certificate', 'a domain more', [constraints({ permitted: [...bases, dns('other.test')], excluded: east })]],
    ['400 invalid-certificate', 'one kind fewer', [constraints({ permitted: bases.slice(1), excluded: east })]],
    [
      '400 invalid-certificate',
      'a wider range',
      [constraints({ permitted: [...bases.slice(0, 2), ip(10, 0, 0, 0, 254, 0, 0, 0)], excluded: east })],
    ],
    [
      '400 invalid-certificate',
      'a range elsewhere',
      [constraints({ permitted: [...bases.slice(0, 2), ip(11, 0, 0, 0, 255, 0, 0, 0)], excluded: east })],
    ],
  ])('import-cert answers %s to %s', async (code, _what, extensions, above) => {
    const middle = above && (await makeIdentity({ subject: 'CN=Middle, O=Example', ca: true, issuer: root, extensions: above }));
    const chain = [await signOutside(csr, middle ?? root, extensions), ...(middle === undefined ? [] : [middle.pem]), root.pem];
    const answer = await appliance.act(ca, 'import-cert', { certificate: chain.join('\n') });
    expect(codeOf(answer)).toBe(code);
    expect(/limits on names.*csr/.test(answer.body?.detail ?? '')).toBe(answer.status === 400);
  });
});

describe('what the certificate of the CA leaves out is not issued', () => {
  test('a device outside the name constraints is refused with 403, and OpenSSL accepts what is issued within them', async () => {
    const limits = constraints({
      permitted: [dns('example.test'), directory('CN=pump.example.test')],
      excluded: [dns('east.example.test')],
    });
    const { ca, certificate } = await importing([limits]);
    const enrolling = async (name: string, subject = `CN=${name}`) =>
      appliance.enrol(ca, 'simpleenroll', await requestFor(subject, [{ type: 'dns', value: name }]), {
        headers: { Authorization: basic(secret) },
      });
    for (const refused of [
      await enrolling('pump.east.example.test', 'CN=pump.example.test'),
      await enrolling('pump.example.test', 'CN=valve.example.test'),
    ]) {
      expect(refused.status).toBe(403);
      expect(refused.text).toContain('name constraints');
      expect(refused.text).not.toContain(',.');
    }
    const issued = await enrolling('pump.example.test');
    expect(issued.status).toBe(200);
    const [leaf] = new x509.X509Certificates(new Uint8Array(Buffer.from(issued.text, 'base64')));
    const at = (name: string, contents: string): string => file(join(appliance.directory, name), contents);
    const [trusted, middle] = [at('root.pem', root.pem), at('middle.pem', certificate)];
    const leafFile = at('leaf.pem', String(leaf?.toString('pem')));
    expect(openssl('verify', '-purpose', 'sslclient', '-CAfile', trusted, '-untrusted', middle, leafFile)).toMatchObject({ code: 0 });
  });

  test('sign-csr refuses usages and names that the certificate does not allow, of callers too who may sign freely', async () => {
    const { ca } = await importing([purposes(clientAuth), constraints({ permitted: [ip(10, 0, 0, 0, 255, 0, 0, 0)] })]);
    const signing = async (names: Names, ...usage: string[]) =>
      codeOf(await appliance.act(ca, 'sign-csr', { csr: asPem(await requestFor('CN=pump', names)), usages: usage }));
    const inside: Names = [{ type: 'ip', value: '10.1.2.3' }];
    expect(await signing(inside, 'client-auth', 'server-auth')).toBe('403 identity-not-allowed');
    expect(await signing([{ type: 'ip', value: '192.0.2.1' }], 'client-auth')).toBe('403 identity-not-allowed');
    expect(await signing(inside, 'client-auth')).toBe('200 done');
  });

  test('nor is a CA certified below it whose name it does not allow', async () => {
    const { ca } = await importing([constraints({ permitted: [directory('O=Example')] })], {});
    const create = async (name: string, subject: string) =>
      appliance.request('POST', '/v1/config/keystore/tls/ca', { name, subject, 'issuing-ca': ca });
    const refused = await create('outside', 'O=Somebody else, CN=CA');
    expect(codeOf(refused)).toBe('400 invalid-value');
    expect(refused.body.detail).toMatch(/"issuing-ca" cannot certify this CA: the subject is not within the name constraints/);
    expect((await create('inside', 'O=EXAMPLE, CN=CA')).status).toBe(201);
  });
});

describe('name constraints by kind (RFC 5280 section 4.2.1.10)', () => {
  const within: readonly (readonly [string, Uint8Array, readonly Uint8Array[], readonly Uint8Array[]])[] = [
    [
      'DNS name',
      dns('Example.test'),
      [dns('example.test'), dns('a.b.EXAMPLE.test'), dns('*.example.test')],
      [dns('anexample.test'), dns('test')],
    ],
    ['DNS name with a dot', dns('.example.test'), [dns('a.example.test')], [dns('example.test')]],
    ['mailbox', mail('root@example.test'), [mail('root@EXAMPLE.test')], [mail('ann@example.test')]],
    ['mail host', mail('example.test'), [mail('ann@example.test')], [mail('ann@a.example.test')]],
    ['mail domain', mail('.example.test'), [mail('ann@a.example.test')], [mail('ann@example.test')]],
    [
      'URI host',
      uri('example.test'),
      [uri('https://u@Example.test:1/x')],
      [uri('https://a.example.test/'), uri('https://x/@example.test')],
    ],
    ['IPv4', ip(10, 1, 0, 0, 255, 255, 0, 0), [ip(10, 1, 9, 9)], [ip(10, 2, 0, 0), ip(...new Uint8Array(16))]],
    [
      'IPv6',
      ip(...[0x20, 1, ...new Uint8Array(14)], ...[255, 255, ...new Uint8Array(14)]),
      [ip(0x20, 1, ...new Uint8Array(14))],
      [ip(0x20, 2, ...new Uint8Array(14))],
    ],
    [
      'directory name',
      directory('O=Example Ltd'),
      [directory('O=EXAMPLE  ltd, CN=x')],
      [directory('CN=x, O=Example Ltd'), directory('O=Example Ltd.')],
    ],
  ];
  const named = (name: Uint8Array) => ({ subject: sequence(), alternativeNames: [readGeneralName(new Reader(name).next())] });
  const issuer = async (limits: Parameters<typeof constraints>[0]) =>
    readCertificate((await makeIdentity({ ca: true, extensions: [constraints(limits)] })).certificate);

  test.each(within)('%s', async (_kind, base, inside, outside) => {
    const [permits, excludes] = [await issuer({ permitted: [base] }), await issuer({ excluded: [base] })];
    for (const name of inside) {
      expect(findConstrainedName([permits], named(name))).toBeUndefined();
      expect(findConstrainedName([excludes], named(name))).toBeDefined();
    }
    for (const name of outside) {
      expect(findConstrainedName([permits], named(name))).toBeDefined();
      expect(findConstrainedName([excludes], named(name))).toBeUndefined();
    }
  });

  test.each([
    ['URI without a host name', uri('example.test'), [uri('urn:x'), uri('https://192.0.2.1/'), uri('https://[::1]/')]],
    ['mail address that is none', mail('example.test'), [mail('ann'), mail('ann@example.test@other.test')]],
  ])('a %s is outside whatever constrains its kind', async (_kind, base, names) => {
    const limits = [await issuer({ permitted: [base] }), await issuer({ excluded: [base] })];
    for (const name of names) expect(limits.map((one) => findConstrainedName([one], named(name)) !== undefined)).toEqual([true, true]);
  });

  test('a wildcard that may stand for an excluded domain is outside, as a common name too', async () => {
    const limits = await issuer({ permitted: [dns('example.test')], excluded: [dns('secret.example.test'), dns('.dotted.example.test')] });
    const ofCommonName = (text: string) =>
      findConstrainedName([limits], { subject: parseName(`CN=${text}`) ?? new Uint8Array(0), alternativeNames: [] });
    for (const wildcard of ['*.example.test', '*.EXAMPLE.test', '*.secret.example.test', '*.a.secret.example.test', '*.other.test']) {
      expect([wildcard, findConstrainedName([limits], named(dns(wildcard)))]).toEqual([wildcard, 'a DNS name']);
      expect([wildcard, ofCommonName(wildcard)]).toEqual([wildcard, 'a DNS name']);
    }
    for (const wildcard of ['*.a.example.test', '*.west.example.test']) {
      expect([wildcard, findConstrainedName([limits], named(dns(wildcard)))]).toEqual([wildcard, undefined]);
      expect([wildcard, ofCommonName(wildcard)]).toEqual([wildcard, undefined]);
    }
    expect(findConstrainedName([await issuer({ excluded: [dns('.example.test')] })], named(dns('*.test')))).toBeUndefined();
  });

  test('a kind that is not compared is outside whatever constrains it, and free where nothing does', async () => {
    expect(findConstrainedName([await issuer({ permitted: [other()] })], named(other()))).toContain('otherName');
    expect(findConstrainedName([await issuer({ excluded: [other()] })], named(other()))).toContain('otherName');
    expect(findConstrainedName([await issuer({ permitted: [dns('example.test')] })], named(other()))).toBeUndefined();
  });

  test('a host name as common name and a mail address in the subject count, also beside alternative names of their kind', async () => {
    const limits = await issuer({ permitted: [dns('example.test'), mail('example.test')] });
    const subject = (text: string) => parseName(text) ?? new Uint8Array(0);
    const judged = (text: string, ...names: Uint8Array[]) =>
      findConstrainedName([limits], {
        subject: subject(text),
        alternativeNames: names.map((name) => readGeneralName(new Reader(name).next())),
      });
    expect(judged('CN=a.other.test')).toBe('a DNS name');
    expect(judged('CN=a.other.test', dns('a.example.test'))).toBe('a DNS name');
    expect(judged('CN=b.example.test', dns('a.example.test'))).toBeUndefined();
    expect(judged('CN=pump 7, E=ann@other.test')).toBe('a mail address');
    expect(judged('CN=pump 7, E=ann@other.test', mail('ann@example.test'))).toBe('a mail address');
    expect(judged('CN=a.example.test, E=ann@example.test')).toBeUndefined();
  });
});
