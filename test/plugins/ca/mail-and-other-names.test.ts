// Mail addresses and otherNames: refused unless the identity policy names them, judged strictly, bound by name constraints, and renewed as RFC 5280 7 compares names.
import { execFile } from 'node:child_process';
import { generateKeyPairSync, sign as makeSignature, X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { formatPem } from '../../../core/base/texts/pem.ts';
import {
  bitString,
  encode,
  explicit,
  implicit,
  integer,
  objectIdentifier,
  sequence,
  setOf,
  tag,
  utf8String,
} from '../../../core/der/der.ts';
import { nameAttributes, requestAttribute } from '../../../core/der/oids.ts';
import { dnsName, email, subjectAltName, uri } from '../../../plugins/ca/der/extensions.ts';
import { readGeneralName } from '../../../plugins/ca/der/read-extensions.ts';
import { findForbiddenName } from '../../../plugins/ca/issuing/identity-policy.ts';
import { otherName } from '../../../plugins/ca/names/other-name.ts';
import { isSameName } from '../../../core/der/name.ts';
import { areSameNames } from '../../../plugins/ca/names/same-name.ts';
import { Reader } from '../../../core/der/der.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { startScepAppliance } from '../scep/scep-appliance.ts';

const at = temporaryDirectory();
const run = promisify(execFile);
const appliance = await startScepAppliance();
const upn = (value: string) => otherName({ type: '1.3.6.1.4.1.311.20.2.3', value });
const policy = {
  'allowed-emails': ['alice@plant.example', '*@line.plant.example'],
  'allowed-other-names': ['1.3.6.1.4.1.311.20.2.3;UTF8:*@plant.example', '1.2.3.4;UTF8:exactly', '1.2.3.5;UTF8:*'],
  'allowed-domains': ['plant.example'],
  'allow-subdomains': true,
};
const ca = await appliance.makeCa({ est: policy });
const names = (...list: Uint8Array[]) => list.map((whole) => readGeneralName(new Reader(whole).next()));

/** A request for this subject and these names with a key that is discarded. */
function requestFor(subject: Uint8Array, ...list: Uint8Array[]): string {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const attribute = sequence(objectIdentifier(requestAttribute.extensionRequest), setOf(sequence(subjectAltName(list, false))));
  const info = sequence(integer(0), subject, publicKey.export({ format: 'der', type: 'spki' }), explicit(0, attribute));
  const signature = bitString(makeSignature('sha256', info, privateKey));
  return formatPem('CERTIFICATE REQUEST', sequence(info, sequence(objectIdentifier('1.2.840.10045.4.3.2')), signature));
}
const nobody = sequence();

const rules = {
  ...{ allowedDomains: [], allowSubdomains: false, allowBareDomains: false, allowIpSans: false },
  ...{ allowedEmails: policy['allowed-emails'], allowedOtherNames: policy['allowed-other-names'] },
};
const refusedMail = 'a mail address of the subject is not within allowed-emails';
const judge = (whole: Uint8Array) => findForbiddenName(rules, { subjectAttributes: [], alternativeNames: names(whole) });

test.each(['alice@plant.example', 'alice@PLANT.example', 'bob@line.plant.example', "o'neil+x@line.plant.example"])(
  'mail: %s is allowed',
  (mailbox) => {
    expect(judge(email(mailbox))).toBeUndefined();
  },
);

test.each([
  'Alice@plant.example',
  'bob@plant.example',
  'bob@x.line.plant.example',
  '*@line.plant.example',
  '**@line.plant.example',
  '@line.plant.example',
  'a@b@line.plant.example',
  '"a b"@line.plant.example',
  'a..b@line.plant.example',
  'a@line.plant.example.',
  'a\0@line.plant.example',
  'b\u00fccher@line.plant.example',
  'a@b\u00fccher.line.plant.example',
  'Alice <a@line.plant.example>',
])('mail: %j is refused', (mailbox) => {
  expect(judge(email(mailbox))).toBe('a mail address is not within allowed-emails');
});

test.each<[string, string | undefined]>([
  ['alice@plant.example', undefined],
  ['alice@PLANT.example', undefined],
  ['Alice@plant.example', refusedMail],
  ['ceo@evil.example', refusedMail],
])('mail in the subject: %s is judged as among the alternative names', (mailbox, expected) => {
  const subjectAttributes = [{ type: nameAttributes.E, value: mailbox }];
  expect(findForbiddenName(rules, { subjectAttributes, alternativeNames: names(email('alice@plant.example')) })).toBe(expected);
});

test.each(['alice@plant.example', 'jos\u00e9@plant.example', 'alice@PLANT.EXAMPLE'])('a user principal name %s is allowed', (value) => {
  expect(judge(upn(value))).toBeUndefined();
});

test.each<[string, Uint8Array]>([
  ['another domain', upn('alice@evil.example')],
  ['two at signs', upn('alice@evil.example@plant.example')],
  ['a control character', upn('alice\u0000@plant.example')],
  ['characters that nobody sees', upn('al\u200bice@plant.example')],
  ['an asterisk', upn('*@plant.example')],
  ['no local part', upn('@plant.example')],
  ['a dot at the end', upn('alice@plant.example.')],
  [
    'another type of string',
    encode(
      tag.constructed(0),
      objectIdentifier('1.3.6.1.4.1.311.20.2.3'),
      explicit(0, encode(tag.ia5String, Buffer.from('alice@plant.example'))),
    ),
  ],
  [
    'octets that are not UTF-8',
    encode(tag.constructed(0), objectIdentifier('1.2.3.5'), explicit(0, encode(tag.utf8String, Uint8Array.of(0xff)))),
  ],
  ['more behind the value', encode(tag.constructed(0), objectIdentifier('1.2.3.5'), explicit(0, utf8String('a'), utf8String('b')))],
  ['a type that is not named', otherName({ type: '1.2.3.6', value: 'exactly' })],
  ['another value', otherName({ type: '1.2.3.4', value: 'Exactly' })],
  ['a mail address beyond ASCII', otherName({ type: '1.3.6.1.5.5.7.8.9', value: 'jos\u00e9@plant.example' })],
])('an otherName is refused: %s', (_what, name) => {
  expect(judge(name)).toBe('an otherName is not within allowed-other-names');
});

test('are certified for devices as requested, and openssl reads them; without the rules neither is', async () => {
  const csr = requestFor(nobody, email('alice@plant.example'), upn('alice@plant.example'), otherName({ type: '1.2.3.5', value: 'x' }));
  const free = await appliance.request('POST', '/v1/config/policy/policies', {
    name: 'bounded',
    'rest-api': { rules: [{ path: `/v1/state/keystore/tls/ca/*/sign-csr`, operations: { execute: 'allow' } }] },
  });
  expect(free.status).toBe(201);
  const { body: made } = await appliance.request('POST', '/v1/state/keystore/token/create', { policies: ['bounded'], ttl: '1h' });
  const sign = (from: string) => appliance.request('POST', `/v1/state/keystore/tls/ca/${from}/sign-csr`, { csr }, { token: made.token });
  const { body } = await sign(ca);
  writeFileSync(at('leaf.pem'), body.certificate);
  const { stdout } = await run('openssl', ['x509', '-in', at('leaf.pem'), '-noout', '-ext', 'subjectAltName']);
  expect(stdout).toMatch(/email:alice@plant\.example, othername: UPN::?alice@plant\.example, othername: /);
  const shown = await appliance.list(ca, `certificates/${body.serial}`);
  expect(JSON.stringify(shown)).toContain('otherName:1.3.6.1.4.1.311.20.2.3;UTF8:alice@plant.example');
  const refused = await sign(await appliance.makeCa({ est: { 'allowed-domains': ['plant.example'] } }));
  expect([refused.status, refused.body.detail]).toEqual([403, expect.stringContaining('allowed-emails')]);
});

test('are made for who has no key, and words that are none are refused', async () => {
  const issue = (fields: object) => appliance.act(ca, 'issue', { subject: 'CN=x.plant.example', ...fields });
  const { status, body } = await issue({
    emails: ['alice@plant.example'],
    'other-names': ['1.3.6.1.4.1.311.20.2.3;UTF8:alice@plant.example'],
  });
  expect(status).toBe(200);
  expect(new X509Certificate(body.certificate).subjectAltName).toContain('email:alice@plant.example');
  for (const fields of [
    { emails: ['*@x.example'] },
    { emails: ['x'] },
    { 'other-names': ['UPN:x'] },
    { 'other-names': ['1.3.6.1.5.5.7.8.9;UTF8:x'] },
  ])
    expect((await issue(fields)).status).toBe(400);
  const make = (est: object) => appliance.request('POST', '/v1/config/keystore/tls/ca', { name: 'refused', est });
  for (const est of [{ 'allowed-emails': ['*@*'] }, { 'allowed-emails': ['plant.example'] }, { 'allowed-other-names': ['*'] }])
    expect((await make(est)).status).toBe(400);
});

/** A URI of which one reader says that its host is within the limits. */
const ambiguous = (text: string): [Uint8Array, boolean] => [uri(text), false];

test('are made without a subject where none is given, so that the rules for mail alone decide', async () => {
  const rules = ['issue', 'sign-csr'].map((action) => ({
    path: `/v1/state/keystore/tls/ca/*/${action}`,
    operations: { execute: 'allow' },
  }));
  await appliance.request('POST', '/v1/config/policy/policies', { name: 'issuing', 'rest-api': { rules } });
  const { body: made } = await appliance.request('POST', '/v1/state/keystore/token/create', { policies: ['issuing'], ttl: '1h' });
  const issue = (emails: readonly string[]) =>
    appliance.request('POST', `/v1/state/keystore/tls/ca/${ca}/issue`, { emails }, { token: made.token });
  const { status, body } = await issue(['alice@plant.example']);
  expect([status, body.detail]).toEqual([200, undefined]);
  const { subject, subjectAltName } = new X509Certificate(body.certificate);
  expect([subject ?? '', subjectAltName]).toEqual(['', 'email:alice@plant.example']);
  const refused = await issue(['alice@evil.example']);
  expect([refused.status, refused.body.detail]).toEqual([403, expect.stringContaining('allowed-emails')]);
});

test('limits of a CA on mail and URIs are stated, kept, and judged by openssl alike', async () => {
  const bounded = await appliance.makeCa({
    'permitted-emails': ['alice@one.example', 'two.example', '.three.example'],
    'permitted-uri-hosts': ['one.example'],
  });
  writeFileSync(at('ca.pem'), (await appliance.state(bounded))['ca-cert']);
  const { stdout } = await run('openssl', ['x509', '-in', at('ca.pem'), '-noout', '-ext', 'nameConstraints']);
  expect(stdout).toMatch(/URI:one\.example\s+email:alice@one\.example\s+email:two\.example\s+email:\.three\.example/);
  const allowed: [Uint8Array, boolean][] = [
    [email('alice@one.example'), true],
    [email('Alice@one.example'), false],
    [email('bob@one.example'), false],
    [email('bob@two.example'), true],
    [email('bob@x.two.example'), false],
    [email('bob@x.three.example'), true],
    [email('bob@three.example'), false],
    [uri('https://one.example/x'), true],
    [uri('https://ONE.example'), true],
    [uri('https://two.example'), false],
    [uri('https://192.0.2.1/'), false],
    [uri('urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6'), false],
    [uri('https://two.example/@one.example'), false],
    ...['https:one.example', 'https:///one.example', 'https://one.example\\@two.example', 'https://two.example\\@one.example'].map(
      ambiguous,
    ),
    ...['https://one.exam%70le/', 'https://one.example./', 'ht\ttps://one.example', 'https://a@b@one.example/', '//one.example/'].map(
      ambiguous,
    ),
    [uri('spiffe://ONE.example/press?x#@two.example'), true],
    [dnsName('anything.example'), true],
    [otherName({ type: '1.3.6.1.5.5.7.8.9', value: 'b\u00fccher@evil.example' }), false],
    [upn('bob@evil.example'), true],
  ];
  for (const [name, isAllowed] of allowed) {
    const { status, body } = await appliance.act(bounded, 'sign-csr', { csr: requestFor(nobody, name) });
    expect([Buffer.from(name).toString('latin1'), status]).toEqual([Buffer.from(name).toString('latin1'), isAllowed ? 200 : 403]);
    if (!isAllowed) continue;
    writeFileSync(at('leaf.pem'), body.certificate);
    expect((await run('openssl', ['verify', '-x509_strict', '-CAfile', at('ca.pem'), at('leaf.pem')])).stdout).toContain('OK');
  }
});

const printable = (text: string) => encode(tag.printableString, Buffer.from(text));
const ia5 = (text: string) => encode(tag.ia5String, Buffer.from(text));
const subject = (...values: [keyof typeof nameAttributes, Uint8Array][]) =>
  sequence(...values.map(([type, value]) => setOf(sequence(objectIdentifier(nameAttributes[type]), value))));

test('Names are the same whatever case, blanks and type of string; other attributes, other order and other local parts are not', () => {
  const one = subject(['O', printable('Example  Plant')], ['CN', utf8String('Device 1')]);
  expect(isSameName(one, subject(['O', utf8String(' example PLANT ')], ['CN', printable('DEVICE 1')]))).toBe(true);
  for (const other of [
    subject(['CN', utf8String('Device 1')], ['O', printable('Example Plant')]),
    subject(['O', printable('ExamplePlant')], ['CN', utf8String('Device 1')]),
    subject(['O', printable('Example Plant')], ['OU', utf8String('Device 1')]),
    subject(['O', printable('Example Plant')]),
    subject(['O', printable('Example Plant')], ['CN', utf8String('Device 1')], ['CN', utf8String('Device 1')]),
  ])
    expect(isSameName(one, other)).toBe(false);
  const mail = (text: string) => subject(['E', ia5(text)]);
  expect(isSameName(mail('a@Example.test'), mail('a@example.TEST'))).toBe(true);
  expect(isSameName(mail('A@example.test'), mail('a@example.test'))).toBe(false);
});

test('alternative names are the same by the rule of their kind', () => {
  const same = (one: Uint8Array, other: Uint8Array) => areSameNames(names(one, dnsName('x.test')), names(dnsName('X.TEST'), other));
  expect(same(dnsName('A.test'), dnsName('a.TEST'))).toBe(true);
  expect(same(email('a@X.test'), email('a@x.test'))).toBe(true);
  expect(same(email('A@x.test'), email('a@x.test'))).toBe(false);
  expect(same(uri('HTTPS://Me@X.test/Path'), uri('https://Me@x.TEST/Path'))).toBe(true);
  expect(same(uri('https://x.test/Path'), uri('https://x.test/path'))).toBe(false);
  expect(same(uri('https://Me@x.test/'), uri('https://me@x.test/'))).toBe(false);
  expect(same(upn('a@x.test'), upn('A@x.test'))).toBe(false);
  expect(same(implicit(7, Uint8Array.of(1, 2, 3, 4)), implicit(7, Uint8Array.of(1, 2, 3, 5)))).toBe(false);
  expect(areSameNames(names(dnsName('x.test')), names(dnsName('x.test'), dnsName('y.test')))).toBe(false);
});
