// Fields whose change has the effect of an action at the key: a caller without the right to the action may not set them.
import { isDeepStrictEqual } from 'node:util';
import type { Authorized } from '../../../core/access/access-control.ts';
import type { FieldRight } from '../../../core/http/endpoint.ts';
import { toKebab } from '../../../core/wire/schema.ts';
import type { Transit } from '../context.ts';
import type { KeyRecord } from '../records/records.ts';

/** A timer rotates. */
const own = [['autoRotate', 'rotate']] as const;

/** Rights to the fields, for policy/check. */
export function actingFieldRights({ attachments }: Transit): readonly FieldRight[] {
  return [...own, ...attachments.acting].map(([field, action]) => ({
    ...{ field: toKebab(field), operation: 'execute' },
    path: `/v1/state/keystore/transit-keys/{name}/${action}`,
  }));
}

/**
 * Throws policy-denied for a field that a change of the key gives another value without the right to its action. `isGuess`: the caller cannot read the
 * present value, which the refusal of any other would tell.
 */
export function requireActions(
  { attachments }: Transit,
  access: Authorized,
  name: string,
  wanted: object,
  current: KeyRecord,
  isGuess: (field: string) => boolean = () => false,
): void {
  const after: Readonly<Record<string, unknown>> = { ...wanted };
  const before: Readonly<Record<string, unknown>> = { ...current, ...attachments.fieldsIn(current) };
  for (const [field, action] of [...own, ...attachments.acting]) {
    // The refusal tells that the field is there, which blocks of the key tell everybody.
    if (after[field] === undefined && (before[field] === undefined || !attachments.actingWhenRemoved.includes(field))) continue;
    if (isDeepStrictEqual(after[field], before[field]) && !isGuess(field)) continue;
    access.requireAt(['v1', 'state', 'keystore', 'transit-keys', name, action], 'execute');
  }
}
