// Parsing of YAML that people write: the first fault and its place, however many there are.
import { expect, test } from 'vitest';
import * as yaml from 'yaml';
import { isNestedTooDeep } from '../../../../core/base/texts/nesting.ts';
import { parseYaml, YamlFault } from '../../../../core/base/texts/yaml.ts';

const documentsOf = (text: string): unknown[] => [...parseYaml(yaml, text, new yaml.LineCounter())].map((document) => document.toJS());

function faultOf(text: string): unknown {
  try {
    return documentsOf(text);
  } catch (error) {
    return error;
  }
}

test('documents one after another; none is an empty one', () => {
  expect(documentsOf('a: 1\n---\n- b\n...\n# no more\n')).toEqual([{ a: 1 }, ['b']]);
  expect(documentsOf('')).toEqual([null]);
  expect(documentsOf('1: a\ntrue: b')).toEqual([{ '1': 'a', true: 'b' }]);
  expect(documentsOf('# nothing\n')).toEqual([null]);
});

test.each([
  ['a: [1, 2\nb: 3', 2, 1, /Flow sequence/],
  ['a: 1\n---\nb: ]', 3, 2, /./],
  ['a: 1\n---\nb: [1\n---\nc: 2', 4, 2, /Flow sequence/],
  ['a: 1\n---\nb: 2\nb: 3\n---\nc: 2', 4, 2, /"b" is there twice/],
  ['a: !nobody 1', 1, 1, /Unresolved tag/],
  ['a: 1\nb: 2\na: 3', 3, 1, /"a" is there twice/],
  ['%YAML 1.2\n', 2, 1, /directives-end/],
  ['a: 1\n? [b]\n: 2', 2, 1, /^a key must be a text$/],
])('%j has a fault at line %i, document %i', (text, line, document, message) => {
  expect(faultOf(text)).toMatchObject({ line, document, message: expect.stringMatching(message) });
});

test.each([
  ['flow sequences in each other’s place', 'a: { b: k'.padEnd(500_000, '[*a,*a,*a]')],
  ['brackets', ']\n'.repeat(250_000)],
])('of a hundred thousand faults (%s) the first is found, and no other one', (_, text) => {
  const before = process.memoryUsage().heapUsed;
  expect(faultOf(text)).toBeInstanceOf(YamlFault);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(100 * 2 ** 20);
});

test.each([
  ['brackets', '['],
  ['lists', '- '],
  ['questions', '? '],
])('what is nested too deep (%s) is known as that, long before its end', (_, level) => {
  const before = process.memoryUsage().heapUsed;
  expect(isNestedTooDeep(faultOf(level.repeat(200_000)))).toBe(true);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(100 * 2 ** 20);
});
