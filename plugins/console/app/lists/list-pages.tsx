// The pages of a list: how many entries there are, and the ways to the next page and back to the first.
import type { ComponentChildren } from 'preact';
import { address, hrefOf } from '../address/router.ts';
import { clockText } from '../times/times.ts';
import { locale } from '../language/language.ts';

/** Entries of a page. */
export const rowsOfPage = 100;

/** Beginnings of pages that were looked at here, with that of the page before each: cursors lead only on. */
const beginnings = new Map<string, string>();

/** A change of the filter is a new table, and read aloud as what became of it. */
export function ListCount({ count, headers }: { readonly count: number; readonly headers: Headers }): ComponentChildren {
  const total = Number(headers.get('total-count') ?? count);
  return (
    <p role="status" class="quiet">
      {count === total ? `${count.toLocaleString(locale)} in all` : `${count.toLocaleString(locale)} of ${total.toLocaleString(locale)}`},
      as of {clockText(Date.now())}
    </p>
  );
}

export function ListPages({ path, headers }: { readonly path: string; readonly headers: Headers }): ComponentChildren {
  const { query } = address.value;
  const next = /<([^>]+)>;\s*rel="?next"?/.exec(headers.get('link') ?? '')?.[1];
  const { after: _, ...others } = Object.fromEntries(query);
  const after = query.get('after') ?? '';
  const beginning = next === undefined ? undefined : (new URL(next, location.href).searchParams.get('after') ?? '');
  // While the next page loads, the answer is still that of the page before.
  if (beginning !== undefined && beginning !== after) beginnings.set(`${path} ${beginning}`, after);
  const before = beginnings.get(`${path} ${after}`);
  if (next === undefined && !query.has('after')) return null;
  return (
    <nav class="buttons" aria-label="Pages of the list">
      {query.has('after') && (
        <>
          <a class="button" href={hrefOf(path, others)}>
            First page
          </a>
          {before !== undefined && (
            <a class="button" href={hrefOf(path, before === '' ? others : { ...others, after: before })}>
              Previous {rowsOfPage}
            </a>
          )}
        </>
      )}
      {next !== undefined && (
        <a class="button" href={hrefOf(path, { ...others, after: beginning ?? '' })}>
          Next {rowsOfPage}
        </a>
      )}
    </nav>
  );
}

/** Text in place of the entries of an empty list. */
export function NoEntries({
  isFiltered,
  children,
}: {
  readonly isFiltered: boolean;
  readonly children?: ComponentChildren;
}): ComponentChildren {
  const isMadeHere = children !== undefined && children !== false;
  return (
    <div class="empty">
      <p role="status">{isFiltered ? 'Nothing here matches.' : isMadeHere ? 'There is nothing here yet.' : 'There is nothing here.'}</p>
      {!isFiltered && children}
    </div>
  );
}
