// YAML nested too deeply for the library, which recurses for each level until the stack overflows.

/** Message that follows the name of the file. */
export const nestedTooDeep = 'cannot be read: its fields are nested too deep';

/** Tells whether nesting caused a fault: the library throws a RangeError, or reports one of its own errors. */
export function isNestedTooDeep(fault: unknown): boolean {
  return fault instanceof RangeError || (fault instanceof Error && 'code' in fault && fault.code === 'RESOURCE_EXHAUSTION');
}
