// States of objects (KMIP 1.4 section 3.22): they follow from the dates, so that a date in the future changes the state by itself.
import type { ObjectState } from '../records/object-values.ts';
import type { ObjectRecord } from '../records/object-record.ts';

const dates = {
  activation: 'Activation Date',
  deactivation: 'Deactivation Date',
  compromise: 'Compromise Date',
  destroy: 'Destroy Date',
} as const;

/** The date of a record, in seconds since 1970; undefined without one. */
function dateOf({ attributes }: Pick<ObjectRecord, 'attributes'>, name: string): number | undefined {
  const value = attributes.find((attribute) => attribute.name === name)?.value;
  return value?.type === 'date' ? value.value : undefined;
}

/** The state at a time (seconds since 1970). An object that was never active is not deactivated by its date. */
export function stateAt(record: Pick<ObjectRecord, 'attributes'>, seconds: number): ObjectState {
  const isOver = (name: keyof typeof dates): boolean => (dateOf(record, dates[name]) ?? Infinity) <= seconds;
  if (isOver('destroy')) return isOver('compromise') ? 'destroyed-compromised' : 'destroyed';
  if (isOver('compromise')) return 'compromised';
  if (!isOver('activation')) return 'pre-active';
  return isOver('deactivation') ? 'deactivated' : 'active';
}

export function isDestroyed(state: ObjectState): boolean {
  return state === 'destroyed' || state === 'destroyed-compromised';
}
