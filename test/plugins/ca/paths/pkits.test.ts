// The path validator against NIST PKITS (test/vectors/pkits): every case has the result of the suite, or is in the table of divergences.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { findPath } from '../../../../plugins/ca/issuing/chain.ts';

type Case = { readonly id: string; readonly name: string; readonly path: readonly string[]; readonly valid: boolean };

const { cases, certificates } = JSON.parse(readFileSync(new URL('../../../vectors/pkits/pkits.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly Case[];
  readonly certificates: Readonly<Record<string, string>>;
};

/** The certificates are valid from 2010 to 2030. */
const now = Temporal.Instant.from('2026-06-01T00:00:00Z');

type Divergence = { readonly reason: string; readonly ids: readonly string[] };

/** Paths of the suite that are refused here, and why. */
const refused: readonly Divergence[] = [
  { reason: 'keys of type DSA count on no path, and these sign with SHA-1', ids: ['4.1.4', '4.1.5'] },
  {
    reason: 'policies are not processed: critical policyConstraints, policyMappings and inhibitAnyPolicy are refused',
    ids: [
      ...['4.9.1', '4.9.2', '4.9.4', '4.9.6', '4.10.9', '4.10.11', '4.10.13 subpart 1', '4.10.14'],
      ...['4.11.2', '4.11.4', '4.11.7', '4.12.2', '4.12.3 subpart 1', '4.12.7', '4.12.9'],
    ],
  },
];

/** Paths that the suite refuses and that are valid here, and why. */
const accepted: readonly Divergence[] = [
  {
    reason: 'invalid by a CRL only: the revocations of this appliance are looked up in its records, those of other CAs are not read',
    ids: ['4.5.2', '4.5.5', '4.5.7', '4.7.4', '4.7.5'],
  },
  {
    reason: 'policies are not processed: policyConstraints here are not critical, which RFC 5280 4.2.1.11 forbids, and may be ignored',
    ids: ['4.8.4', '4.8.5', '4.8.7', '4.8.8', '4.8.9', '4.8.12'],
  },
];

const reasons = new Map([...refused, ...accepted].flatMap(({ reason, ids }) => ids.map((id) => [id, reason] as const)));

function isValid({ path }: Case): boolean {
  const [anchor, ...rest] = path.map((name) => new Uint8Array(Buffer.from(certificates[name] ?? '', 'base64')));
  const leaf = rest.pop();
  if (anchor === undefined || leaf === undefined) throw new Error('a path has an anchor and a leaf');
  return findPath(leaf, rest, [anchor], now) !== undefined;
}

const title = (one: Case): string => `${one.id} ${one.name}: ${one.valid ? 'valid' : 'invalid'}`;
const [same, diverging] = [cases.filter(({ id }) => !reasons.has(id)), cases.filter(({ id }) => reasons.has(id))];

describe('NIST PKITS', () => {
  test.each(same.map((one) => [title(one), one] as const))('%s', (_title, one) => {
    expect(isValid(one)).toBe(one.valid);
  });

  test.each(diverging.map((one) => [`${title(one)}; not here: ${reasons.get(one.id)}`, one] as const))('%s', (_title, one) => {
    expect(isValid(one)).toBe(!one.valid);
    expect(refused.some(({ ids }) => ids.includes(one.id))).toBe(one.valid);
  });

  test('the table of divergences names cases of the suite, each once', () => {
    const known = new Set(cases.map(({ id }) => id));
    const listed = [...refused, ...accepted].flatMap(({ ids }) => ids);
    expect(listed.filter((id) => !known.has(id))).toEqual([]);
    expect(new Set(listed).size).toBe(listed.length);
    expect(cases.length).toBe(148);
  });
});
