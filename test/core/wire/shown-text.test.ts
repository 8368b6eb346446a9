// Texts for people: no white space at their ends, and no characters that are invisible or reorder the others.
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { parseJsonObject } from '../../../core/wire/json.ts';
import { shownText } from '../../../core/wire/shown-text.ts';
import { findUnseen, replaceUnseen } from '../../../core/wire/unseen-text.ts';
import { parseInput } from '../../../core/wire/schema.ts';
import { policyDocument } from '../../../core/access/policy/policy.ts';

const schema = z.object({
  displayName: shownText({ minCharacters: 1, maxCharacters: 20 }),
  userId: shownText({ minCharacters: 1, maxCharacters: 1_024, maxOctets: 1_024 }).optional(),
});
const parse = (fields: object) => parseInput(schema, parseJsonObject(Buffer.from(JSON.stringify(fields))));

describe('an invisible character is refused by its code point', () => {
  test.each([
    ['\u0000', 'U+0000'],
    ['\n', 'U+000A'],
    ['\u0085', 'U+0085'],
    ['\u00ad', 'U+00AD'],
    ['\u034f', 'U+034F'],
    ['\u061c', 'U+061C'],
    ['\u115f', 'U+115F'],
    ['\u180e', 'U+180E'],
    ['\u200b', 'U+200B'],
    ['\u200d', 'U+200D'],
    ['\u200e', 'U+200E'],
    ['\u2028', 'U+2028'],
    ['\u202e', 'U+202E'],
    ['\u2060', 'U+2060'],
    ['\u2066', 'U+2066'],
    ['\u2069', 'U+2069'],
    ['\u3164', 'U+3164'],
    ['\ufeff', 'U+FEFF'],
    ['\ufe0f', 'U+FE0F'],
    ['\u{e0041}', 'U+E0041'],
  ])('%j', (character, name) => {
    for (const field of ['display-name', 'user-id']) {
      const refusal = `"${field}" must not contain ${name}: `;
      expect(() => parse({ 'display-name': 'x', [field]: `a${character}b` })).toThrow(refusal);
    }
    expect(replaceUnseen(`a${character}b`)).toBe('ab');
  });
});

test('letters, marks, digits, punctuation and spaces of any language are accepted', () => {
  for (const text of ['Ada', 'Zoë Ångström', 'שלום', 'مرحبا', '日本 語', 'é̂', '😀 Team', 'a_b-c.d (e) <f@g.h>']) {
    expect(findUnseen(text)).toBeUndefined();
    expect(parse({ 'display-name': text })).toEqual({ displayName: text });
  }
});

test('white space at the ends is removed before the text is checked', () => {
  expect(parse({ 'display-name': ' \t Ada \n', 'user-id': '\u00a0Ada\ufeff' })).toEqual({ displayName: 'Ada', userId: 'Ada' });
  expect(() => parse({ 'display-name': '   ' })).toThrow(expect.objectContaining({ code: 'invalid-value' }));
});

test('a User ID is limited in octets', () => {
  expect(parse({ 'display-name': 'x', 'user-id': 'é'.repeat(512) })).toMatchObject({ userId: 'é'.repeat(512) });
  expect(() => parse({ 'display-name': 'x', 'user-id': `${'é'.repeat(512)}x` })).toThrow(/1024 octets/);
});

test('a description may have several lines, and no other invisible characters', () => {
  const describe = (description: string) => parseInput(policyDocument, { description });
  expect(describe('one\r\n\ttwo\n')).toMatchObject({ description: 'one\r\n\ttwo' });
  expect(() => describe('one\n\u202etwo')).toThrow(/U\+202E/);
});
