// Limits on names that a CA of the appliance states in its own certificate, keeps at every issue, and has still after a renewal.
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { formatPem } from '../../../core/base/texts/pem.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { startScepAppliance } from '../scep/scep-appliance.ts';
import { boolean, objectIdentifier, octetString, sequence } from '../../../core/der/der.ts';
import { type Extension, readExtensions } from '../../../plugins/ca/der/certificate.ts';
import { basicConstraints, dnsName, keyUsage, nameConstraints, subjectAltName } from '../../../plugins/ca/der/extensions.ts';
import { findPath } from '../../../plugins/ca/issuing/chain.ts';
import { make, makeCa, makeLeaf, now } from './paths/chains.ts';
import { makeCsr, makeKeys } from './pki.ts';

const at = temporaryDirectory();
const run = promisify(execFile);
const appliance = await startScepAppliance();
const limits = {
  'permitted-domains': ['plant.example'],
  'excluded-domains': ['office.plant.example'],
  'permitted-ip-ranges': ['10.0.0.0/8'],
};
const names = { 'allowed-domains': ['plant.example', 'other.example'], 'allow-subdomains': true, 'allow-bare-domains': true };
const ca = await appliance.makeCa({ ...limits, est: names });
const file = (name: string, text: string): string => {
  writeFileSync(at(name), text);
  return at(name);
};
const issue = (from: string, domain: string, more: object = {}) =>
  appliance.act(from, 'issue', { subject: `CN=${domain}`, 'dns-names': [domain], ...more });
const codeOf = async (answer: ReturnType<typeof issue>) => {
  const { status, body } = await answer;
  return `${status} ${String(body.code ?? 'done')}`;
};
const constraintsIn = async (pem: string) =>
  (await run('openssl', ['x509', '-in', file('shown.pem', pem), '-noout', '-ext', 'nameConstraints'])).stdout;

test('are in its certificate, critical, and in its documents as they were given', async () => {
  const text = await constraintsIn((await appliance.state(ca))['ca-cert']);
  expect(text).toContain('X509v3 Name Constraints: critical');
  expect(text).toMatch(/Permitted:\s+DNS:plant\.example\s+IP:10\.0\.0\.0\/255\.0\.0\.0\s+Excluded:\s+DNS:office\.plant\.example/);
  expect((await appliance.request('GET', `/v1/config/keystore/tls/ca/${ca}`)).body).toMatchObject(limits);
});

test('are kept at issue, by administrators too, and openssl accepts what is within', async () => {
  expect(await codeOf(issue(ca, 'a.plant.example'))).toBe('200 done');
  for (const domain of ['other.example', 'a.other.example', 'office.plant.example', 'a.office.plant.example'])
    expect([domain, await codeOf(issue(ca, domain))]).toEqual([domain, '403 identity-not-allowed']);
  expect(await codeOf(issue(ca, 'b.plant.example', { 'ip-addresses': ['10.1.2.3'] }))).toBe('200 done');
  expect(await codeOf(issue(ca, 'b.plant.example', { 'ip-addresses': ['192.0.2.1'] }))).toBe('403 identity-not-allowed');
  const { body } = await issue(ca, 'c.plant.example');
  const anchor = file('anchor.pem', (await appliance.state(ca))['ca-cert']);
  expect((await run('openssl', ['verify', '-x509_strict', '-CAfile', anchor, file('leaf.pem', body.certificate)])).stdout).toContain(
    'leaf.pem: OK',
  );
});

test('are kept by wildcards, which stand for an excluded domain too, also as common names', async () => {
  const keys = await makeKeys('P-256');
  const sign = async (subject: string, ...names: string[]) => {
    const der = await makeCsr({ keys, subject, ...(names.length === 0 ? {} : { names: names.map((value) => ({ type: 'dns', value })) }) });
    return codeOf(appliance.act(ca, 'sign-csr', { csr: formatPem('CERTIFICATE REQUEST', der) }));
  };
  expect(await sign('CN=any', '*.plant.example')).toBe('403 identity-not-allowed');
  for (const name of ['*.plant.example', '*.other.example', 'x*.office.plant.example'])
    expect([name, await sign(`CN=${name}`)]).toEqual([name, '403 identity-not-allowed']);
  expect(await sign('CN=*.line.plant.example', '*.line.plant.example')).toBe('200 done');
});

test('are kept by host names and mail addresses of the subject beside alternative names too', async () => {
  const keys = await makeKeys('P-256');
  const sign = async (subject: string) => {
    const der = await makeCsr({ keys, subject, names: [{ type: 'dns', value: 'a.plant.example' }] });
    return codeOf(appliance.act(ca, 'sign-csr', { csr: formatPem('CERTIFICATE REQUEST', der) }));
  };
  for (const host of ['admin.other.example', 'a.office.plant.example', '*.other.example'])
    expect([host, await sign(`CN=${host}`)]).toEqual([host, '403 identity-not-allowed']);
  for (const named of ['CN=a.plant.example', 'CN=Press 7', 'CN=a.plant.example,O=Plant']) expect(await sign(named)).toBe('200 done');
  const root = makeCa('root');
  const [stated] = nameConstraints([dnsName('good.example')], []);
  const middle = makeCa('middle', { issuer: root, extensions: [basicConstraints({}), keyUsage('keyCertSign'), stated as Uint8Array] });
  const isFound = (subject: string): boolean => {
    const extensions = [basicConstraints('leaf'), keyUsage('digitalSignature'), subjectAltName([dnsName('a.good.example')], false)];
    return findPath(make({ name: subject, issuer: middle, extensions }).der, [middle.der], [root.der], now) !== undefined;
  };
  expect(['a.good.example', 'device', 'admin.evil.example'].map(isFound)).toEqual([true, true, false]);
});

test('that leave nothing are refused at creation, by themselves and below others, with the reason', async () => {
  const ask = (fields: object) => appliance.request('POST', '/v1/config/keystore/tls/ca', { name: 'closed', ...fields });
  const below = { 'issuing-ca': ca };
  const open = await appliance.makeCa({ 'permitted-uri-hosts': ['.plant.example'], 'permitted-ip-ranges': ['10.0.0.0/8'] });
  const rows: readonly (readonly [object, string])[] = [
    [{ 'permitted-domains': ['a.example'], 'excluded-domains': ['a.example'] }, '"permitted-domains"'],
    [{ 'permitted-domains': ['x.a.example', 'b.example'], 'excluded-domains': ['a.example', 'b.example'] }, '"permitted-domains"'],
    [{ ...below, 'permitted-domains': ['other.example'] }, '"permitted-domains"'],
    [{ ...below, 'permitted-domains': ['x.office.plant.example'] }, '"permitted-domains"'],
    [{ ...below, 'permitted-ip-ranges': ['192.168.0.0/16', '2001:db8::/32'] }, '"permitted-ip-ranges"'],
    [{ 'issuing-ca': open, 'permitted-uri-hosts': ['plant.example'] }, '"permitted-uri-hosts"'],
    [{ ...below, 'excluded-domains': ['plant.example'] }, '"excluded-domains"'],
    [{ 'permitted-domains': ['a.example'], est: { 'allowed-domains': ['b.example'] } }, 'est/allowed-domains (b.example)'],
    [
      { ...below, est: { 'allowed-domains': ['b.example', 'office.plant.example'] } },
      'est/allowed-domains (b.example, office.plant.example)',
    ],
    [
      { 'permitted-domains': ['x.a.example', 'c.example'], 'excluded-domains': ['x.a.example'], est: { 'allowed-domains': ['a.example'] } },
      'est/allowed-domains (a.example)',
    ],
    [{ 'permitted-emails': ['a.example'], est: { 'allowed-emails': ['*@b.example', 'x@c.example'] } }, 'est/allowed-emails'],
    [{ 'permitted-uri-hosts': ['.a.example'], est: { 'allowed-uris': ['spiffe://a.example/*'] } }, 'est/allowed-uris'],
  ];
  for (const [fields, reason] of rows)
    expect([fields, await ask(fields)]).toMatchObject([fields, { status: 400, body: { detail: expect.stringContaining(reason) } }]);
  const csr = formatPem('CERTIFICATE REQUEST', await makeCsr({ keys: await makeKeys('P-256'), subject: 'CN=Line' }));
  const certify = (domain: string) => appliance.act(ca, 'certify-ca', { csr, 'permitted-domains': [domain] });
  expect(await certify('other.example')).toMatchObject({ status: 400, body: { detail: expect.stringContaining('"permitted-domains"') } });
  expect((await certify('example')).status).toBe(200);
  for (const fields of [
    { ...below, 'permitted-domains': ['example'] },
    { ...below, 'permitted-ip-ranges': ['10.9.0.0/16'] },
    { 'issuing-ca': open, 'permitted-uri-hosts': ['press.plant.example'] },
    { 'permitted-domains': ['a.example'], 'excluded-domains': ['x.a.example', 'b.example'] },
  ])
    expect(await appliance.makeCa(fields)).not.toBe('');
});

test('bind later changes of the rules for devices as well', async () => {
  const mail = await appliance.makeCa({ 'issuing-ca': ca, 'permitted-emails': ['.plant.example'] });
  const change = async (est: object) => {
    const { status, body } = await appliance.request('PATCH', `/v1/config/keystore/tls/ca/${mail}`, { est });
    return `${status} ${String(body?.detail ?? '')}`;
  };
  expect(await change({ 'allowed-domains': ['other.example'] })).toMatch(/^400 .*est\/allowed-domains \(other\.example\)/);
  expect(await change({ 'allowed-emails': ['*@plant.example'] })).toMatch(/^400 .*est\/allowed-emails \(\*@plant\.example\)/);
  expect(await change({ 'allowed-emails': ['*@a.plant.example'], 'allowed-domains': ['other.example', 'a.plant.example'] })).toBe('204 ');
  expect(await change({ 'allow-ip-sans': true })).toBe('204 ');
});

test('bind a CA below as well, which has its own besides', async () => {
  const below = await appliance.makeCa({ 'issuing-ca': ca, 'permitted-domains': ['line.plant.example', 'other.example'], est: names });
  expect(await codeOf(issue(below, 'x.line.plant.example'))).toBe('200 done');
  for (const domain of ['x.plant.example', 'other.example']) expect(await codeOf(issue(below, domain))).toBe('403 identity-not-allowed');
});

test('stay when it is renewed, in its roll-over certificates too', async () => {
  expect((await appliance.act(ca, 'renew')).status).toBe(200);
  const state = await appliance.state(ca);
  expect(await constraintsIn(state['ca-cert'])).toContain('DNS:office.plant.example');
  expect(await codeOf(issue(ca, 'other.example'))).toBe('403 identity-not-allowed');
});

test('are judged on paths, so that what trusts the CA takes what it issues', async () => {
  const { certificate } = (await issue(ca, 'login.plant.example')).body;
  const anchor = new X509Certificate((await appliance.state(ca))['ca-cert']).raw;
  expect(findPath(new X509Certificate(certificate).raw, [], [anchor], appliance.clock.now())).toHaveLength(2);
});

test.each([true, false])('of a CA elsewhere are judged as well, critical: %s', (critical) => {
  const [good] = nameConstraints([dnsName('good.example')], []);
  const { value } = readExtensions(sequence(good as Uint8Array))
    .values()
    .next().value as Extension;
  const stated = sequence(objectIdentifier('2.5.29.30'), ...(critical ? [boolean(true)] : []), octetString(value));
  const root = makeCa('root');
  const middle = makeCa('middle', { issuer: root, extensions: [basicConstraints({}), keyUsage('keyCertSign'), stated] });
  const isFound = (name: string): boolean => {
    const extensions = [basicConstraints('leaf'), keyUsage('digitalSignature'), subjectAltName([dnsName(name)], false)];
    return findPath(makeLeaf(middle, { extensions }).der, [middle.der], [root.der], now) !== undefined;
  };
  expect(['a.good.example', 'admin.evil.example'].map(isFound)).toEqual([true, false]);
});

test('are set at creation alone, and say nothing of a CA that is only trusted', async () => {
  const patch = (fields: object) => appliance.request('PATCH', `/v1/config/keystore/tls/ca/${ca}`, fields);
  expect((await patch({ 'permitted-domains': ['other.example'] })).body.code).toBe('immutable-field');
  expect((await patch({ 'permitted-uri-hosts': ['other.example'] })).body.code).toBe('immutable-field');
  expect((await patch({ 'deletion-allowed': true })).status).toBe(204);
  const make = (fields: object) => appliance.request('POST', '/v1/config/keystore/tls/ca', { name: 'refused', ...fields });
  expect(await make({ 'ca-cert': (await appliance.state(ca))['ca-cert'], 'permitted-domains': ['x.example'] })).toMatchObject({
    status: 400,
  });
  for (const fields of [{ 'permitted-domains': ['*.x'] }, { 'permitted-ip-ranges': ['10.0.0.1/8'] }, { 'excluded-domains': [] }])
    expect(await make(fields)).toMatchObject({ status: 400 });
});

test('are stated in one form, whatever dots and capitals they were written with', async () => {
  const dotted = await appliance.makeCa({
    'permitted-domains': ['Plant.Example.'],
    'excluded-domains': ['office.plant.example.'],
    est: names,
  });
  expect(await constraintsIn((await appliance.state(dotted))['ca-cert'])).toMatch(/DNS:plant\.example\s.*DNS:office\.plant\.example\s/s);
  expect(await codeOf(issue(dotted, 'a.plant.example'))).toBe('200 done');
  expect(await codeOf(issue(dotted, 'office.plant.example'))).toBe('403 identity-not-allowed');
});
