// Compares an answer with what it must have: later versions of the appliance may add fields, and none may go or change.

/** Whether a value has everything of another one; lists are equally long. */
export function holds(value: unknown, given: unknown): boolean {
  if (Array.isArray(given))
    return Array.isArray(value) && value.length === given.length && given.every((item, index) => holds(value[index], item));
  if (typeof given !== 'object' || given === null) return value === given;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(given).every(([field, one]) => holds((value as Readonly<Record<string, unknown>>)[field], one));
}
