// What is sent of a record: RFC 5424 within the longest message, JSON in ASCII, ECS and CEF.
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../core/wire/json.ts';
import { cefOf } from '../../../../appliance/shipping/formats/cef.ts';
import { ecsOf } from '../../../../appliance/shipping/formats/ecs.ts';
import { fittedJson } from '../../../../appliance/shipping/formats/fitted.ts';
import { auditRecordOf, logRecordOf, shipperRecord, type ShippedRecord } from '../../../../appliance/shipping/formats/records.ts';
import { frame, syslogMessage, type SyslogOptions } from '../../../../appliance/shipping/formats/syslog.ts';
import { parseMessage } from '../syslog-receiver.ts';

const hash = 'ab'.repeat(32);
const usual: JsonObject = {
  ...{ chain: 'worker-1', sequence: 17, previous: 'cd'.repeat(32), kind: 'request', 'occurred-at': '2026-11-22T17:27:59.885480Z' },
  ...{ 'request-id': 'request-1', tenant: 'acme', 'tenant-id': 'uuid-1', user: 'ann', accessor: 'accessor-1' },
  ...{ path: '/v1/state/keystore/transit-keys/k/encrypt', method: 'POST', status: 403, code: 'forbidden', 'request-time-ms': 1.25 },
  ...{ 'client-ip': '192.0.2.1', 'user-agent': 'curl/8', 'request-parameters': { name: 'k', deep: { list: [1, 2] } }, hash },
};

function audit(more: JsonObject = {}): ShippedRecord {
  const record = auditRecordOf('worker-1', JSON.stringify({ ...usual, ...more }));
  if (record === undefined) throw new Error('no record');
  return record;
}

const options: SyslogOptions = { enterpriseNumber: 32_473, maxRecordBytes: 8_000, format: 'json', host: 'ks.example' };

describe('syslog', () => {
  test('header, structured data and JSON of a record', () => {
    const message = syslogMessage(audit(), options);
    const { header, data, body } = parseMessage(message);
    expect(header).toBe('<108>1 2026-11-22T17:27:59.885480Z ks.example keystored worker-1 request');
    expect(data).toEqual({ chain: 'worker-1', sequence: '17', digest: hash, id: 'worker-1-17-abababababababab' });
    expect(body).toEqual({ ...usual });
    expect(frame(message).toString('utf8')).toBe(`${Buffer.byteLength(message)} ${message}`);
  });

  test.each([
    ['a finding', audit({ kind: 'trail', event: 'cut-off' }), 105],
    ['records past every appliance', audit({ kind: 'system', code: 'foreign-writes' }), 105],
    ['a failure', audit({ status: 500 }), 107],
    ['a refusal', audit({ status: 400 }), 108],
    ['a success', audit({ status: 200 }), 110],
    ['an error of a log', logRecordOf('main', { text: '{"level":"error"}', after: { number: 1, attempt: 0, offset: 18 } }), 27],
    ['a line for debugging', logRecordOf('main', { text: '{"level":"debug"}', after: { number: 1, attempt: 0, offset: 18 } }), 31],
    ['missing records', shipperRecord('dropped', '2026-11-22T17:27:59.885480Z'), 107],
  ])('priority of %s', (_what, record, priority) => {
    expect(syslogMessage(record as ShippedRecord, options)).toMatch(new RegExp(`^<${priority}>1 `));
  });

  test('ASCII alone, in one line; what the JSON says is the same', () => {
    const text = 'é \u{1f511} \u2028 \u007f \n "quoted" ] \\ \t end';
    const message = syslogMessage(audit({ 'user-agent': text }), options);
    expect(message).toMatch(/^[\x20-\x7e]+$/);
    expect(parseMessage(message).body['user-agent']).toBe(text);
  });

  test('a quote, a backslash and a bracket are escaped in the structured data; header fields have neither spaces nor line ends', () => {
    const record = { ...audit(), stream: 'a"b\\c]d é\n', kind: 'x y\u{1f511}'.repeat(30), occurredAt: '2026-11-22 17:27\n<1>' };
    const message = syslogMessage(record, { ...options, host: 'two words' });
    const [, header = '', data = ''] = /^(<\d+>1 .*?) (\[audit@.*?) \{/.exec(message) ?? [];
    expect(header.split(' ')).toEqual(['<108>1', '-', 'twowords', 'keystored', 'a"b\\c]d', 'xy'.repeat(16)]);
    expect(data).toContain('chain="a\\"b\\\\c\\]d ??"');
  });

  const long: readonly (readonly [string, JsonObject])[] = [
    ['a path', { path: `/${'p'.repeat(20_000)}` }],
    ['text of four octets a character', { 'user-agent': '\u{1f511}'.repeat(10_000) }],
    ['control characters', { 'user-agent': '\u0001"\\'.repeat(5_000) }],
    ['what is no text', { 'request-parameters': { list: Array.from({ length: 5_000 }, (_, n) => `"item" ${n}`) } }],
    ['many long fields', Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`field-with-a-long-name-${n}`, 'x'.repeat(1_000)]))],
    ['long fields that are never cut', { 'request-id': 'r'.repeat(9_000), path: 'p'.repeat(9_000) }],
  ];
  const sizes = [1_024, 2_048, 8_000];
  const cases = long.flatMap(([what, more]) =>
    sizes.flatMap((most) => (['json', 'ecs'] as const).map((format) => ({ what, more, most, format }))),
  );
  test.each(cases)('$what in $format within $most octets: valid JSON that names what is cut', ({ more, most, format }) => {
    const message = syslogMessage(audit(more), { ...options, maxRecordBytes: most, format });
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(most);
    expect(message).toMatch(/^[\x20-\x7e]+$/);
    const { data, body } = parseMessage(message);
    expect(data).toMatchObject({ chain: 'worker-1', sequence: '17', digest: hash });
    expect(data['cut']).toMatch(/^[^ ]/);
    expect(JSON.stringify(body).isWellFormed()).toBe(true);
    const identity = most > 1_024 ? { chain: 'worker-1', sequence: 17, hash } : {};
    expect(body).toMatchObject(format === 'ecs' ? { '@timestamp': usual['occurred-at'] } : identity);
  });

  test('one long field is cut to the octet, marked and named, and the others stay', () => {
    const { text, cut } = fittedJson({ ...usual, path: 'p'.repeat(9_000) }, 4_000);
    const body = JSON.parse(text) as JsonObject;
    expect(cut).toEqual(['path']);
    expect(body['path']).toMatch(/^p+…$/);
    expect({ ...body, path: 0 }).toEqual({ ...usual, path: 0 });
    expect(text.length).toBeLessThanOrEqual(4_000);
    expect(text.length).toBeGreaterThan(3_900);
  });
});

test('ECS: every field has its name, and the original is the record as it is in the trail', () => {
  const record = audit();
  expect(ecsOf(record)).toEqual({
    '@timestamp': usual['occurred-at'],
    ecs: { version: '8.17.0' },
    message: 'request POST /v1/state/keystore/transit-keys/k/encrypt',
    event: {
      ...{ kind: 'event', module: 'keystored', dataset: 'keystored.audit', provider: 'worker-1', id: record.id, original: record.text },
      ...{ action: 'encrypt', category: ['iam', 'configuration'], type: ['info'], outcome: 'failure', duration: 1_250_000 },
      ...{ sequence: 17, hash },
    },
    log: { level: 'warn' },
    service: { type: 'keystored' },
    user: { name: 'ann', id: 'accessor-1' },
    organization: { id: 'uuid-1', name: 'acme' },
    source: { ip: '192.0.2.1' },
    user_agent: { original: 'curl/8' },
    url: { path: usual['path'] },
    error: { code: 'forbidden' },
    http: { request: { method: 'POST', id: 'request-1' }, response: { status_code: 403 } },
  });
  expect(ecsOf(audit({ method: 'DELETE', status: 204, kind: 'login' }))).toMatchObject({
    event: { action: 'delete', category: ['authentication'], type: ['deletion'], outcome: 'success' },
  });
});

describe('CEF', () => {
  test('header and extension, escaped as each wants it', () => {
    const text = cefOf(audit({ user: 'a=b|c\\d\ne é', path: '/v1/x/a|b\\c' }));
    expect(text).toMatch(/^CEF:0\|keystored\|keystored\|1\|request\|a\\\|b\\\\c\|5\|rt=/);
    expect(text).toContain('suser=a\\=b|c\\\\d\\ne \\u00e9 ');
    expect(text).toContain(`rt=${Date.parse('2026-11-22T17:27:59.885Z')} outcome=failure`);
    expect(text).toContain(`cn1=17 cn1Label=sequence cs1=${hash} cs1Label=digest cs3=worker-1 cs3Label=chain`);
    expect(text).toContain('cs2=acme cs2Label=tenant');
    expect(text).toContain('cn2=1.25 cn2Label=milliseconds');
    expect(text).not.toContain('request-parameters');
    expect(text).toMatch(/^[\x20-\x7e]+$/);
  });

  test.each([1_024, 1_025, 1_026, 1_027])('within %i octets: place and digest stay, the cut is named and splits no escape', (most) => {
    const message = syslogMessage(audit({ path: `/${'=\\é'.repeat(2_000)}` }), { ...options, maxRecordBytes: most, format: 'cef' });
    expect(message.length).toBeLessThanOrEqual(most);
    expect(message).toContain(' cut="cef"]');
    expect(message).toContain(`cn1=17 cn1Label=sequence cs1=${hash}`);
    const cut = message.slice(message.indexOf('request=') + 'request='.length);
    expect(cut).toMatch(/^\/(?:\\=|\\\\|\\u00e9)*$/);
  });
});
