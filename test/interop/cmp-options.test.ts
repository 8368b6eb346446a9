// openssl cmp with its options, as OpenSSL's own tables of tests have them: each is taken, or refused with the failure listed here.
import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../harness/temporary.ts';
import { type CmpAppliance, cmpSecret, openCmp, startCmpAppliance } from '../plugins/cmp/cmp-appliance.ts';
import { opensslOfNextRelease } from './cmp/openssl.ts';
import { first, held, mac, makeKey, makePlace, must, type Place, run } from './cmp/place.ts';

const path = temporaryDirectory();
let appliance: CmpAppliance;
beforeAll(async () => {
  appliance = await startCmpAppliance();
});

const timeout = 600_000;
const ofNextRelease = await opensslOfNextRelease();
const kinds = [
  ['3.0', {}],
  ['3.5', { 'cert-key-type': 'rsa', 'cert-key-bits': 2048 }],
] as const;

type Row = readonly [name: string, ...words: readonly string[]];

/** Extensions and policies as sections of a file, which `-reqexts` and `-policies` name. */
const sections = `[names]
subjectAltName = DNS:dev.example.test, DNS:two.example.test
[use]
keyUsage = critical, keyAgreement
extendedKeyUsage = serverAuth, codeSigning
basicConstraints = CA:TRUE
[one]
certificatePolicies = 1.2.3.4
`;

describe.each(kinds.filter(([version]) => version === '3.0' || typeof ofNextRelease !== 'string'))('openssl cmp %s', (version, fields) => {
  let programs = '';
  let place: Place;
  const enrol = ['-cmd', 'ir', ...mac, ...first];
  const openssl = (...args: readonly string[]) => run(programs, place.directory, 'openssl', ...args);

  // Refused messages are limited for each CA.
  beforeEach(async () => {
    if (version !== '3.0' && typeof ofNextRelease !== 'string') programs = `${ofNextRelease.directory}:`;
    place = await makePlace(appliance, programs, path, { ...openCmp, ...fields });
    writeFileSync(`${place.directory}/sections.cnf`, sections);
    for (const [name, more] of [
      ['own', []],
      ['other', ['-addext', 'subjectAltName=DNS:two.example.test']],
    ] as const)
      await must(openssl('req', '-new', '-key', 'k.pem', '-subj', '/CN=dev.example.test', '-out', `${name}.csr`, ...more));
    await must(openssl('req', '-new', '-key', 'k2.pem', '-subj', '/CN=dev.example.com', '-out', 'forbidden.csr'));
  });

  /** Outcomes of commands that were not taken. */
  async function refused(rows: readonly Row[], before: readonly string[] = []): Promise<Record<string, string>> {
    const found: Record<string, string> = {};
    for (const [name, ...words] of rows) {
      const { code, said } = await place.cmp(...before, ...words);
      const failure = /PKIFailureInfo: ([A-Za-z]+)/.exec(said)?.[1] ?? /failInfo=([A-Za-z]+)/.exec(said)?.[1];
      if (code !== 0) found[name] = failure ?? 'the client';
    }
    return found;
  }

  test('what a certificate is asked for with', { timeout }, async () => {
    const config = ['-config', 'sections.cnf', '-section', 'default'];
    expect(
      await refused(
        [
          ['days', '-days', '1'],
          ['issuer', '-issuer', '/CN=any'],
          ['another subject', '-subject', '/CN=dev.example.com'],
          ['no host name', '-subject', '/CN=Printer 7'],
          ['more in the subject', '-subject', '/C=DE/O=Plant/CN=dev.example.test'],
          ['an empty subject', '-subject', '/'],
          ['an empty subject with a name', '-subject', '/', '-sans', 'dev.example.test'],
          ['a name', '-sans', 'dev.example.test'],
          ['critical names', '-sans', 'dev.example.test critical'],
          ['two names', '-sans', 'dev.example.test, two.example.test'],
          ['a forbidden name', '-sans', 'dev.example.com'],
          ['an address', '-sans', '10.0.0.1'],
          ['a URI', '-sans', 'https://dev.example.test/'],
          ['names of the old certificate', '-san_nodefault'],
          ['extensions: names', ...config, '-reqexts', 'names'],
          ['extensions: uses', ...config, '-reqexts', 'use'],
          ['extensions: names twice', ...config, '-reqexts', 'names', '-sans', 'dev.example.test'],
          ['policies by section', ...config, '-policies', 'one'],
          ['policies', '-policy_oids', '1.2.3.4'],
          ['critical policies', '-policy_oids', '1.2.3.4', '-policy_oids_critical'],
          ['no proof', '-popo', '-1'],
          ['proof by an authority', '-popo', '0'],
          ['proof', '-popo', '1'],
          ['proof by decryption', '-popo', '2'],
          ['a request of PKCS #10', '-csr', 'own.csr'],
          ['one with names', '-csr', 'other.csr'],
          ['no confirmation', '-disable_confirm'],
          ['implicit confirmation', '-implicit_confirm'],
          ['general information', '-geninfo', '1.2.3:int:987'],
        ],
        enrol,
      ),
    ).toEqual({
      ...Object.fromEntries(
        ['another subject', 'no host name', 'a forbidden name', 'an address', 'a URI', 'proof by an authority'].map((name) => [
          name,
          'notAuthorized',
        ]),
      ),
      'an empty subject': 'badCertTemplate',
      'extensions: names twice': 'the client',
      // 3.5 takes no proof for the wish for a key that the CA makes.
      'no proof': version === '3.0' ? 'badPOP' : 'the client',
      'proof by decryption': 'badPOP',
    });
    const commands = ['cr', 'p10cr'].flatMap((cmd) => [
      [cmd, '-cmd', cmd, ...mac, '-csr', 'own.csr', '-newkey', 'k.pem', '-certout', 'c.pem'],
      [`${cmd} with names`, '-cmd', cmd, ...mac, '-csr', 'other.csr', '-newkey', 'k.pem', '-certout', 'c.pem'],
      [`${cmd} with a forbidden name`, '-cmd', cmd, ...mac, '-csr', 'forbidden.csr', '-newkey', 'k2.pem', '-certout', 'x.pem'],
    ]) as unknown as readonly Row[];
    expect(await refused(commands)).toEqual({
      'cr with a forbidden name': 'notAuthorized',
      'p10cr with a forbidden name': 'notAuthorized',
    });
  });

  test('how a message is protected', { timeout }, async () => {
    const { directory } = place;
    writeFileSync(`${directory}/secret`, cmpSecret);
    await must(openssl('pkey', '-in', 'k.pem', '-aes256', '-passout', 'pass:abc', '-out', 'locked.pem'));
    const common = ['-cmd', 'ir', ...first, '-trusted', 'ca.pem'];
    expect(
      await refused(
        [
          ['a secret in a file', '-ref', '1234', '-secret', 'file:secret'],
          ['no reference', '-secret', `pass:${cmpSecret}`],
          ['another secret', '-ref', '1234', '-secret', 'pass:wrong'],
          [
            'another secret, unprotected errors taken',
            '-ref',
            '1234',
            '-secret',
            'pass:wrong',
            '-unprotected_errors',
            '-trusted',
            'ca.pem',
          ],
          ...['sha1', 'sha256', 'sha384', 'sha512', 'md5', 'sha3-256'].map((name) => [`digest ${name}`, ...mac, '-digest', name] as const),
          ...['hmac-sha1', 'hmac-sha256', 'hmac-sha512', 'hmac-md5'].map((name) => [`mac ${name}`, ...mac, '-mac', name] as const),
          ['extra certificates', ...mac, '-extracerts', 'ca.pem'],
          ['intermediate certificates', ...mac, '-untrusted', 'ca.pem'],
          ['a locked key', ...mac, '-newkey', 'locked.pem', '-newkeypass', 'pass:abc'],
          ['a certificate in DER', ...mac, '-certform', 'DER', '-certout', 'c.der'],
          ['no protection', '-unprotected_requests'],
          ['no protection, with a secret', ...mac, '-unprotected_requests'],
          ['no protection, unprotected errors taken', '-unprotected_requests', '-unprotected_errors'],
        ],
        common,
      ),
    ).toEqual({
      'no reference': 'badMessageCheck',
      ...Object.fromEntries(['another secret', 'another secret, unprotected errors taken'].map((name) => [name, 'badMessageCheck'])),
      ...Object.fromEntries(['digest sha1', 'digest sha3-256', 'mac hmac-md5'].map((name) => [name, 'badAlg'])),
      ...Object.fromEntries(['digest md5', 'mac hmac-sha256', 'mac hmac-sha512'].map((name) => [name, 'the client'])),
      ...Object.fromEntries(
        ['no protection', 'no protection, with a secret', 'no protection, unprotected errors taken'].map((name) => [
          name,
          'badMessageCheck',
        ]),
      ),
    });
  });

  test('how the holder of a certificate protects a message', { timeout }, async () => {
    await must(openssl('pkey', '-in', 'k.pem', '-aes256', '-passout', 'pass:abc', '-out', 'locked.pem'));
    await must(place.cmp(...enrol));
    const certified = ['-trusted', 'ca.pem', '-cert', 'c.pem'];
    expect(
      await refused([
        ['information under a secret', '-cmd', 'genm', ...mac],
        ['information without protection', '-cmd', 'genm', '-ref', '1234', '-unprotected_requests', '-trusted', 'ca.pem'],
        ['secret and certificate', '-cmd', 'genm', ...mac, ...held],
        ['a locked key that signs', '-cmd', 'genm', ...certified, '-key', 'locked.pem', '-keypass', 'pass:abc'],
        ['its own chain', '-cmd', 'genm', ...held, '-own_trusted', 'ca.pem'],
        ['a pass phrase for others', '-cmd', 'genm', ...held, '-otherpass', 'pass:abc'],
        ['another key', '-cmd', 'genm', ...certified, '-key', 'k2.pem'],
        ...['sha256', 'sha384', 'sha512', 'sha1'].map(
          (name) => [`signature with ${name}`, '-cmd', 'genm', ...held, '-digest', name] as const,
        ),
      ]),
    ).toEqual({ 'information without protection': 'badMessageCheck', 'another key': 'the client', 'signature with sha1': 'badAlg' });
  });

  test('which certificate is updated or revoked', { timeout }, async () => {
    await must(place.cmp(...enrol, '-sans', 'dev.example.test'));
    await must(place.cmp('-cmd', 'ir', ...mac, ...first, '-newkey', 'k2.pem', '-certout', 'second.pem'));
    const ofSecond = ['-cmd', 'rr', '-trusted', 'ca.pem', '-cert', 'second.pem', '-key', 'k2.pem', '-oldcert', 'second.pem'];
    const update = ['-cmd', 'kur', ...held, '-newkey', 'k2.pem', '-certout', 'u.pem'];
    expect(
      await refused([
        ['revocation without a reason', ...ofSecond],
        ['revocation once more', ...ofSecond],
        ['update', ...update],
        ['update of itself, by name', ...update, '-oldcert', 'c.pem'],
        ['update of another', ...update, '-oldcert', 'second.pem'],
        ['update without its names', ...update, '-san_nodefault'],
        ['update with a name more', ...update, '-sans', 'dev.example.test two.example.test'],
        ['update with another subject', ...update, '-subject', '/CN=two.example.test'],
        ['update by a request', ...update, '-csr', 'own.csr', '-newkey', 'k.pem'],
        ['update without a proof', ...update, '-popo', '-1'],
        ['update, spared the confirmation', ...update, '-implicit_confirm'],
        ['update under a secret', '-cmd', 'kur', ...mac, '-oldcert', 'c.pem', '-newkey', 'k2.pem', '-certout', 'u.pem'],
        [
          'again, signed',
          '-cmd',
          'ir',
          ...held,
          '-newkey',
          'k2.pem',
          '-certout',
          'u.pem',
          '-subject',
          '/CN=dev.example.test',
          '-sans',
          'dev.example.test',
        ],
        ['again by cr', '-cmd', 'cr', ...held, '-newkey', 'k2.pem', '-certout', 'u.pem', '-oldcert', 'c.pem'],
        ['another name by cr', '-cmd', 'cr', ...held, '-newkey', 'k2.pem', '-certout', 'u.pem', '-subject', '/CN=two.example.test'],
        ['again by p10cr', '-cmd', 'p10cr', ...held, '-csr', 'own.csr', '-newkey', 'k.pem', '-certout', 'u.pem'],
        ['revocation under a secret', '-cmd', 'rr', ...mac, '-oldcert', 'second.pem'],
        ['revocation by a request', '-cmd', 'rr', ...held, '-csr', 'own.csr', '-revreason', '0'],
        ['revocation of another', '-cmd', 'rr', ...held, '-oldcert', 'second.pem'],
      ]),
    ).toEqual({
      ...Object.fromEntries(['update of another', 'revocation of another'].map((name) => [name, 'badCertId'])),
      ...Object.fromEntries(
        ['update without its names', 'update with a name more', 'update with another subject', 'another name by cr', 'again by p10cr'].map(
          (name) => [name, 'notAuthorized'],
        ),
      ),
      'update without a proof': version === '3.0' ? 'badPOP' : 'the client',
      ...Object.fromEntries(['update under a secret', 'revocation under a secret'].map((name) => [name, 'notAuthorized'])),
      'revocation by a request': 'badCertTemplate',
      'revocation once more': 'certRevoked',
    });
  });

  test('whom the client believes, and what it keeps', { timeout }, async () => {
    const { ca, directory } = place;
    const other = await makePlace(appliance, programs, path, { ...openCmp, ...fields, 'issuing-ca': ca });
    const kept = ['-cacertsout', 'anchors.pem', '-extracertsout', 'extra.pem', '-chainout', 'chain.pem'];
    await must(other.cmp(...enrol, ...kept, '-trusted', `${directory}/ca.pem`));
    const countOf = (file: string): number => readFileSync(`${other.directory}/${file}`, 'utf8').split('BEGIN').length - 1;
    expect(['anchors.pem', 'chain.pem', 'extra.pem'].map(countOf)).toEqual([1, 1, 2]);
    await must(place.cmp(...enrol));
    const ask = ['-cmd', 'genm', '-cert', 'c.pem', '-key', 'k.pem'];
    const trusted = ['-trusted', 'ca.pem'];
    await must(place.cmp(...ask, ...trusted, '-extracertsout', 'signers.pem'));
    const signer = readFileSync(`${directory}/signers.pem`, 'utf8');
    writeFileSync(`${directory}/signer.pem`, `${signer.split('-----END CERTIFICATE-----')[0]}-----END CERTIFICATE-----\n`);
    const sender = (await openssl('x509', '-in', 'signer.pem', '-noout', '-subject', '-nameopt', 'compat')).said
      .trim()
      .replace(/^subject=/, '');
    expect(
      await refused([
        ['a pinned signer', ...ask, '-srvcert', 'signer.pem'],
        ['another pinned signer', ...ask, '-srvcert', `${other.directory}/ca.pem`],
        ['another anchor', ...ask, '-trusted', `${other.directory}/ca.pem`],
        ['the expected sender', ...ask, ...trusted, '-expect_sender', sender],
        ['another sender expected', ...ask, ...trusted, '-expect_sender', '/CN=other'],
        ['any key usage', ...ask, ...trusted, '-ignore_keyusage'],
        ['strict rules for certificates', ...ask, ...trusted, '-x509_strict', '-check_ss_sig', '-policy_check', '-trusted_first'],
        ['depth, purpose and level', ...ask, ...trusted, '-verify_depth', '3', '-purpose', 'any', '-auth_level', '2'],
        ['part of a chain', ...ask, ...trusted, '-partial_chain', '-no_check_time'],
        ['its own anchor for what is issued', ...enrol, '-out_trusted', 'ca.pem'],
        ['no recipient', ...ask, ...trusted, '-recipient', '/'],
        ['another recipient', ...ask, ...trusted, '-recipient', '/CN=somebody'],
        ['recipient by the issuer', ...enrol, '-issuer', `/CN=${ca}`],
      ]),
    ).toEqual(
      Object.fromEntries(['another pinned signer', 'another anchor', 'another sender expected'].map((name) => [name, 'the client'])),
    );
  });

  test('how it connects', { timeout }, async () => {
    const { host, pathname } = new URL(appliance.cmpUrl(place.ca));
    const secure = new URL(appliance.secure).host;
    writeFileSync(`${place.directory}/tls.pem`, appliance.caPem);
    const tls = ['-server', `https://${secure}${pathname}`, '-tls_used', '-tls_trusted'];
    // The listener asks for no certificate: these change nothing.
    const shown = [...tls, 'tls.pem', '-tls_cert', 'client.pem', '-tls_key'];
    await must(openssl('req', '-x509', '-new', '-key', 'k2.pem', '-subj', '/CN=client', '-days', '1', '-out', 'client.pem'));
    await must(openssl('pkcs8', '-topk8', '-in', 'k2.pem', '-passout', 'pass:word', '-out', 'locked.pem'));
    await must(openssl('pkey', '-in', 'k.pem', '-outform', 'DER', '-out', 'k.der'));
    expect(
      await refused(
        [
          ['a URL', '-server', `http://${host}${pathname}`],
          ['the path by itself', '-server', host, '-path', pathname],
          ['no path', '-server', host],
          ['another CA', '-server', host, '-path', `${pathname}x`],
          ['the path of RFC 9811', '-server', host, '-path', `.well-known/cmp/p/${appliance.tenantId}~${place.ca}`],
          ['with an operation', '-server', host, '-path', `.well-known/cmp/p/${appliance.tenantId}~${place.ca}/initialization`],
          ['one connection for each message', '-keep_alive', '0'],
          ['one connection for all', '-keep_alive', '1'],
          ['one connection for all, required', '-keep_alive', '2'],
          ['seconds for a message', '-msg_timeout', '20'],
          ['seconds in all', '-total_timeout', '20'],
          ['no proxy', '-proxy', '127.0.0.1:9', '-no_proxy', '127.0.0.1'],
          ['no batch', '-batch'],
          ['three times', '-repeat', '3'],
          ['TLS', ...tls, 'tls.pem'],
          ['TLS with a name', ...tls, 'tls.pem', '-tls_host', '127.0.0.1'],
          ['TLS with another name', ...tls, 'tls.pem', '-tls_host', 'other.example'],
          ['TLS with another anchor', ...tls, 'ca.pem'],
          ['TLS with a certificate', ...shown, 'k2.pem'],
          ['TLS with a certificate and a locked key', ...shown, 'locked.pem', '-tls_keypass', 'pass:word'],
          ['TLS with a certificate and another', ...shown, 'k2.pem', '-tls_extra', 'ca.pem'],
          ['TLS with a certificate and the key of another', ...shown, 'k.pem'],
          ['a key in DER', '-newkey', 'k.der', '-keyform', 'DER'],
        ],
        enrol,
      ),
    ).toEqual(
      Object.fromEntries(
        ['no path', 'another CA', 'TLS with another name', 'TLS with another anchor', 'TLS with a certificate and the key of another'].map(
          (name) => [name, 'the client'],
        ),
      ),
    );
  });

  test('reasons, information, and recorded messages', { timeout }, async () => {
    const { ca, directory } = place;
    const found: Record<string, string> = {};
    for (const reason of [0, 1, 2, 3, 4, 5, 6, 8, 9, 10]) {
      // The key of a certificate that was revoked as compromised is not certified again.
      await makeKey(programs, directory, 'r.pem');
      const own = ['-newkey', 'r.pem', '-certout', 'r-c.pem'];
      await must(place.cmp(...enrol, ...own, '-implicit_confirm'));
      const revoked = ['-cert', 'r-c.pem', '-key', 'r.pem', '-oldcert', 'r-c.pem'];
      Object.assign(
        found,
        await refused([[`reason ${reason}`, '-cmd', 'rr', '-trusted', 'ca.pem', ...revoked, '-revreason', String(reason)]]),
      );
    }
    expect(found).toEqual(Object.fromEntries([2, 6, 8, 10].map((reason) => [`reason ${reason}`, 'badRequest'])));
    await must(place.cmp(...enrol, '-implicit_confirm'));
    const ask = ['-cmd', 'genm', ...held, '-infotype'];
    const unknown = ['signKeyPairTypes', 'encKeyPairTypes', 'preferredSymmAlg', 'caProtEncCert', 'caKeyUpdateInfo'];
    const [issuer, number] = [`/CN=${ca}`, `0x${place.certificate('c.pem').serialNumber}`];
    const revoke = ['-cmd', 'rr', ...held, '-revreason', '4'];
    const onlyNext: readonly Row[] = [
      ['certificates', ...ask, 'caCerts', '-cacertsout', 'all.pem'],
      ['root', ...ask, 'rootCaCert', '-newwithnew', 'new.pem'],
      ['template', ...ask, 'certReqTemplate', '-template', 'template.der'],
      ['list', ...ask, 'crlStatusList', '-crlcert', 'c.pem', '-crlout', 'list.crl'],
      ['another number', ...revoke, '-issuer', issuer, '-serial', '0x1234'],
      ['another issuer', ...revoke, '-issuer', '/CN=other', '-serial', number],
      ['its number', ...revoke, '-issuer', issuer, '-serial', number],
    ];
    expect(
      await refused([
        ...unknown.map((name) => [name, ...ask, name] as const),
        ['currentCRL', ...ask, 'currentCRL'],
        ...(version === '3.0' ? [] : onlyNext),
      ]),
    ).toEqual({
      ...Object.fromEntries(unknown.map((name) => [name, 'badRequest'])),
      ...(version === '3.0' ? {} : { 'another number': 'badCertId', 'another issuer': 'badCertId' }),
    });
    // What was recorded gets what it got, and under a new transactionID it is another message.
    const spared = [...enrol, '-implicit_confirm'];
    await must(place.cmp(...spared, '-reqout', 'one.der', '-rspout', 'two.der'));
    const { serialNumber } = place.certificate('c.pem');
    await must(place.cmp(...spared, '-reqin', 'one.der'));
    expect(place.certificate('c.pem').serialNumber).toBe(serialNumber);
    await must(place.cmp(...spared, '-rspin', 'two.der'));
    await must(place.cmp(...spared, '-reqin', 'one.der', '-reqin_new_tid'));
    expect(place.certificate('c.pem').serialNumber).not.toBe(serialNumber);
  });
});
