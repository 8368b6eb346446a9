// Uses of a key that an application may get, in words, and what each does in programs.

export type Use = { readonly action: string; readonly label: string; readonly isUsual: boolean };

export const uses: readonly Use[] = [
  { action: 'encrypt', label: 'encrypt', isUsual: true },
  { action: 'decrypt', label: 'decrypt', isUsual: true },
  { action: 'rewrap', label: 'move values to the newest version', isUsual: false },
  { action: 'generate-data-key', label: 'make data keys, for files and streams', isUsual: false },
  { action: 'sign', label: 'sign', isUsual: true },
  { action: 'verify', label: 'check signatures', isUsual: true },
  { action: 'hmac', label: 'make HMACs', isUsual: false },
  { action: 'cmac', label: 'make CMACs', isUsual: true },
  { action: 'encapsulate', label: 'encapsulate secrets', isUsual: false },
  { action: 'decapsulate', label: 'get the secrets that others have encapsulated', isUsual: false },
  { action: 'openpgp-sign', label: 'sign as OpenPGP', isUsual: false },
  { action: 'openpgp-verify', label: 'check OpenPGP signatures', isUsual: false },
];

/** The usual uses among those that a key can do. Keys that encrypt check HMACs too, which few programs want. */
export function usualOf(possible: readonly Use[]): readonly string[] {
  const encrypts = possible.some(({ action }) => action === 'encrypt');
  return possible.filter(({ action, isUsual }) => isUsual && !(encrypts && action === 'verify')).map(({ action }) => action);
}

const keys = '/v1/state/keystore/transit-keys';

type Rule = { readonly path: string; readonly operations: { readonly execute: 'allow' } };

/** Rules that allow these uses of one key, and nothing else. */
export function rulesFor(key: string, actions: readonly string[]): readonly Rule[] {
  const path = `${keys}/${encodeURIComponent(key)}`;
  return actions.map((action) => ({ path: `${path}/${action}`, operations: { execute: 'allow' } }));
}
