// The drawn views: what a picture says better than a table, shown above the fields of one path.
import type { FunctionComponent } from 'preact';
import type { Catalog, Place } from '../description/catalog.ts';

export type DrawnProps = { readonly catalog: Catalog; readonly place: Place; readonly path: string };

/** By the template of a path as in the description. The first that fits is shown. */
export const drawnViews: readonly { readonly template: string; readonly view: FunctionComponent<DrawnProps> }[] = [];
