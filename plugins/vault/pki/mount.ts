// A path at which certificates are issued: a role there is a CA of the tenant, with its identity policy.
import { fail } from '../../../core/base/errors.ts';
import { isName } from '../../../core/wire/fields.ts';
import type { Asked } from '../../../core/http/alias.ts';

/** `path`: below `/v1/`. `tenant`: whose tokens alone may use it; `ca`: that of paths that name none. */
export type PkiMount = { readonly path: string; readonly tenant?: string | undefined; readonly ca?: string | undefined };

/** Path of a CA in our API. */
export const caPath = '/v1/state/keystore/tls/ca/{name}';

/**
 * The CA that a request names, by its role or its issuer: a CA has one identity policy, so that both are the same. Throws
 * `invalid-value`.
 */
export function namedCa(mount: PkiMount, { role, issuer: given }: Asked['params']): { readonly name: string } {
  const issuer = given === 'default' ? undefined : given;
  const name = issuer ?? role ?? mount.ca;
  if (name === undefined)
    throw fail('invalid-value', {
      detail: `no default issuer: name a CA in the path, or set vault/pki-mounts/${mount.path}/ca in the configuration.`,
    });
  if (role !== undefined && role !== name)
    throw fail('invalid-value', { detail: 'unknown role: the role of an issuer is the CA itself. Name the CA in both places.' });
  if (!isName(name))
    throw fail('invalid-value', { detail: 'unknown role: a role is a CA, whose name has small letters, digits and hyphens inside.' });
  return { name };
}

/** Serial number as Vault writes it. */
export function pairsOf(serial: string): string {
  return (serial.match(/../g) ?? []).join(':');
}

/** Serial number of a request, in our form; undefined for any other text. */
export function serialOf(text: string): string | undefined {
  const digits = text.trim().replaceAll(/[:-]/g, '').toLowerCase();
  return /^(?:[0-9a-f]{2}){1,20}$/.test(digits) ? digits : undefined;
}
