// What is remembered of request targets is what reading them again would say, however many were asked for in between.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { FoundPaths } from '../../../core/http/request/found-paths.ts';
import { readRequestPath } from '../../../core/http/request/path.ts';
import { RouteTable } from '../../../core/http/route-table.ts';

function table(): RouteTable<string> {
  const routes = new RouteTable<string>();
  routes.add('GET', '/v1/keys', 'list');
  routes.add('GET', '/v1/keys/{name}', 'show');
  routes.add('POST', '/v1/keys/{name}/sign', 'sign');
  return routes;
}

const segment = fc.constantFrom('v1', 'keys', 'sign', 'a', 'b%2Fc', 'b%2fc', '..', '.', '', 'x'.repeat(300), '%zz', 'é');
const target = fc
  .tuple(fc.array(segment, { maxLength: 5 }), fc.constantFrom('', '/', '?a=1'))
  .map(([segments, end]) => `/${segments.join('/')}${end}`);

test('a target finds the same again and again', () => {
  const routes = table();
  const paths = new FoundPaths(routes);
  fc.assert(
    fc.property(target, (one) => {
      const path = readRequestPath(one);
      const fresh = { path, match: path === undefined ? undefined : routes.match(path.segments) };
      expect(paths.find(one)).toEqual(fresh);
      expect(paths.find(one)).toEqual(fresh);
    }),
  );
});

test('more targets than are remembered, each with its own parameters', () => {
  const paths = new FoundPaths(table());
  for (let round = 0; round < 2; round += 1) {
    for (let n = 0; n < 2_500; n += 1) expect(paths.find(`/v1/keys/k${n}/sign`).match?.params).toEqual({ name: `k${n}` });
  }
});
