// The pages of the API description: complete, linked without gaps, without anything from outside, and with examples that hold.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fieldsIn } from '../../../appliance/cli/operations/fields.ts';
import { inlineDocument, type OpenApiDocument } from '../../../core/http/description/document.ts';
import { commandLineOf, curlOf } from '../../../core/http/description/pages/examples.ts';
import { entriesOf, hrefOf } from '../../../core/http/description/pages/frame.ts';
import type { Answer, TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { startWholeAppliance } from './whole-appliance.ts';

const path = temporaryDirectory();
let appliance: TestAppliance;
let document: OpenApiDocument;
const pages = new Map<string, string>();

const ask = (target: string): Promise<Answer> => appliance.request('GET', target, undefined, { token: undefined });

/** Addresses of the links of a page. */
const linksOf = (page: string): readonly string[] => [...page.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href);

beforeAll(async () => {
  appliance = await startWholeAppliance(path());
  document = inlineDocument((await ask('/v1/openapi.json')).body as OpenApiDocument);
  const open = ['/v1/docs', '/v1/docs/find?text=key'];
  for (let target = open.pop(); target !== undefined; target = open.pop()) {
    if (pages.has(target)) continue;
    const { status, body } = await ask(target);
    expect([target, status]).toEqual([target, 200]);
    pages.set(target, String(body));
    const next = linksOf(String(body)).map((href) => href.split('#')[0] ?? '');
    open.push(...next.filter((href) => href.startsWith('/v1/docs')));
  }
});
afterAll(() => appliance.close());

test('every operation and every error code has its place, and every link leads to one', () => {
  const places = [...entriesOf(document).map(hrefOf), ...Object.keys(document['x-errors']).map((code) => `/v1/docs/errors#${code}`)];
  const links = [...pages].flatMap(([at, page]) => linksOf(page).map((href) => (href.startsWith('#') ? `${at}${href}` : href)));
  const hasPlace = (href: string): boolean => {
    const [target = '', id] = href.split('#');
    return pages.get(target)?.includes(id === undefined ? '<main>' : `id="${id}"`) === true;
  };
  expect(places.filter((place) => !hasPlace(place))).toEqual([]);
  expect(links.filter((href) => href !== '/v1/openapi.json' && !hasPlace(href))).toEqual([]);
});

test('no page needs a script or anything from outside', async () => {
  for (const page of pages.values()) expect(page).not.toMatch(/<script|<link|<img|<iframe|@import|url\(|style="|\son[a-z]+="/);
  const { headers } = await ask('/v1/docs/find?text=x');
  expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'self'/);
});

test('an example of curl has the body of the description, and one of keystorectl only options that there are', () => {
  const missing = entriesOf(document).flatMap((entry) => {
    const [media] = Object.values(entry.operation.requestBody?.content ?? {});
    const words = (commandLineOf(entry) ?? '').matchAll(/ --(?:no-)?([\w/-]+)/g);
    const fields = new Set([...fieldsIn(media?.schema).map(({ path: name }) => name), 'config']);
    const strange = [...words].filter(([word, name = '']) => !fields.has(name) && !fields.has(word.slice(3)));
    const hasBody = media?.example === undefined || curlOf(entry).includes(JSON.stringify(media.example).replaceAll("'", String.raw`'\''`));
    return strange.length > 0 || !hasBody ? [`${entry.operation.operationId} ${strange.join()}`] : [];
  });
  expect(missing).toEqual([]);
});

test('a search finds operations by path, summary and field, and error codes; what is typed is text', async () => {
  const find = async (text: string): Promise<string> => String((await ask(`/v1/docs/find?text=${encodeURIComponent(text)}`)).body);
  expect(await find('ENCRYPT transit')).toContain('/v1/docs/key-actions#transitKeysEncrypt');
  expect(await find('associated-data')).toContain('#transitKeysEncrypt');
  expect(await find('version exhausted')).toContain('/v1/docs/errors#version-exhausted');
  expect(await find('nothing is called so')).toContain('0 results');
  const hostile = await find('"><script>alert(1)</script>');
  expect(hostile).toContain('&lt;script&gt;');
  expect(hostile).not.toContain('<script');
  expect(await ask('/v1/docs/find?text=a&text=b')).toMatchObject({ status: 400 });
  expect(await ask('/v1/docs/none')).toMatchObject({ status: 404, body: { code: 'not-found' } });
});
