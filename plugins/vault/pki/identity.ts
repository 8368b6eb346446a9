// The names of a certificate whose key the service makes: those of the fields.
import { isIP } from 'node:net';
import { fail } from '../../../core/base/errors.ts';
import { escapeNameValue } from '../../../core/der/name-text.ts';
import type { JsonObject } from '../../../core/wire/json.ts';
import type { Fields } from '../fields.ts';

/** Host names and addresses of the common name count as alternative names, as there, unless the request says no. Throws `invalid-value`. */
export function identityOf(fields: Fields): JsonObject {
  const common = fields.word('common_name');
  const [named, addresses, uris] = ['alt_names', 'ip_sans', 'uri_sans'].map((name) => listOf(fields, name)) as [
    string[],
    string[],
    string[],
  ];
  if (listOf(fields, 'other_sans').length > 0)
    throw fail('invalid-value', { detail: '"other_sans" is not taken: a CA here certifies host names, addresses and URIs.' });
  const asName = common === undefined || fields.flag('exclude_cn_from_sans') === true ? [] : [common];
  const hosts = asName.filter((name) => isIP(name) === 0 && /^[A-Za-z0-9_.-]+$/.test(name) && name.includes('.'));
  return {
    ...(common === undefined ? {} : { subject: `CN=${escapeNameValue(common)}` }),
    ...listed('dns-names', [...hosts, ...named]),
    ...listed('ip-addresses', [...asName.filter((name) => isIP(name) > 0), ...addresses]),
    ...listed('uris', uris),
  };
}

function listOf(fields: Fields, name: string): readonly string[] {
  return (fields.texts(name) ?? []).map((one) => one.trim()).filter((one) => one !== '');
}

const listed = (name: string, values: readonly string[]): JsonObject => (values.length === 0 ? {} : { [name]: [...new Set(values)] });
