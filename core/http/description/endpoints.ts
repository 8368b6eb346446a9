// Serves the API description: as JSON for programs, as pages for people.
import { once } from '../../base/async/once.ts';
import { fail } from '../../base/errors.ts';
import { Reply, definePublicEndpoint, type AnyEndpoint } from '../endpoint.ts';
import { tags } from '../tags.ts';
import type { OpenApiDocument } from './openapi.ts';
import { docsPath, pageHeaders } from './pages/frame.ts';
import { DocsSite } from './pages/site.ts';
import { outlineOf } from './outline.ts';
import { Published, documentedCopies } from './published.ts';

/** `GET /v1/openapi.json` and the pages below `/v1/docs`. The document and each page are built at their first request, not at the start. */
export function descriptionEndpoints(document: () => OpenApiDocument): AnyEndpoint[] {
  const asJson = (one: OpenApiDocument): Published => new Published(JSON.stringify(one), { 'content-type': 'application/json' });
  const whole = once(() => asJson(document()));
  const outline = once(() => asJson(outlineOf(document())));
  const site = once(() => new DocsSite(document()));
  const pages = new Map<string, Published>();
  const published = (name: string, render: () => string): Published => {
    const page = pages.get(name) ?? new Published(render(), pageHeaders);
    pages.set(name, page);
    return page;
  };
  const shared = { method: 'GET', access: 'public', audit: 'none', tag: tags.description, whileSealed: true } as const;
  const pageOf = { ...shared, produces: 'text/html' } as const;
  return [
    definePublicEndpoint<undefined, Reply>({
      ...shared,
      path: '/v1/openapi.json',
      summary: 'This description',
      description: 'OpenAPI 3.1, made from the same schemas that requests are checked with. Needs no token.',
      operationId: 'descriptionShow',
      produces: 'application/json',
      query: { outline: '`true`: which operations there are, without their bodies, answers and schemas.' },
      errors: ['rate-limited'],
      documented: documentedCopies,
      run: (call) => (call.query.get('outline') === 'true' ? outline : whole)().answer(call),
    }),
    definePublicEndpoint<undefined, Reply>({
      ...pageOf,
      path: docsPath,
      summary: 'Overview of the API',
      run: (call) => published('', () => site().start()).answer(call),
    }),
    definePublicEndpoint<undefined, Reply>({
      ...pageOf,
      path: `${docsPath}/errors`,
      summary: 'The error codes',
      run: (call) => published('errors', () => site().errors()).answer(call),
    }),
    definePublicEndpoint<undefined, Reply>({
      ...pageOf,
      path: `${docsPath}/find`,
      summary: 'A search in the description',
      query: { text: 'what to look for' },
      run: ({ query }) => new Reply(200, site().find((query.get('text') ?? '').slice(0, mostFindCharacters)), pageHeaders),
    }),
    definePublicEndpoint<undefined, Reply>({
      ...pageOf,
      path: `${docsPath}/{group}`,
      summary: 'One group of operations',
      run(call) {
        const { group = '' } = call.params;
        if (!site().groups.includes(group)) throw fail('not-found', { detail: `There is no group of this name; ${docsPath} lists them.` });
        return published(group, () => site().group(group)).answer(call);
      },
    }),
  ];
}

const mostFindCharacters = 100;
