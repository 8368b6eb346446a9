// Properties of a drawn view: the description, the subject of its address, and the address.
import type { Catalog, Place } from '../description/catalog.ts';

export type DrawnProps = {
  readonly catalog: Catalog;
  readonly place: Place;
  readonly path: string;
  /** another number each time the person asks for fresh values */
  readonly turn: number;
};
