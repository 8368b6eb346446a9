// Templates (KMIP 1.2 section 2.2.6, given up by 2.0): objects of attributes alone, which new objects take over by the name of the template.
import { fail as coreFail } from '../../../core/base/errors.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import type { Kmip } from '../context.ts';
import type { ObjectRecord } from '../records/object-record.ts';
import type { Attribute } from '../records/object-values.ts';
import { attributesOfNew, withSet } from '../objects/attributes.ts';
import { drawId } from '../objects/ids.ts';
import { locate } from '../objects/locate.ts';
import { named, type Place, putNew, secondsOf } from '../objects/make.ts';

/** Most templates that a request names. */
export const mostTemplates = 4;

export async function registerTemplate(kmip: Kmip, place: Place, given: readonly Attribute[], now: Temporal.Instant): Promise<string> {
  const date = { type: 'date', value: secondsOf(now) } as const;
  const attributes = withSet(attributesOfNew(given), [
    { name: 'Initial Date', value: date },
    { name: 'Last Change Date', value: date },
  ]);
  const record: ObjectRecord = {
    ...{ objectType: 'template', created: formatTimestamp(now), attributes },
    ...(place.client === undefined ? {} : { client: place.client }),
  };
  const id = await drawId(kmip);
  await kmip.store.write((transaction) => putNew(kmip, transaction, place, id, record));
  return id;
}

/** Names of attributes that belong to the template itself. */
const own: ReadonlySet<string> = new Set(['Name', 'Initial Date', 'Last Change Date']);
const template = { name: 'Object Type', value: { type: 'enumeration', value: 6 } } as const;

/** Attributes that are given, with those of templates that none of them replaces. Throws `not-found` for a template that is not there. */
export async function withTemplates(
  kmip: Kmip,
  place: Place,
  names: readonly string[],
  given: readonly Attribute[],
  now: Temporal.Instant,
): Promise<readonly Attribute[]> {
  const attributes = [...given];
  for (const name of names) {
    const { ids } = await locate(kmip, place, { attributes: [named(name), template], maximumItems: 1 }, secondsOf(now));
    const record = ids[0] === undefined ? undefined : kmip.tables.objects.get([place.tenantId, place.space.id, ids[0]]);
    if (record === undefined) throw coreFail('not-found', { detail: 'There is no such template in this space.' });
    const stated = new Set(attributes.map((one) => one.name));
    for (const { name: other, value } of record.attributes)
      if (!own.has(other) && !stated.has(other)) attributes.push({ name: other, value });
  }
  return attributes;
}
