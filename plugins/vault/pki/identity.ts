// The names of a certificate whose key the service makes: those of the fields.
import { isIP } from 'node:net';
import { fail } from '../../../core/base/errors.ts';
import { escapeNameValue } from '../../../core/der/name-text.ts';
import type { JsonObject } from '../../../core/wire/json.ts';
import type { Fields } from '../fields.ts';

/**
 * Host names, addresses and mail addresses of the common name count as alternative names, as there, unless the request says no; and mail addresses stand among
 * the `alt_names`. Throws `invalid-value`.
 */
export function identityOf(fields: Fields): JsonObject {
  const common = fields.word('common_name');
  const [named, addresses, uris] = ['alt_names', 'ip_sans', 'uri_sans'].map((name) => listOf(fields, name)) as [
    string[],
    string[],
    string[],
  ];
  const asName = common === undefined || fields.flag('exclude_cn_from_sans') === true ? [] : [common];
  const hosts = asName.filter((name) => isIP(name) === 0 && /^[A-Za-z0-9_.-]+$/.test(name) && name.includes('.'));
  return {
    ...(common === undefined ? {} : { subject: `CN=${escapeNameValue(common)}` }),
    ...listed('dns-names', [...hosts, ...named.filter((name) => !isMail(name))]),
    ...listed('ip-addresses', [...asName.filter((name) => isIP(name) > 0), ...addresses]),
    ...listed('uris', uris),
    ...listed('emails', [...asName, ...named].filter(isMail)),
    ...listed('other-names', listOf(fields, 'other_sans').map(otherNameOf)),
  };
}

const isMail = (name: string): boolean => name.includes('@');

/** `OID;UTF8:value`, of whose type there are two spellings, in any case. Throws `invalid-value`. */
function otherNameOf(text: string): string {
  const [, type, value] = /^([0-9.]+);UTF-?8:(.+)$/iu.exec(text) ?? [];
  if (type === undefined || value === undefined)
    throw fail('invalid-value', {
      detail: '"other_sans" has names of the form OID;UTF8:value, as 1.3.6.1.4.1.311.20.2.3;UTF8:alice@example.com.',
    });
  return `${type};UTF8:${value}`;
}

function listOf(fields: Fields, name: string): readonly string[] {
  return (fields.texts(name) ?? []).map((one) => one.trim()).filter((one) => one !== '');
}

const listed = (name: string, values: readonly string[]): JsonObject => (values.length === 0 ? {} : { [name]: [...new Set(values)] });
