// The requests that a path about certificates stands for.
import { ServiceError } from '../../../core/base/errors.ts';
import { caPath, namedCa, type PkiMount, serialOf } from './mount.ts';

type Question = { readonly capability: string; readonly path: string; readonly operation: string };

/** `path`: below the mount. */
export function pkiQuestions(mount: PkiMount, path: string): readonly Question[] {
  const issuer = /^issuer\/([^/]+)\/(.*)$/.exec(path);
  const [action = '', one, ...more] = (issuer?.[2] ?? path).split('/');
  const named = issuer === null ? {} : { issuer: issuer[1] ?? '' };
  if (more.length > 0) return [];
  if (action === 'sign' && one !== undefined) return ask(mount, { ...named, role: one }, 'update', 'sign-csr', 'execute');
  if (action === 'issue' && one !== undefined) return ask(mount, { ...named, role: one }, 'update', 'issue', 'execute');
  if (action === 'sign-verbatim')
    return ask(mount, { ...named, ...(one === undefined ? {} : { role: one }) }, 'update', 'sign-csr', 'execute');
  if (issuer !== null && action === 'sign-intermediate' && one === undefined) return ask(mount, named, 'update', 'certify-ca', 'execute');
  if (issuer !== null) return [];
  if (action === 'root' && one === 'sign-intermediate') return ask(mount, {}, 'update', 'certify-ca', 'execute');
  if (action === 'revoke' && one === undefined) return ask(mount, {}, 'update', 'revoke', 'execute');
  if (action === 'certs' && one === undefined) return ask(mount, {}, 'list', 'certificates', 'read');
  const serial = action === 'cert' ? serialOf(one ?? '') : undefined;
  return serial === undefined ? [] : ask(mount, {}, 'read', `certificates/${serial}`, 'read');
}

/** Nothing for a path that names no CA. */
function ask(
  mount: PkiMount,
  named: Readonly<Record<string, string>>,
  capability: string,
  act: string,
  operation: string,
): readonly Question[] {
  try {
    return [{ capability, path: `${caPath.replace('{name}', namedCa(mount, named).name)}/${act}`, operation }];
  } catch (error) {
    if (error instanceof ServiceError) return [];
    throw error;
  }
}
