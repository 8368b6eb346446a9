// Intermediates: the key of another service becomes that of a CA below ours.
import { fail } from '../../../core/base/errors.ts';
import type { Alias } from '../../../core/http/alias.ts';
import type { JsonObject } from '../../../core/wire/json.ts';
import { type Facade, writes } from '../facade.ts';
import type { Fields } from '../fields.ts';
import type { IssuedDocument } from './formats.ts';
import { life, readBody, requestOf, signedData } from './issuing.ts';
import { caPath, namedCa, type PkiMount } from './mount.ts';

/** Constraints on names, by the field in our words. */
const constraints = {
  permitted_dns_domains: 'permitted-domains',
  excluded_dns_domains: 'excluded-domains',
  permitted_uri_domains: 'permitted-uri-hosts',
  permitted_ip_ranges: 'permitted-ip-ranges',
} as const;

/** Names of constraints, of which a CA here sets some: a CA without the others would certify what its administrator has excluded. */
const ofConstraint = /^(?:permitted|excluded)_/;

/** Parts of a subject: that of the request counts. */
const ofSubject = [
  'organization',
  'ou',
  'country',
  'locality',
  'province',
  'street_address',
  'postal_code',
  'serial_number',
  'use_csr_values',
];

export function intermediateAliases(facade: Facade, mount: PkiMount): readonly Alias[] {
  return ['root/sign-intermediate', 'issuer/{issuer}/sign-intermediate'].flatMap((path) =>
    facade.aliases({
      ...{
        methods: writes,
        missing: 'authority',
        tenant: mount.tenant,
        path: `/v1/${mount.path}/${path}`,
        of: `POST ${caPath}/certify-ca`,
      },
      target: (asked) => ({ params: namedCa(mount, asked.params) }),
      input: (document, asked) => readBody(facade, document, asked, readIntermediate),
      answer: ({ requestId, document }, asked) =>
        facade.enveloped(asked, requestId, { data: signedData(facade, asked, document as IssuedDocument, true) }),
    }),
  );
}

function readIntermediate(fields: Fields): JsonObject {
  const length = fields.integer('max_path_length');
  for (const name of ofSubject) fields.ignore(name);
  const limits = Object.entries(constraints).flatMap(([theirs, ours]) => {
    const names = (fields.texts(theirs) ?? []).map((one) => one.trim()).filter((one) => one !== '');
    return names.length === 0 ? [] : [[ours, names] as const];
  });
  for (const name of fields.unknown().filter((one) => ofConstraint.test(one)))
    if (fields.states(name))
      throw fail('invalid-value', {
        detail: `"${name.slice(0, 64)}" is not a constraint that a CA here sets: use ${Object.keys(constraints).join(', ')}.`,
      });
  return {
    csr: requestOf(fields),
    ...life(fields.seconds('ttl')),
    ...(length === undefined || length < 0 ? {} : { 'path-length': length }),
    ...Object.fromEntries(limits),
  };
}
