// YAML that is nested too deep for its library, which calls itself for each level until the stack ends.

/** To follow the name of the file. */
export const nestedTooDeep = 'cannot be read: its fields are nested too deep';

/** Whether that ended it: the library throws a RangeError, or has one of its own errors. */
export function isNestedTooDeep(fault: unknown): boolean {
  return fault instanceof RangeError || (fault instanceof Error && 'code' in fault && fault.code === 'RESOURCE_EXHAUSTION');
}
