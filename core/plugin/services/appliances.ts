// Appliances that share the store, for plugins that send requests to each of them.
import { defineService } from '../service.ts';

/** Provided by the appliance. */
export const appliancesService = defineService<Appliances>('appliances');

/** An appliance. `isIn`: it may answer at this moment. */
export type ApplianceSeen = { readonly id: string; readonly name: string; readonly isIn: boolean };

export type Appliances = {
  /** Lists the appliances that were not removed, by name; empty for a single appliance. Rejects with `cluster-unavailable`. */
  list(): Promise<readonly ApplianceSeen[]>;
};
