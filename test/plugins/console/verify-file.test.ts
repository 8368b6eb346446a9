// Signatures of files as the console judges them: what one version of a key cannot say is left to the others, and never passes for a verdict.
import { afterEach, expect, test, vi } from 'vitest';
import { VersionsHidden, verifyFile } from '../../../plugins/console/app/views/files/signatures.ts';
import { hasRules, policyNameOf } from '../../../plugins/console/app/views/giving/steps.ts';
import { rulesFor } from '../../../plugins/console/app/views/giving/uses.ts';

afterEach(() => vi.unstubAllGlobals());

const version = { status: 'active', created: '2026-01-01T00:00:00Z' } as const;
const state = { name: 'releases', cipher: 'ed25519', actions: ['sign', 'verify'], versions: { 1: version, 2: version } };
const work = { tell: () => undefined, signal: new AbortController().signal };
const [file, signature] = [new File(['text'], 'a.txt'), new File(['octets'], 'a.txt.sig')];

/** Answers of the appliance by version of the key. */
function answer(by: (version: number) => { readonly status: number; readonly body: object }): void {
  vi.stubGlobal('fetch', (_: string, { body }: { readonly body: string }) => {
    const { signature: asked } = JSON.parse(body) as { readonly signature: string };
    const said = by(Number(/^store:v(\d+):/.exec(asked)?.[1]));
    return Promise.resolve(Response.json(said.body, { status: said.status }));
  });
}
const disabled = { status: 409, body: { title: 'Key disabled', code: 'key-disabled' } };

test('a signature by an older version is valid, though the newest is disabled', async () => {
  answer((asked) => (asked === 2 ? disabled : { status: 200, body: { valid: true, 'key-version': 1 } }));
  await expect(verifyFile(state, file, signature, work)).resolves.toEqual({ isValid: true, version: 1 });
});

test('a signature that a disabled version may have made is not said to be wrong', async () => {
  answer((asked) => (asked === 2 ? disabled : { status: 200, body: { valid: false } }));
  await expect(verifyFile(state, file, signature, work)).rejects.toMatchObject({ code: 'key-disabled' });
});

test('a signature of a key whose versions may not be seen is not judged', async () => {
  const { versions: _, ...hidden } = state;
  await expect(verifyFile(hidden, file, signature, work)).rejects.toThrow(VersionsHidden);
});

test('a policy is that of a wish if it allows these uses of this key, and nothing else', () => {
  const wish = { key: 'c', actions: ['encrypt', 'decrypt'] };
  const policyOf = (rules: readonly object[]) => ({ 'rest-api': { rules } });
  expect(hasRules(policyOf(rulesFor('c', ['decrypt', 'encrypt'])), wish)).toBe(true);
  for (const rules of [rulesFor('c', ['encrypt']), rulesFor('b-c', wish.actions), [...rulesFor('c', wish.actions), { path: '/v1/**' }]])
    expect(hasRules(policyOf(rules), wish)).toBe(false);
  const limited = rulesFor('c', wish.actions).map((rule) => ({ ...rule, 'hide-fields': ['ciphertext'] }));
  expect(hasRules(policyOf(limited), wish)).toBe(false);
  expect(hasRules({}, wish)).toBe(false);
});

test('further policies of one name keep within the length of names, and apart', () => {
  const long = { application: 'a'.repeat(100), key: 'k'.repeat(100) };
  const names = [1, 2, 10].map((at) => policyNameOf(long, at));
  expect(new Set(names).size).toBe(3);
  for (const name of names) expect(name).toHaveLength(128);
});
