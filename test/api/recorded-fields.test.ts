// What a request asks for is in its audit record: every field of its input by value or, for secrets and payloads, by size.
import { afterAll, expect, test } from 'vitest';
import { shapeOf } from '../../core/wire/schema.ts';
import { startWholeAppliance } from '../appliance/cli/whole-appliance.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const at = temporaryDirectory();
const appliance = await startWholeAppliance(at());
afterAll(() => appliance.close());

/** How texts are written, which their digests do not depend on. */
const spellings = new Set(['base64Encoded']);
/** Noted by the endpoint itself. */
const notedOtherwise = new Set(['wrappingKey']);

test('no operation that must be recorded leaves a field of its input out', () => {
  const described = appliance.app.routes.filter(
    ({ audit, undescribed, page }: { audit: string; undescribed?: true; page?: true }) =>
      audit === 'required' && undescribed !== true && page !== true,
  );
  const missing = described.flatMap((endpoint) => {
    const schema = endpoint.documented?.input ?? endpoint.input;
    // Resources and their batches record whole documents.
    if (schema === undefined || endpoint.documented?.resource !== undefined || endpoint.path.startsWith('/v1/config/')) return [];
    const shape = shapeOf(schema);
    const recorded = new Set<string>([...(endpoint.auditFields ?? []), ...(endpoint.secretInput ?? [])]);
    const fields = shape.kind === 'object' ? [...shape.byCamel.keys()] : [];
    return fields
      .filter((field) => !recorded.has(field) && !spellings.has(field) && !notedOtherwise.has(field))
      .map((field) => `${endpoint.method} ${endpoint.path}: ${field}`);
  });
  expect(described.length).toBeGreaterThan(50);
  expect(missing).toEqual([]);
});
