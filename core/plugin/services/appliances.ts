// The appliances that share the store, for plugins that ask something of each of them.
import { defineService } from '../service.ts';

/** Provided by the appliance. */
export const appliancesService = defineService<Appliances>('appliances');

/** `isIn`: it may answer at this moment. */
export type ApplianceSeen = { readonly id: string; readonly name: string; readonly isIn: boolean };

export type Appliances = {
  /** Every one that was not removed, by name; none for one that stands alone. Rejects with `cluster-unavailable`. */
  list(): Promise<readonly ApplianceSeen[]>;
};
