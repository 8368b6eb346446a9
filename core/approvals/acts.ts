// Acts: what a request does to the protection of keys, whatever endpoint or field it uses.

/** Acts that rules of approvals may name. */
export const acts = ['take-keys-out', 'bring-keys-in', 'destroy', 'change-trust', 'stop'] as const;

/**
 * `take-keys-out`: key material, or what opens it, leaves the appliance, or may from now on. `bring-keys-in`: material of others comes under a name.
 * `destroy`: material, or the use of it, ends for good, now or by a timer. `change-trust`: who may log in, who may do what, and who watches.
 * `stop`: the appliance stops serving.
 */
export type Act = (typeof acts)[number];
