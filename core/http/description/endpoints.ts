// Serves the API description: as JSON for programs, as a page for people.
import { once } from '../../base/async/once.ts';
import { Reply, definePublicEndpoint, type AnyEndpoint } from '../endpoint.ts';
import type { OpenApiDocument } from './openapi.ts';
import { pageHeaders, renderPage } from './page.ts';
import { tags } from '../tags.ts';
import { Published } from './published.ts';

/** `GET /v1/openapi.json` and `GET /v1/docs`. The document is built at the first request, not at the start. */
export function descriptionEndpoints(document: () => OpenApiDocument): AnyEndpoint[] {
  const json = once(() => new Published(JSON.stringify(document()), { 'content-type': 'application/json' }));
  const page = once(() => renderPage(document()));
  const shared = { method: 'GET', access: 'public', audit: 'none', tag: tags.description, whileSealed: true } as const;
  return [
    definePublicEndpoint<undefined, Reply>({
      ...shared,
      path: '/v1/openapi.json',
      summary: 'This description',
      description: 'OpenAPI 3.1, made from the same schemas that requests are checked with. Needs no token.',
      operationId: 'descriptionShow',
      produces: 'application/json',
      documented: {
        headers: { ETag: { description: 'For If-None-Match.', schema: { type: 'string', examples: ['"q1W8mZ0bq1c"'] } } },
        otherStatuses: { 304: 'The copy that `If-None-Match` names is still the present one' },
      },
      run: (call) => json().answer(call),
    }),
    definePublicEndpoint<undefined, Reply>({
      ...shared,
      path: '/v1/docs',
      summary: 'This description as a page for people',
      produces: 'text/html',
      run: () => new Reply(200, page(), pageHeaders),
    }),
  ];
}
