// Issuing: a certification request becomes a certificate of a CA, within its identity policy, or beyond it where policies allow that.
import { X509Certificate } from 'node:crypto';
import type { Caller } from '../../../core/access/caller.ts';
import { fail } from '../../../core/base/errors.ts';
import { formatDuration } from '../../../core/base/time.ts';
import type { Alias, Asked } from '../../../core/http/alias.ts';
import type { JsonObject } from '../../../core/wire/json.ts';
import { type Facade, writes } from '../facade.ts';
import { Fields } from '../fields.ts';
import { identityOf } from './identity.ts';
import { type IssuedDocument, issuedData, readWanted, type Wanted } from './formats.ts';
import { caPath, namedCa, type PkiMount } from './mount.ts';

/** Fields that are understood, and have no effect. */
const withoutEffect = ['role', 'issuer_ref', 'exclude_cn_from_sans', 'name'];

/** Requests of the body beside the certificate. */
type Noted = { readonly wanted: Wanted; readonly names: readonly string[] };

const noted = new WeakMap<Asked, Noted>();

export function issuingAliases(facade: Facade, mount: PkiMount): readonly Alias[] {
  const base = `/v1/${mount.path}`;
  const issues = (
    path: string,
    action: string,
    read: (fields: Fields, asked: Asked, caller: Caller | undefined) => JsonObject,
  ): readonly Alias[] =>
    facade.aliases({
      ...{ methods: writes, missing: 'authority', tenant: mount.tenant, path: `${base}/${path}`, of: `POST ${caPath}/${action}` },
      target: (asked) => ({ params: namedCa(mount, asked.params) }),
      input: (document, asked, caller) => readBody(facade, document, asked, (fields) => read(fields, asked, caller)),
      answer: ({ requestId, document }, asked) =>
        facade.enveloped(asked, requestId, { data: signedData(facade, asked, document as IssuedDocument) }),
    });
  const cut = (fields: Fields, asked: Asked, caller: Caller | undefined): JsonObject => {
    const { name } = namedCa(mount, asked.params);
    const longest = caller && facade.authorities.find(caller.tenantId, name)?.longestTtlSeconds;
    return shortened(facade, asked, fields.seconds('ttl'), longest);
  };
  const byRole = (fields: Fields, ...more: readonly [Asked, Caller | undefined]): JsonObject => ({
    csr: requestOf(fields),
    ...cut(fields, ...more),
    ...usagesOf(fields),
  });
  const made = (fields: Fields, ...more: readonly [Asked, Caller | undefined]): JsonObject => ({
    ...identityOf(fields),
    ...cut(fields, ...more),
    ...usagesOf(fields),
  });
  const verbatim = (fields: Fields): JsonObject => ({ csr: requestOf(fields), ...life(fields.seconds('ttl')), ...usagesOf(fields) });
  return [
    ...['sign/{role}', 'issuer/{issuer}/sign/{role}'].flatMap((path) => issues(path, 'sign-csr', byRole)),
    ...['issue/{role}', 'issuer/{issuer}/issue/{role}'].flatMap((path) => issues(path, 'issue', made)),
    ...['sign-verbatim', 'sign-verbatim/{role}', 'issuer/{issuer}/sign-verbatim', 'issuer/{issuer}/sign-verbatim/{role}'].flatMap((path) =>
      issues(path, 'sign-csr', verbatim),
    ),
  ];
}

/** Reads a body, and keeps what the answer needs of it. */
export function readBody(facade: Facade, document: JsonObject, asked: Asked, read: (fields: Fields) => JsonObject): JsonObject {
  const fields = new Fields(document, withoutEffect);
  requireKnownLimits(fields);
  const input = read(fields);
  const names = ['common_name', 'alt_names', 'ip_sans', 'uri_sans'].flatMap((name) => fields.texts(name) ?? []);
  noted.set(asked, { wanted: readWanted(fields), names: names.map((one) => one.trim()).filter((one) => one !== '') });
  facade.warnOfUnknown(asked, fields.unknown());
  return input;
}

/** Fields of limits that a certificate here does not have, and what to send in their place. */
const otherLimits: Readonly<Record<string, string>> = {
  not_after: 'send "ttl", from now to then',
  not_before: 'send the request when the certificate is to begin',
  ext_key_usage_oids: 'send "ext_key_usage" with ServerAuth, ClientAuth or both',
};

/** Without such a limit a certificate would live longer, or be for more, than was asked. Throws `invalid-value`. */
function requireKnownLimits(fields: Fields): void {
  for (const [name, advice] of Object.entries(otherLimits))
    if (fields.states(name)) throw fail('invalid-value', { detail: `"${name}" is not taken: ${advice}.` });
}

/** The certificate in the format of the request, with a warning for names that it does not have. */
export function signedData(facade: Facade, asked: Asked, issued: IssuedDocument, beginsWithItself = false): JsonObject {
  const { wanted = { format: 'pem', withoutRoots: false, isPkcs8: false }, names = [] } = noted.get(asked) ?? {};
  const missing = issued.certificate === undefined ? [] : absentFrom(issued.certificate, names);
  if (missing.length > 0)
    facade.warn(
      asked,
      `The certificate has the names of the certification request alone, not those of the fields: ${missing.slice(0, 5).join(', ')}.`,
    );
  return issuedData(issued, wanted, beginsWithItself);
}

function absentFrom(pem: string, names: readonly string[]): readonly string[] {
  const { subject, subjectAltName = '' } = new X509Certificate(pem);
  const present = new Set([
    ...subject.split('\n').map((one) => one.slice(one.indexOf('=') + 1)),
    ...subjectAltName.split(', ').map((one) => one.slice(one.indexOf(':') + 1)),
  ]);
  return names.filter((name) => !present.has(name));
}

/** The certification request, PEM. Throws `missing-field`. */
export function requestOf(fields: Fields): string {
  const csr = fields.text('csr') ?? '';
  if (csr.trim() === '')
    throw fail('missing-field', {
      detail: 'csr contains no data: send a certification request in PEM.',
      items: [{ message: 'is required', info: 'csr' }],
    });
  return csr;
}

export const life = (seconds: number | undefined): JsonObject =>
  seconds === undefined || seconds === 0 ? {} : { ttl: formatDuration(seconds) };

/** A life beyond that of the role is cut, as there. */
function shortened(facade: Facade, asked: Asked, seconds: number | undefined, longest: number | undefined): JsonObject {
  if (seconds === undefined || longest === undefined || seconds <= longest) return life(seconds);
  facade.warn(asked, `TTL of "${seconds}s" is longer than permitted maxTTL of "${longest}s", so maxTTL is being used.`);
  return {};
}

const usages: Readonly<Record<string, string>> = { serverauth: 'server-auth', clientauth: 'client-auth' };

/** Purposes by the names that Go gives them; without any, all that a CA here certifies. */
function usagesOf(fields: Fields): JsonObject {
  const wanted = (fields.texts('ext_key_usage') ?? []).filter((name) => name.trim() !== '');
  if (wanted.length === 0) return {};
  const known = wanted.map(
    (name) =>
      usages[
        name
          .trim()
          .toLowerCase()
          .replace(/^extkeyusage/, '')
      ],
  );
  if (known.every((one) => one !== undefined)) return { usages: [...new Set(known)] };
  throw fail('invalid-value', { detail: 'ext_key_usage must be ServerAuth, ClientAuth or both: a CA here certifies for nothing else.' });
}
