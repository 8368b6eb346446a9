// One reading of a path for routes, policies and the audit trail (peers' hole 5).
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readRequestPath } from '../../../core/http/request/path.ts';
import { RouteTable } from '../../../core/http/route-table.ts';

describe('readRequestPath', () => {
  test.each([
    ['/v1/config/tenants', ['v1', 'config', 'tenants'], '/v1/config/tenants'],
    ['/v1/config/tenants/', ['v1', 'config', 'tenants'], '/v1/config/tenants'],
    ['/v1/config/tenants?keys=true', ['v1', 'config', 'tenants'], '/v1/config/tenants'],
    ['/v1/%63onfig/%74enants', ['v1', 'config', 'tenants'], '/v1/config/tenants'],
    ['/v1/a%2Fb', ['v1', 'a/b'], '/v1/a%2Fb'],
    ['/v1/%C3%BCber', ['v1', 'über'], '/v1/%C3%BCber'],
    ['/v1/%252e%252e', ['v1', '%2e%2e'], '/v1/%252e%252e'],
    ['/v1/system:logs', ['v1', 'system:logs'], '/v1/system:logs'],
    ['/v1/system%3Alogs', ['v1', 'system:logs'], '/v1/system:logs'],
    ['https://host:4646/v1/x?y', ['v1', 'x'], '/v1/x'],
    ['http://host', [], '/'],
    ['/', [], '/'],
    ['/?x=1', [], '/'],
  ])('%s', (target, segments, text) => expect(readRequestPath(target)).toEqual({ segments, text }));

  test.each([
    '/v1//config',
    '//v1/config',
    '/v1/config//',
    '/v1/./config',
    '/v1/../config',
    '/v1/%2e%2e/config',
    '/v1/%2E/config',
    '/v1/a%00b',
    '/v1/a%0ab',
    '/v1/a%C2%80',
    '/v1/%',
    '/v1/%zz',
    '/v1/%c0%af',
    '/v1/%ed%a0%80',
    '/v1/\u00fc',
    '/v1/a b',
    `/v1/${'a'.repeat(9_000)}`,
    'v1/config',
    '*',
    '',
    'ftp://host/v1',
  ])('%j has no normal form', (target) => expect(readRequestPath(target)).toBeUndefined());

  test('every spelling of a path reads the same, and the normal form reads back as itself', () => {
    const segment = fc
      .string({ minLength: 1, maxLength: 12, unit: 'grapheme' })
      .filter((text) => text !== '.' && text !== '..' && !/\p{Cc}/u.test(text));
    const spelling = fc.func(fc.boolean());
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 6 }), spelling, (segments, encodes) => {
        const spelled = segments.map((text) =>
          [...Buffer.from(text)]
            .map((octet, at) =>
              encodes(octet, at) || !/[\w.~-]/.test(String.fromCharCode(octet))
                ? `%${octet.toString(16).padStart(2, '0')}`
                : String.fromCharCode(octet),
            )
            .join(''),
        );
        const read = readRequestPath(`/${spelled.join('/')}`);
        expect(read?.segments).toEqual(segments);
        expect(readRequestPath(read?.text ?? '')).toEqual(read);
      }),
    );
  });
});

describe('RouteTable', () => {
  const table = new RouteTable<string>();
  for (const [method, path] of [
    ['GET', '/v1/things'],
    ['POST', '/v1/things'],
    ['GET', '/v1/things/{name}'],
    ['GET', '/v1/things/special'],
    ['POST', '/v1/things/{name}/act'],
    ['GET', '/v1/things/special/parts'],
  ] as const) {
    table.add(method, path, `${method} ${path}`);
  }
  const match = (path: string, method = 'GET') => {
    const found = table.match(path.slice(1).split('/'));
    return found && { target: found.entry.methods.get(method), params: found.params };
  };

  test('literal segments come before parameters', () => {
    expect(match('/v1/things/special')).toEqual({ target: 'GET /v1/things/special', params: {} });
    expect(match('/v1/things/other')).toEqual({ target: 'GET /v1/things/{name}', params: { name: 'other' } });
  });

  test('a literal that leads nowhere does not hide a parameter', () => {
    expect(match('/v1/things/special/act', 'POST')).toEqual({ target: 'POST /v1/things/{name}/act', params: { name: 'special' } });
  });

  test('what is not in the table is not found, prefixes included', () => {
    for (const path of ['/v1', '/v1/thing', '/v1/things/a/b', '/v1/things/a/act/b', '/v1/{name}']) expect(match(path)).toBeUndefined();
  });

  test('the entry lists its methods in order', () => {
    expect(table.match(['v1', 'things'])?.entry.allow).toEqual(['GET', 'POST']);
  });

  test('two endpoints cannot share a place', () => {
    expect(() => table.add('GET', '/v1/things', 'again')).toThrow('two endpoints want GET /v1/things');
    expect(() => table.add('PUT', '/v1/things/{other}', 'again')).toThrow('different parameter names');
  });
});
