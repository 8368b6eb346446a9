import { expect, test } from 'vitest';
import { lackOfName, originField, originsOf } from '../../../core/plugin/origins.ts';

const hosts = ['keys.example', '2001:db8::1'];
const managementUrl = 'https://keys.example:4646';

test('a configured origin has a scheme and a host, and perhaps a port, and nothing that a protocol decides', () => {
  expect(originField('https').parse('https://est.example:443/')).toBe('https://est.example');
  expect(originField('http').parse('http://scep.example:8080')).toBe('http://scep.example:8080');
  for (const wrong of ['http://est.example', 'est.example', 'https://est.example/est', 'https://est.example/?a', 'https://a:b@est.example'])
    expect(originField('https').safeParse(wrong).success, wrong).toBe(false);
});

test('the configured origin comes first, then the host of the URL that a person gave, each once', () => {
  const all = { scheme: 'https', port: 4665, publicUrl: 'https://est.example' } as const;
  expect(originsOf({ hosts, managementUrl, isUrlGiven: true }, all)).toEqual([
    'https://est.example',
    'https://keys.example:4665',
    'https://[2001:db8::1]:4665',
  ]);
  const same = { ...all, publicUrl: 'https://keys.example:4665' };
  expect(originsOf({ hosts, managementUrl }, same)).toEqual(['https://keys.example:4665', 'https://[2001:db8::1]:4665']);
});

test('a host that the certificates do not have is said', () => {
  expect(lackOfName({ hosts }, 'est/public-url', 'https://est.example')).toMatch(/do not have the name est\.example of est\/public-url/);
  for (const held of ['https://Keys.example', 'https://[2001:db8::1]:8443', undefined])
    expect(lackOfName({ hosts }, 'est/public-url', held)).toBe(undefined);
});
