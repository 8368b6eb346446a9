// The form of a sealed appliance: one field for the PIN of one token, one for each of several, and what is sent becomes what the API takes.
import { expect, test } from 'vitest';
import { unsealFormOf, unsealPage } from '../../../appliance/seal/unseal-page.ts';

const fieldsOf = (tokens: readonly string[]): readonly string[] =>
  [...(unsealPage(tokens).body as string).matchAll(/<input type="password" id="([^"]*)"/g)].map(([, id = '']) => id);

test('the form asks for one PIN, or for that of each token by its name', () => {
  expect(fieldsOf([])).toEqual(['pin']);
  expect(fieldsOf(['default'])).toEqual(['pin']);
  expect(fieldsOf(['default', 'vault'])).toEqual(['pin-default', 'pin-vault']);
});

test('what the form sends is the PIN of all tokens, or of each; an empty field is none', () => {
  expect(unsealFormOf(new URLSearchParams('pin=12%2634'))).toEqual({ pin: '12&34' });
  expect(unsealFormOf(new URLSearchParams('pin-default=1&pin-vault=2'))).toEqual({ pins: { default: '1', vault: '2' } });
  expect(unsealFormOf(new URLSearchParams('pin=&pin-default=&unseal-code=+&other=1'))).toEqual({});
  expect(unsealFormOf(new URLSearchParams('pin=1&unseal-code=+BCDF-GHJK-LMNP'))).toEqual({ pin: '1', 'unseal-code': 'BCDF-GHJK-LMNP' });
});

test('why an attempt failed is text on the page, and no PIN is', () => {
  const { status, body } = unsealPage([], { status: 403, text: '<b>refused</b>' });
  expect(status).toBe(403);
  expect(body).toContain('&lt;b&gt;refused&lt;/b&gt;');
  expect(body).not.toContain('value=');
});

test('with custodians the form takes one share, and says how many are there', () => {
  const custodians = { ceremony: '7v2m0q4x', have: 1, needed: 3 };
  const namesOf = (page: unknown) => [...(page as string).matchAll(/<input\s[^>]*name="([^"]*)"/g)].map(([, name]) => name);
  const { body } = unsealPage([], undefined, { ...custodians, orPin: false });
  expect(namesOf(body)).toEqual(['share']);
  expect(namesOf(unsealPage([], undefined, { ...custodians, orPin: true }).body)).toEqual(['share', 'pin', 'unseal-code']);
  expect(body).toContain('1 of 3 are here');
  expect(unsealFormOf(new URLSearchParams('share=ks1-7v2m0q4x-1-x-y'))).toEqual({ share: 'ks1-7v2m0q4x-1-x-y' });
});
