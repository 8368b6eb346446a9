// Every field of every request that may be left out or empty has that as a value, which the rules of policies about values judge.
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { requireAllowedValues } from '../../core/access/policy/constraints.ts';
import type { AnyEndpoint } from '../../core/http/endpoint.ts';
import { constrainedShapeOf } from '../../core/http/routes.ts';
import { shapeOf, toKebab, type Shape } from '../../core/wire/schema.ts';
import { startWholeAppliance } from '../appliance/cli/whole-appliance.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const at = temporaryDirectory();
const appliance = await startWholeAppliance(at());
const { routes } = appliance.app;
afterAll(() => appliance.close());

const byName = new Map(routes.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint]));

/** As the checks have it; of a resource, of the document that a change makes. */
function judgedShapeOf(endpoint: AnyEndpoint): Shape | undefined {
  return (
    constrainedShapeOf(endpoint, byName) ?? (endpoint.documented?.input === undefined ? undefined : shapeOf(endpoint.documented.input))
  );
}

type Leaf = { readonly path: string; readonly schema: z.ZodType };

/** The fields without fields of their own, in wire form. */
function leavesOf(schema: z.ZodType, path: readonly string[] = []): readonly Leaf[] {
  const wire = path.map(toKebab).join('/');
  if (schema instanceof z.ZodObject)
    return Object.entries<z.ZodType>(schema.shape).flatMap(([name, one]) => leavesOf(one, [...path, name]));
  if (schema instanceof z.ZodArray && !(schema.element instanceof z.ZodObject)) return [{ path: wire, schema }];
  const inner = insideOf(schema);
  return inner === undefined ? [{ path: wire, schema }] : leavesOf(inner, path);
}

function insideOf(schema: z.ZodType): z.ZodType | undefined {
  if (schema instanceof z.ZodArray) return schema.element as z.ZodType;
  if (schema instanceof z.ZodPipe) return schema.in as z.ZodType;
  return 'unwrap' in schema && typeof schema.unwrap === 'function' ? (schema.unwrap() as z.ZodType) : undefined;
}

const written = routes.filter(
  (endpoint) => endpoint.access === 'token' && endpoint.undescribed !== true && judgedShapeOf(endpoint) !== undefined,
);
const named = written.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const);

/** Whether a rule that lists another value of a field lets a document pass. */
function passes(endpoint: AnyEndpoint, document: unknown, field: string): boolean {
  const rule = { path: '/**', operations: {}, allowedValues: { [field]: ['none of its values'] }, hideFields: [] };
  try {
    requireAllowedValues([[rule]], document, judgedShapeOf(endpoint));
    return true;
  } catch {
    return false;
  }
}

/** Lists that say nothing when they are empty: nothing is given, asked for or allowed by them. */
const nothingWhenEmpty = [
  'policies',
  'token-policies',
  'oidc-scopes',
  'est/allowed-domains',
  'est/allowed-uris',
  'est/allowed-emails',
  'est/allowed-other-names',
  'openpgp-key-usage',
  'openpgp-user-ids',
  'openpgp-revoked-user-ids',
  'notations',
  'scep/allow-old',
  'cmp/allow-old',
  'cmp/ra-certs',
  'acme/challenges',
  'names',
  'disabled-versions',
];

describe.each(named)('%s', (_, endpoint) => {
  const leaves = leavesOf((endpoint.documented?.input ?? endpoint.input) as z.ZodType).filter(
    ({ path }) => !path.startsWith('batch-input'),
  );

  test('no field is left out past a rule about its values', () => {
    expect(leaves.map(({ path }) => path).filter((path) => passes(endpoint, {}, path) && !nothingWhenEmpty.includes(path))).toEqual([]);
  });

  test('no list is empty past a rule about its values, unless that gives nothing', () => {
    const lists = leaves.filter(({ schema }) => schema instanceof z.ZodArray).map(({ path }) => path);
    const empty = (path: string): unknown =>
      path
        .split('/')
        .reduceRight<unknown>((inner, name) => ({ [name]: ['rules', 'distinct-groups'].includes(name) ? [inner] : inner }), []);
    expect(lists.filter((path) => passes(endpoint, empty(path), path) && !nothingWhenEmpty.includes(path))).toEqual([]);
  });
});

/** Choices whose default hangs on other fields, or on the entry in the path; the document that is judged has it. */
const completed = ['kind', 'custody', 'use', 'kdf', 'cert-key-type', 'cert-key-curve', 'cert-key-bits', 'for-cmp'];
/** Choices that may be made by nobody: the provider says how the secret is sent, MGF1 has the hash of its scheme, and an OpenPGP key has one. */
const open = ['token-endpoint-auth-method', 'mgf1-hash', 'hash-algorithm'];

test('a choice that may be left out says which one that is, in a word that rules can list', () => {
  const silent = written.flatMap((endpoint) => {
    const schema = (endpoint.documented?.input ?? endpoint.input) as z.ZodType;
    const isChoice = ({ schema: one }: Leaf): boolean =>
      one instanceof z.ZodEnum || one instanceof z.ZodBoolean || one instanceof z.ZodLiteral;
    const choices = leavesOf(schema).filter((leaf) => isChoice(leaf) && !leaf.path.startsWith('batch-input'));
    return choices.filter(({ path }) => isNullWhenLeftOut(endpoint, path)).map(({ path }) => path);
  });
  const ofRules = (path: string): boolean => path.startsWith('rest-api/rules/operations/');
  const required = (path: string): boolean => ['operation', 'questions/operation', 'reason'].includes(path);
  expect([...new Set(silent)].filter((path) => !ofRules(path) && !required(path) && ![...completed, ...open].includes(path))).toEqual([]);
});

function isNullWhenLeftOut(endpoint: AnyEndpoint, field: string): boolean {
  const rule = { path: '/**', operations: {}, allowedValues: { [field]: [null] }, hideFields: [] };
  const [container] = field.includes('/') ? [field.split('/').slice(0, -1)] : [[]];
  const document = container.reduceRight<unknown>((inner, name) => ({ [name]: inner }), {});
  try {
    requireAllowedValues([[rule]], document, judgedShapeOf(endpoint));
    return true;
  } catch {
    return false;
  }
}
