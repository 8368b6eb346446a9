// Every field that an endpoint names for the trail is in the records of its requests, as it was sent.
import { generateKeyPairSync, hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AnyEndpoint } from '../../core/http/endpoint.ts';
import { toKebab } from '../../core/wire/schema.ts';
import { startWholeAppliance } from '../appliance/cli/whole-appliance.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { exampleFields, existingPath, type Fields } from './example-bodies.ts';
import { examples } from './matrix-examples.ts';

const at = temporaryDirectory();
const appliance = await startWholeAppliance(at());
const { routes } = appliance.app;
afterAll(() => appliance.close());

beforeAll(async () => {
  for (const { list, name, document } of examples) await appliance.request('POST', list, { name, ...document });
});

/** The newest record of a path. */
function recordOf(path: string): Fields | undefined {
  const directory = join(appliance.directory, 'audit');
  const lines = readdirSync(directory)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(directory, name), 'utf8').split('\n'));
  const found = lines.findLast((line) => line.includes(`"path":"${path}"`));
  return found === undefined ? undefined : (JSON.parse(found) as Fields);
}

/** Ends what the next request needs. */
const destructive = new Set(['/v1/state/keystore/token/disable', '/v1/state/system/power']);
/** Are read once there is an entry, which only a request of two people makes: test/core/approvals looks at their records. */
const ofTwoPeople = new Set(['/v1/state/approvals/{id}/approve', '/v1/state/approvals/{id}/reject']);
/** Their entries are made by clients of KMIP alone: test/plugins/kmip looks at their records. */
const ofClients = new Set(['/v1/state/keystore/kmip-spaces/{space}/objects/{id}/revoke']);
const recording = routes.filter(
  ({ path, auditFields = [], audit, consumes }) =>
    auditFields.length > 0 &&
    audit !== 'none' &&
    consumes === undefined &&
    ![destructive, ofTwoPeople, ofClients].some((paths) => paths.has(path)),
);

const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 3072 });
/** Values in place of examples that are cut short. */
const whole: Readonly<Record<string, Fields>> = {
  '/v1/state/system/cluster/admit-token': {
    transport: {
      id: 'ab'.repeat(16),
      'public-key': publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
      hashes: ['sha256'],
      types: [],
      present: [],
    },
  },
};

/** One value of each field, and the fields without which no request is read. */
function bodiesOf(endpoint: AnyEndpoint): readonly { readonly field: string; readonly body: Fields }[] {
  const { least, each } = exampleFields(endpoint);
  return (endpoint.auditFields ?? []).map((camel) => {
    const field = toKebab(camel);
    return { field, body: { ...least, [field]: each[field], ...whole[endpoint.path] } };
  });
}

/** Size of a secret, whose octets may be sent in base64. */
const size: unknown = { bytes: expect.any(Number) };

/** As a record has it; the PEM blocks of the examples are not real ones. */
function recorded(value: unknown, isSecret: boolean): unknown {
  if (isSecret) return Array.isArray(value) ? { items: value.length } : size;
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, recorded(one, false)]));
  if (typeof value !== 'string' || (value.length <= 256 && !value.includes('-----BEGIN'))) return value;
  return { bytes: Buffer.byteLength(value), sha256: hash('sha256', value) };
}

test.each(recording.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const))('%s', async (_, endpoint) => {
  for (const { field, body } of bodiesOf(endpoint)) {
    expect(body[field], `an example of ${field}`).toBeDefined();
    const path = existingPath(endpoint);
    const answer = await appliance.request(endpoint.method, path, body);
    const parameters = recordOf(path)?.['request-parameters'] as Fields | undefined;
    const isSecret = (endpoint.secretInput ?? []).some((camel) => toKebab(camel) === field);
    expect(parameters?.[field], `${field} of ${JSON.stringify(body)}, answered ${answer.status} ${JSON.stringify(answer.body)}`).toEqual(
      recorded(body[field], isSecret),
    );
  }
});
