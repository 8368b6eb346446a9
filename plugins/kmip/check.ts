// Invariants of the records, walked by the platform's check.
import type { CheckFinding } from '../../core/base/context.ts';
import { placesOf } from './clients/places.ts';
import type { Kmip } from './context.ts';
import { hasMaterial } from './records/object-record.ts';
import { keysOf } from './objects/attribute-index.ts';
import { isDestroyed, stateAt } from './objects/states.ts';

/** Finds clients without places and places without clients, and objects whose material, index or space does not fit them. */
export function* checkKmip(kmip: Kmip): Generator<CheckFinding> {
  yield* checkClients(kmip);
  yield* checkObjects(kmip);
}

function* checkClients({ tables }: Kmip): Generator<CheckFinding> {
  for (const [[tenantId, name], record] of tables.clients.entries([])) {
    const where = `clients ${String(tenantId)}/${String(name)}`;
    if (!tables.spaces.has([String(tenantId), record.space])) yield { where, problem: 'its space does not exist' };
    for (const place of placesOf(record))
      if (!tables.clientPlaces.has([...place, String(tenantId), String(name)]))
        yield { where, problem: 'it is not found by its certificate' };
  }
  for (const key of tables.clientPlaces.keys([])) {
    const [kind, value, tenantId, name] = key.map(String);
    const record = tables.clients.get([tenantId ?? '', name ?? '']);
    if (record === undefined || !placesOf(record).some((place) => place[0] === kind && place[1] === value))
      yield { where: `client-places ${key.join('/')}`, problem: 'no client has this certificate' };
  }
}

function* checkObjects({ tables, clock }: Kmip): Generator<CheckFinding> {
  const now = Math.floor(clock.now().epochMilliseconds / 1_000);
  const spaces = new Map(Array.from(tables.spaces.entries([]), ([key, record]) => [`${String(key[0])}/${record.id}`, record]));
  for (const [[tenant, spaceId, object], record] of tables.objects.entries([], { uncached: true })) {
    const [tenantId, id] = [String(tenant), String(object)];
    const where = `objects ${tenantId}/${String(spaceId)}/${id}`;
    const space = spaces.get(`${tenantId}/${String(spaceId)}`);
    if (space === undefined) {
      yield { where, problem: 'its space does not exist' };
      continue;
    }
    const isGone = isDestroyed(stateAt(record, now));
    if (tables.materials.has([tenantId, space.id, id]) === (isGone || !hasMaterial(record)))
      yield { where, problem: isGone ? 'it is destroyed and has material' : 'its material is missing, or it should have none' };
    for (const key of isGone ? [] : keysOf({ tenantId, space, id }, record.attributes).values())
      if (!tables.attributes.has(key)) yield { where, problem: 'it is not found by an attribute' };
  }
  for (const key of tables.materials.keys([]))
    if (!tables.objects.has(key)) yield { where: `materials ${key.join('/')}`, problem: 'it is of no object' };
  for (const key of tables.attributes.keys([])) {
    const [tenantId, spaceId, , id] = key.map(String);
    if (!tables.objects.has([tenantId ?? '', spaceId ?? '', id ?? '']))
      yield { where: `attributes ${key.join('/')}`, problem: 'it is of no object' };
  }
}
