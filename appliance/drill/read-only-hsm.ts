// The HSM of a drill: uses keys, and changes nothing in the token, which may be the one that the appliance is working with.
//
// An old store remembers keys that were being made or destroyed at its time. Acting on that could destroy a key that is in use today.
import { type Hsm, HsmError, type WrappingKeys } from '../../hsm/api.ts';

const changes = ['reserve', 'generate', 'importKey', 'destroy'] as const satisfies readonly (keyof Hsm)[];
const wrappingChanges = ['makeNext', 'destroy', 'rewrap'] as const satisfies readonly (keyof WrappingKeys)[];

/** The same tokens; operations that would change them are `refused`. */
export function readOnlyHsm(hsm: Hsm): Hsm {
  return refusing(hsm, changes, { wrappingKeys: refusing(hsm.wrappingKeys, wrappingChanges, {}) });
}

function refusing<T extends object>(target: T, names: readonly (keyof T)[], instead: Partial<T>): T {
  const refused = new Set<PropertyKey>(names);
  return new Proxy(target, {
    get(_target, name) {
      if (name in instead) return instead[name as keyof T];
      if (refused.has(name)) return () => Promise.reject(new HsmError('refused', 'a drill changes nothing in a token'));
      const value: unknown = target[name as keyof T];
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
