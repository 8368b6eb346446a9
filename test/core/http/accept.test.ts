// Who is answered with a page, who with a problem document: by what the headers of the request prefer.
import { expect, test } from 'vitest';
import { preferenceOf } from '../../../core/http/request/accept.ts';

const chromium = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8';

test.each([
  [undefined, undefined],
  ['', undefined],
  ['*/*', undefined],
  ['text/html', 'html'],
  ['TEXT/HTML; charset=utf-8', 'html'],
  [chromium, 'html'],
  ['text/*, application/*;q=0.5', 'html'],
  ['text/html;q=0.5, */*', 'json'],
  ['text/html;q=0, */*', 'json'],
  ['application/json', 'json'],
  ['application/problem+json, text/html;q=0.9', 'json'],
  ['application/json, text/html', undefined],
  ['application/*', 'json'],
  ['image/png', undefined],
  ['text/html;q=x', undefined],
  [',;q=1,,text/html;q=0.1;level=1', 'html'],
])('Accept: %s prefers %s', (accept, preferred) => expect(preferenceOf(accept)).toBe(preferred));
