// Page of an address: the description decides which it is, and whether it is drawn.
import type { ComponentChildren } from 'preact';
import { parentOf } from '../address/path.ts';
import { address, hrefOf } from '../address/router.ts';
import type { Catalog, Entry } from '../description/catalog.ts';
import { Heading } from '../parts/heading.tsx';
import { visible } from '../parts/visible.ts';
import { ActionView } from './action.tsx';
import { CreateView, DeleteView, EditView } from './change.tsx';
import { drawnAt } from './drawn.ts';
import { EntryView } from './entry.tsx';
import { ListView } from './list.tsx';
import { OverviewView } from './overview/overview.tsx';

export function Page({ catalog }: { readonly catalog: Catalog }): ComponentChildren {
  const { path, query } = address.value;
  if (path === '' || path === '/v1') return <OverviewView catalog={catalog} />;
  const place = catalog.at(path);
  if (place === undefined) return <NowherePage catalog={catalog} path={path} />;
  const { entries, names } = place;
  const tree = path.split('/')[2];
  const find = (verb: string): Entry | undefined => {
    const fitting = entries.filter(({ command }) => command.verb === verb);
    return fitting.find(({ command }) => command.tree === tree) ?? fitting[0];
  };
  const asked = query.get('do') ?? '';
  const [create, merge, remove, list, act] = [find('create'), find('merge'), find('delete'), find('list'), find('do')];
  const creates = asked === 'create' && create !== undefined;
  const edits = asked === 'edit' && merge !== undefined;
  const deletes = asked === 'delete' && remove !== undefined;
  const Drawn = drawnAt(place, asked === '' ? 'instead' : asked);
  // A page of its own for each address, so that nothing of one is left in the next.
  const key = `${asked} ${path}`;
  if (Drawn !== undefined) return <Drawn key={key} catalog={catalog} place={place} path={path} turn={0} />;
  if (creates) return <CreateView key={key} catalog={catalog} entry={create} names={names} />;
  if (edits) return <EditView key={key} catalog={catalog} entry={merge} names={names} />;
  if (deletes) return <DeleteView key={key} catalog={catalog} entry={remove} names={names} />;
  if (list !== undefined) return <ListView key={key} catalog={catalog} place={place} entry={list} create={create} />;
  if (act !== undefined) return <ActionView key={key} catalog={catalog} entry={act} names={names} />;
  return <EntryView key={key} catalog={catalog} place={place} path={path} />;
}

/** An unknown address says so, and offers the nearest one above it that there is. */
function NowherePage({ catalog, path }: { readonly catalog: Catalog; readonly path: string }): ComponentChildren {
  let above = parentOf(path);
  while (above.length > 0 && catalog.at(above) === undefined) above = parentOf(above);
  return (
    <>
      <Heading catalog={catalog} title="There is nothing at this address" path={path} />
      <section class="card">
        <p>
          <code>{visible(path)}</code> is not a path of this appliance’s API. It may be from another version.
        </p>
        <a class="button primary" href={hrefOf(above)}>
          {above === '' ? 'To the overview' : `Up to ${visible(above)}`}
        </a>
      </section>
    </>
  );
}
