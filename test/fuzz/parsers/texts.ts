// Parsers of JSON and YAML: bodies of requests, the configuration, and documents that are applied.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { readDeclared } from '../../../appliance/cli/declared/load.ts';
import { loadConfiguration } from '../../../appliance/configuration.ts';
import { parseAround } from '../../../core/wire/json-large.ts';
import { parseJsonObject } from '../../../core/wire/json.ts';
import type { Parser } from './parser.ts';

const bodies = [
  { name: 'orders', cipher: 'aes256-gcm96', labels: { team: 'a', 'cost-center': 'b' }, 'deletion-allowed': true },
  { 'batch-input': [{ plaintext: 'AA==', context: '\u0000\ud83d\ude00"\\' }, { plaintext: '' }, null, -1.5e300] },
];
const jsonWords = [
  '{',
  '}',
  '[',
  ']',
  '"',
  '\\',
  '\\u0000',
  '\\ud800',
  ':',
  ',',
  '{"a":',
  '[[',
  '"plaintext":"',
  '1e999',
  '-',
  'null',
  '\ufeff',
];

/** Parsers of the bodies of requests. */
export function jsonParsers(): readonly Parser[] {
  const large = { plaintext: 'QUJD'.repeat(20_000), context: 'a' };
  return [
    {
      ...{ name: 'JSON body', samples: bodies.map((body) => Buffer.from(JSON.stringify(body))), words: jsonWords },
      read: (octets) => parseJsonObject(octets),
    },
    {
      ...{
        name: 'large JSON body',
        samples: [large, ...bodies].map((body) => Buffer.from(JSON.stringify(body))),
        words: jsonWords,
        share: 0.2,
      },
      read: (octets) => parseAround(octets, 'plaintext'),
    },
  ];
}

const configuration = `
workers: 2
hosts: [localhost, keys.example.test]
data: /tmp/nowhere
hsm:
  tokens:
    - { name: main, module: /usr/lib/softhsm/libsofthsm2.so, label: keystored, pin: { file: /tmp/pin } }
  job-timeout: 30s
audit: &audit { max-file-bytes: 1000000 }
`;
const declared = `
resource: transit-keys
name: orders
config: &one { cipher: aes256-gcm96, labels: &two { team: a }, more: *two }
---
- { resource: policies, name: reader, config: { rest-api: { rules: [] } } }
- resource: transit-keys
  name: others
  config: { labels: { team: b } }
`;
const yamlWords = [
  '&a ',
  '*a',
  '*audit',
  '<<: *two',
  '- ',
  ': ',
  '? ',
  '[',
  ']',
  '{',
  '}',
  '"',
  "'",
  '|\n',
  '>-\n',
  '!!binary ',
  '!!js/function ',
  '\n---\n',
  '%YAML 1.1\n',
  '\t',
  '#',
  '\n  ',
  '[*a,*a,*a]',
  '0x',
  '.inf',
  '~',
];

/** Parsers of files that people write. */
export function yamlParsers(directory: string): readonly Parser[] {
  const file = join(directory, 'input.yaml');
  const io = { environment: {}, stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
  return [
    {
      ...{ name: 'configuration', samples: [Buffer.from(configuration)], words: yamlWords, share: 0.3 },
      read(octets) {
        writeFileSync(file, octets);
        loadConfiguration(['--config', file]);
      },
    },
    {
      ...{ name: 'documents to apply', samples: [Buffer.from(declared)], words: yamlWords, share: 0.3 },
      read(octets) {
        writeFileSync(file, octets);
        return readDeclared([file], io);
      },
    },
  ];
}
