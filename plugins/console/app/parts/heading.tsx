// The heading of a page: it sets the title, and takes the focus when the person came here inside the application.
import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { parentOf } from '../address/path.ts';
import { nameOf, type Catalog, type Entry } from '../description/catalog.ts';
import { hrefOf } from '../address/router.ts';
import { visible } from './visible.ts';

/** The first page is announced by the browser itself. */
let isFirst = true;

export type HeadingProps = {
  readonly title: string;
  /** path of the page; the last level is the page itself */
  readonly path: string;
  /** says which levels above there are; the overview has none */
  readonly catalog?: Catalog;
  readonly children?: ComponentChildren;
};

export function Heading({ title, path, catalog, children }: HeadingProps): ComponentChildren {
  const heading = useRef<HTMLHeadingElement>(null);
  const shown = visible(title);
  useEffect(() => {
    document.title = `${shown} · keystored`;
    if (!isFirst) heading.current?.focus();
    isFirst = false;
  }, [shown, path]);
  return (
    <header class="page-head">
      {catalog !== undefined && <Trail path={path} catalog={catalog} />}
      <h1 tabIndex={-1} ref={heading}>
        <bdi>{shown}</bdi>
      </h1>
      {children}
    </header>
  );
}

/** The levels above that are pages, as links. */
function Trail({ path, catalog }: { readonly path: string; readonly catalog: Catalog }): ComponentChildren {
  const above: string[] = [];
  for (let one = parentOf(path); one !== ''; one = parentOf(one)) if (catalog.at(one) !== undefined) above.unshift(one);
  return (
    <nav aria-label="Above this page" class="trail">
      <a href={hrefOf('')}>Overview</a>
      {above.map((one) => (
        <a key={one} href={hrefOf(one)}>
          {trailNameOf(one.slice(one.lastIndexOf('/') + 1), catalog.at(one)?.entries[0])}
        </a>
      ))}
    </nav>
  );
}

/** Names of entries as they are, what the API has as the navigation calls it. */
function trailNameOf(segment: string, entry: Entry | undefined): string {
  return entry === undefined || entry.path.endsWith('}') ? visible(decodeURIComponent(segment)) : nameOf(entry);
}

/** The button that loads again what a page shows. */
export function Refresh({ turn }: { readonly turn: Signal<number> }): ComponentChildren {
  return (
    <button type="button" onClick={() => (turn.value += 1)}>
      Refresh
    </button>
  );
}
