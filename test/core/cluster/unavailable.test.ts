// What a refusal of the cluster says to programs: Retry-After only where nothing was done.
import { expect, test } from 'vitest';
import { clusterUnavailable } from '../../../core/base/unavailable.ts';
import { problemHeaders } from '../../../core/http/response/problem.ts';

test.each([
  ['cut-off', true],
  ['unchanged', true],
  ['unknown', false],
  ['not-everywhere', false],
  ['late', false],
  ['The change is made. Some of what it ends is still open.', false],
])('%s: it may be repeated by anybody: %s, also when the text came from the follower', (reason, mayBeRepeated) => {
  const first = clusterUnavailable(reason);
  for (const error of [first, clusterUnavailable(first.message)]) {
    expect(error).toMatchObject({ status: 503, code: 'cluster-unavailable', message: first.message });
    expect(problemHeaders(error)['retry-after']).toBe(mayBeRepeated ? '2' : undefined);
  }
});
