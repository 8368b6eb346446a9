// What a start refuses of the destinations: one line with the destination, the field and the fix, and no secret.
import { writeFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../../core/wire/json.ts';
import { requireUsable } from '../../../appliance/shipping/validate.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { destinationOf, httpsTo, syslogTo } from './destinations.ts';
import { makePki, type Pki } from './pki.ts';

const at = temporaryDirectory();
let pki: Pki;
beforeAll(() => {
  pki = makePki(at('.'));
  writeFileSync(at('bad-token'), 'secret value');
  writeFileSync(at('empty'), '');
});

const refuses = (fields: JsonObject) => (): void => requireUsable([httpsTo({ port: 1 }, 'json-lines', pki, fields)]);

test('files and secrets', () => {
  expect(refuses({ 'certificate-file': pki.client, 'key-file': pki.clientKey })).not.toThrow();
  expect(refuses({ 'ca-file': at('none') })).toThrow(
    /^shipping: destination siem: ca-file: .*none cannot be read \(ENOENT\): correct the path/,
  );
  expect(refuses({ 'ca-file': at('empty') })).toThrow(/^shipping: destination siem: ca-file: .* has no certificate in PEM: it must have /);
  expect(refuses({ 'certificate-file': pki.client, 'key-file': pki.outsiderKey })).toThrow(
    /siem: key-file is not the key of certificate-file/,
  );
  expect(refuses({ token: { file: at('empty') } })).toThrow(/destination siem: the token source file .* is empty/);
  expect(refuses({ token: { file: at('bad-token') } })).toThrow(
    /^shipping: destination siem: token: has characters that a header cannot have: it must be one line of ASCII without spaces$/,
  );
});

test('fields that do not fit', () => {
  expect(refuses({ labels: {} })).toThrow(/is not for protocol json-lines: remove it from destination siem, or use loki/);
  expect(refuses({ 'key-file': 'x' })).toThrow(/destination siem needs certificate-file and key-file together/);
  expect(refuses({ acknowledgements: true })).toThrow(/only for protocol splunk: remove it from destination siem/);
  expect(refuses({ format: 'cef' })).toThrow(/cef is only for syslog: destination siem can have json or ecs/);
});

test('texts that could not be sent as they are written', () => {
  const refusesElastic = (fields: JsonObject) => (): void => requireUsable([httpsTo({ port: 1 }, 'elastic', pki, fields)]);
  const refusesLoki = (fields: JsonObject) => (): void => requireUsable([httpsTo({ port: 1 }, 'loki', pki, fields)]);
  for (const tenant of ['a\r\nX-Evil: 1', 'a\u0000', 'a\tb', 'a b', 'tenänt', 'a|b', '..', 'a/b'])
    expect(refusesLoki({ tenant }), tenant).toThrow(/must have only ASCII letters, digits and ! - _ \. \* ' \( \), as Loki has it/);
  expect(refusesLoki({ tenant: "Team_1.a*'(b)!-" })).not.toThrow();

  for (const index of ['a\nb', 'a b', 'índex', '\u007f'])
    expect(refusesElastic({ index }), index).toThrow(/must have visible ASCII characters only/);
  for (const index of ['Logs', '-logs', '_logs', '+a', 'a/b', 'a,b', 'a*', 'a"b', 'a#b', 'a:b'])
    expect(refusesElastic({ index }), index).toThrow(/must be a name of lower-case letters, digits, dots, hyphens and underscores/);
  for (const index of ['logs-keystored-default', '.ds', 'a_b', '<logs-{now/d{yyyy.MM}}>'])
    expect(refusesElastic({ index }), index).not.toThrow();

  const password = { file: at('password') };
  writeFileSync(at('password'), 'pass wörd');
  for (const username of ['a\nb', 'a\u0085'])
    expect(refuses({ username, password }), username).toThrow(/must have no line ends and no other control/);
  expect(refuses({ username: 'a:b', password })).toThrow(/must have no colon: Basic authentication takes what follows for the password/);
  expect(refuses({ username: 'jörg', password })).not.toThrow();
  writeFileSync(at('password'), 'two\nlines');
  expect(refuses({ username: 'a', password })).toThrow(
    /siem: password: has control characters, which a receiver refuses: it must be one line/,
  );
  for (const token of ['a b', 'a\r\nb', 'tökén']) {
    writeFileSync(at('token'), token);
    expect(refuses({ token: { file: at('token') } }), token).toThrow(
      /token: has characters that a header cannot have: it must be one line of ASCII/,
    );
  }
});

test('hosts and URLs', () => {
  for (const url of [
    'https://u:p@siem.example/',
    'HTTPS://u@siem.example',
    'https:\\\\u:p@siem.example/',
    'https:u:p@siem.example/',
    'https://:p@siem.example/',
  ])
    expect(refuses({ url }), url).toThrow(/must have no user and password: give username and password|must be an https URL/);
  for (const url of ['https://siem.example/a\nb', 'https://siem.example/a\tb', 'https://siem.example/\u0000', ' https://siem.example/'])
    expect(refuses({ url }), url).toThrow(/must have no line ends, tabs and spaces around it: remove them/);
  expect(refuses({ url: 'https://siem.example/a#b' })).toThrow(/must have no # and what follows: it is never sent/);
  expect(refuses({ url: 'https://siem.example/a?b=c@d' })).not.toThrow();

  const refusesSyslog = (address: string) => (): void => requireUsable([syslogTo(1, pki, { address })]);
  for (const [address, why] of [
    ['user@siem.example:6514', /must have no user and password/],
    ['sïem.example:6514', /must have a host in ASCII: write a name of other letters in its xn-- form/],
    ['a\u0000b:6514', /must have a host in ASCII/],
    ['a\nb:6514', /must have a host in ASCII/],
    ['-siem.example:6514', /must have a DNS name or an IP address as its host/],
    ['[::1:6514', /must be HOST:PORT/],
    ['[1:2]:6514', /must have a DNS name or an IP address as its host/],
  ] as const)
    expect(refusesSyslog(address), address).toThrow(why);
  for (const address of ['siem.example:6514', 'siem_1:6514', 'siem.example.:6514', '192.0.2.1:6514', '[2001:db8::1]:6514'])
    expect(refusesSyslog(address), address).not.toThrow();
  for (const name of ['a\nb', 'sïem.example', 'a b']) expect(refuses({ 'server-name': name }), name).toThrow(/must have a host in ASCII/);
});

test('Elastic needs an index, in its field or in the URL', () => {
  const elastic = (fields: JsonObject) => (): void => requireUsable([destinationOf({ protocol: 'elastic', 'ca-file': pki.ca, ...fields })]);
  for (const path of ['', '/', '/_bulk', '/_bulk/'])
    expect(elastic({ url: `https://siem.example:9200${path}` }), path).toThrow(
      /is missing: destination siem needs the index or data stream, here or in its url \(https:\/\/HOST:9200\/INDEX\/_bulk\)/,
    );
  expect(elastic({ url: 'https://siem.example:9200/logs/_bulk' })).not.toThrow();
  expect(elastic({ url: 'https://siem.example:9200', index: 'logs' })).not.toThrow();
});
