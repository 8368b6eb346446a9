// One thing: what it is set to, what state it is in, what can be done with it, and what is below it.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { fillPath } from '../address/path.ts';
import { hrefOf } from '../address/router.ts';
import type { Request } from '../api/request.ts';
import { nameOf, type Catalog, type Entry, type Place } from '../description/catalog.ts';
import { outputOf, textOf } from '../description/schema.ts';
import { AllowedLink } from '../parts/allowed.tsx';
import { Heading } from '../parts/heading.tsx';
import { Loading } from '../parts/loading.tsx';
import { useLoaded, type Loaded } from '../parts/loaded.ts';
import { Problem } from '../parts/problem.tsx';
import { Text, Value } from '../parts/value.tsx';
import { drawnAt, fieldsDrawnAt } from './drawn.ts';

export function EntryView({
  catalog,
  place,
  path,
}: {
  readonly catalog: Catalog;
  readonly place: Place;
  readonly path: string;
}): ComponentChildren {
  const { entries, names } = place;
  const turn = useSignal(0);
  const shows = entries.filter(({ command }) => command.verb === 'show');
  const [first] = shows;
  const find = (verb: string): Entry | undefined => entries.find(({ command }) => command.verb === verb);
  const [merge, remove] = [find('merge'), find('delete')];
  const below = catalog.below(place);
  const title = names.at(-1) ?? (first === undefined ? '' : nameOf(first));
  const Drawn = drawnAt(place, 'above');
  return (
    <>
      <Heading catalog={catalog} title={title} path={path}>
        <p class="quiet">{first?.operation.summary}</p>
        <div class="buttons">
          {merge !== undefined && (
            <AllowedLink
              operation={merge.operation['x-operation']}
              path={fillPath(merge.path, names)}
              href={hrefOf(fillPath(merge.path, names), { do: 'edit' })}
              look="button primary"
            >
              Edit
            </AllowedLink>
          )}
          {remove !== undefined && (
            <AllowedLink
              operation={remove.operation['x-operation']}
              path={fillPath(remove.path, names)}
              href={hrefOf(fillPath(remove.path, names), { do: 'delete' })}
              look="button danger"
            >
              Delete
            </AllowedLink>
          )}
          <button type="button" onClick={() => (turn.value += 1)}>
            Refresh
          </button>
        </div>
      </Heading>
      {Drawn !== undefined && <Drawn catalog={catalog} place={place} path={path} turn={turn.value} />}
      <Actions entries={below.filter(({ command }) => command.verb === 'do')} names={names} />
      <Links label="Below this" entries={below.filter(({ command }) => command.verb !== 'do')} names={names} />
      <Documents catalog={catalog} shows={shows} names={names} drawn={fieldsDrawnAt(place)} turn={turn.value} />
    </>
  );
}

/** What can be done with it. The same for many at once is one level down. */
function Actions({ entries, names }: { readonly entries: readonly Entry[]; readonly names: readonly string[] }): ComponentChildren {
  const isBatch = ({ path }: Entry): boolean => path.endsWith('-batch');
  const batches = entries.filter(isBatch);
  if (entries.length === 0) return null;
  return (
    <section class="card actions">
      <h2>What you can do</h2>
      <Links label="Actions" entries={entries.filter((entry) => !isBatch(entry))} names={names} />
      {batches.length > 0 && (
        <details>
          <summary>For many values at once</summary>
          <Links label="Actions for many values" entries={batches} names={names} />
        </details>
      )}
    </section>
  );
}

type DocumentsProps = {
  readonly catalog: Catalog;
  readonly shows: readonly Entry[];
  readonly names: readonly string[];
  /** names of fields that a drawn view shows */
  readonly drawn: readonly string[];
  readonly turn: number;
};

/** What it is set to and, without repeating that, what state it is in. */
function Documents({ catalog, shows, names, drawn, turn }: DocumentsProps): ComponentChildren {
  const config = shows.find(({ command }) => command.tree === 'config');
  const state = shows.find(({ command }) => command.tree !== 'config');
  const requestOf = (show: Entry | undefined): Request | undefined =>
    show === undefined ? undefined : { method: 'GET', path: fillPath(show.path, names) };
  const settings = useLoaded(requestOf(config), turn).value;
  const present = useLoaded(requestOf(state), turn).value;
  const repeated = settings.state === 'there' ? Object.keys(settings.answer.body ?? {}) : [];
  return (
    <>
      {config !== undefined && <Document catalog={catalog} show={config} title="Settings" loaded={settings} without={[]} />}
      {state !== undefined && <Document catalog={catalog} show={state} title="State" loaded={present} without={[...repeated, ...drawn]} />}
    </>
  );
}

type DocumentProps = {
  readonly catalog: Catalog;
  readonly show: Entry;
  readonly title: string;
  readonly loaded: Loaded;
  /** names of fields that are shown already */
  readonly without: readonly string[];
};

function Document({ catalog, show, title, loaded, without }: DocumentProps): ComponentChildren {
  const { document } = catalog;
  if (loaded.state === 'loading') return <Loading />;
  if (loaded.state === 'failed') return <Problem error={loaded.error} />;
  const { body } = loaded.answer;
  const isDocument = typeof body === 'object' && body !== null;
  const shown =
    isDocument && !Array.isArray(body) ? Object.fromEntries(Object.entries(body).filter(([name]) => !without.includes(name))) : body;
  return (
    <section class="card">
      <h2>{title}</h2>
      {isDocument ? <Value value={shown} schema={outputOf(show.operation, document)} document={document} /> : <Text text={textOf(body)} />}
    </section>
  );
}

/** One link for each name: of two with the same name the first. */
function Links({
  label,
  entries,
  names,
}: {
  readonly label: string;
  readonly entries: readonly Entry[];
  readonly names: readonly string[];
}): ComponentChildren {
  const byName = new Map(entries.toReversed().map((entry) => [nameOf(entry), entry]));
  if (byName.size === 0) return null;
  return (
    <nav class="below" aria-label={label}>
      {[...byName.entries()].toReversed().map(([name, entry]) => (
        <AllowedLink
          key={entry.path}
          operation={entry.operation['x-operation']}
          path={fillPath(entry.path, names)}
          href={hrefOf(fillPath(entry.path, names))}
          look={entry.command.ends === undefined ? 'button' : 'button danger'}
        >
          {name}
        </AllowedLink>
      ))}
    </nav>
  );
}
