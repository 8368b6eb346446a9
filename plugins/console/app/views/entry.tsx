// Entry: its settings, its state, its actions, and the entries below it.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { fillPath } from '../address/path.ts';
import { hrefOf } from '../address/router.ts';
import { may } from '../api/may.ts';
import { Refusal, type Request } from '../api/request.ts';
import { capital, nameOf, type Catalog, type Entry, type Place } from '../description/catalog.ts';
import { outputOf, textOf } from '../description/schema.ts';
import { AllowedLink } from '../parts/allowed.tsx';
import { Heading } from '../parts/heading.tsx';
import { Loading } from '../parts/loading.tsx';
import { useLoaded, useSteady, type Loaded } from '../parts/loaded.ts';
import { Problem } from '../parts/problem.tsx';
import { Text, Value } from '../parts/value.tsx';
import { visible } from '../parts/visible.ts';
import { drawnAbove, drawnAt } from './drawn.ts';

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
  const documents = useDocuments(shows, names, turn.value);
  const drawn = drawnAbove(place);
  const below = catalog.below(place).filter((entry) => !drawn.leadsTo.includes(entry.path));
  const others = below.filter(({ command }) => command.verb !== 'do');
  const title = names.at(-1) ?? (first === undefined ? '' : nameOf(first));
  const Drawn = drawnAt(place, 'above');
  const missing = missingIn(documents);
  if (missing !== undefined)
    return (
      <>
        <Heading catalog={catalog} title={title} path={path} />
        <Problem error={missing} />
      </>
    );
  return (
    <>
      <Heading catalog={catalog} title={title} path={path}>
        <p class="quiet">{kindOf(first?.operation.summary ?? '')}</p>
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
      <Actions
        entries={below.filter(({ command }) => command.verb === 'do')}
        names={names}
        possible={actionsIn(documents.find(({ show }) => show.command.tree !== 'config')?.loaded)}
      />
      {others.length > 0 && (
        <section class="card">
          <h2>More about it</h2>
          <Links label="Below this" entries={others} names={names} />
        </section>
      )}
      <Documents catalog={catalog} documents={documents} drawn={drawn.fields} />
    </>
  );
}

/** Returns the refusal if there is nothing to show or do, because the entry does not exist. */
function missingIn(documents: readonly DocumentOf[]): Refusal | undefined {
  const errors = documents.map(({ loaded }) => (loaded.state === 'failed' ? loaded.error : undefined));
  const missing = errors.filter((error) => error instanceof Refusal && error.status === 404);
  return missing.length > 0 && missing.length === documents.length ? (missing[0] as Refusal) : undefined;
}

/** `Read a transit key` is said of the operation; the page is of a transit key. */
function kindOf(summary: string): string {
  return capital(summary.replace(/^Read (?:the state of )?(?:an? )?/, ''));
}

/** Actions that the state of an entry allows: a state that lists its actions decides, one that does not leaves all of them. */
type Possible = 'all' | 'not known yet' | ReadonlySet<string>;

function actionsIn(state: Loaded | undefined): Possible {
  if (state === undefined || state.state === 'failed') return 'all';
  if (state.state === 'loading') return 'not known yet';
  const { actions } = (state.answer.body ?? {}) as { readonly actions?: unknown };
  return Array.isArray(actions) ? new Set(actions as readonly string[]) : 'all';
}

type ActionsProps = { readonly entries: readonly Entry[]; readonly names: readonly string[]; readonly possible: Possible };

/**
 * Shows the possible actions, and those that policies keep from this person, with the reasons. The same for many at once is one level down.
 */
function Actions({ entries, names, possible }: ActionsProps): ComponentChildren {
  const isBatch = ({ path }: Entry): boolean => path.endsWith('-batch');
  const isPossible = ({ command: { action = '' } }: Entry): boolean =>
    typeof possible === 'string' || possible.has(action.replace(/-batch$/, ''));
  const judged = entries.filter(isPossible).map((entry) => {
    const said = may(entry.operation['x-operation'], fillPath(entry.path, names)).value;
    return { entry, isKnown: said !== 'unknown', no: typeof said === 'object' ? said.no : undefined };
  });
  const offered = judged.flatMap(({ entry, no }) => (no === undefined ? [entry] : []));
  const refused = judged.filter(({ entry, no }) => no !== undefined && !isBatch(entry));
  const batches = offered.filter(isBatch);
  if (possible === 'not known yet' || judged.length === 0 || !judged.every(({ isKnown }) => isKnown)) return null;
  return (
    <section class="card actions">
      <h2>What you can do</h2>
      {offered.length === 0 && <p class="quiet">Nothing: your policies refuse all of it.</p>}
      <Links label="Actions" entries={offered.filter((entry) => !isBatch(entry))} names={names} />
      {batches.length > 0 && (
        <details>
          <summary>For many values at once</summary>
          <Links label="Actions for many values" entries={batches} names={names} />
        </details>
      )}
      {refused.length > 0 && (
        <details>
          <summary>
            {refused.length.toLocaleString()} {refused.length === 1 ? 'action' : 'actions'} that your policies refuse
          </summary>
          <dl>
            {refused.map(({ entry, no }) => [
              <dt key={`${entry.path}:name`}>{nameOf(entry)}</dt>,
              <dd key={`${entry.path}:why`}>{visible(no ?? '')}</dd>,
            ])}
          </dl>
        </details>
      )}
    </section>
  );
}

/** Document of the entry in one of the two trees: its settings, or its state. */
type DocumentOf = { readonly show: Entry; readonly title: 'Settings' | 'State'; readonly loaded: Loaded };

/** The settings first. */
function useDocuments(shows: readonly Entry[], names: readonly string[], turn: number): readonly DocumentOf[] {
  const config = shows.find(({ command }) => command.tree === 'config');
  const state = shows.find(({ command }) => command.tree !== 'config');
  const requestOf = (show: Entry | undefined): Request | undefined =>
    show === undefined ? undefined : { method: 'GET', path: fillPath(show.path, names) };
  const settings = useSteady(useLoaded(requestOf(config), turn).value);
  const present = useSteady(useLoaded(requestOf(state), turn).value);
  return [
    ...(config === undefined ? [] : [{ show: config, title: 'Settings', loaded: settings } as const]),
    ...(state === undefined ? [] : [{ show: state, title: 'State', loaded: present } as const]),
  ];
}

type DocumentsProps = {
  readonly catalog: Catalog;
  readonly documents: readonly DocumentOf[];
  /** names of fields that a drawn view shows */
  readonly drawn: readonly string[];
};

/** Shows the settings and, without repeating them, the state. If neither can be shown, one says why. */
function Documents({ catalog, documents, drawn }: DocumentsProps): ComponentChildren {
  const isSeen = documents.some(({ loaded }) => loaded.state === 'there');
  const [settings] = documents.filter(({ title }) => title === 'Settings');
  // A drawn view is made from the state.
  const isDrawn = documents.some(({ title, loaded }) => title === 'State' && loaded.state === 'there');
  const repeated = settings?.loaded.state === 'there' ? Object.keys(settings.loaded.answer.body ?? {}) : [];
  if (documents.some(({ loaded }) => loaded.state === 'loading')) return <Loading />;
  return documents.map(({ show, title, loaded }, index) => {
    if (loaded.state === 'loading') return null;
    if (loaded.state === 'there') {
      const { body } = loaded.answer;
      const without = title === 'State' ? [...repeated, ...drawn] : isDrawn ? drawn : [];
      return <Document key={title} catalog={catalog} show={show} title={title} body={body} without={without} />;
    }
    const { error } = loaded;
    if (isSeen && error instanceof Refusal && error.status === 403)
      return (
        <p key={title} class="quiet">
          You may not see its {title.toLowerCase()}: {visible(error.detail ?? '')}
        </p>
      );
    return isSeen || index === 0 ? <Problem key={title} error={error} /> : null;
  });
}

type DocumentProps = {
  readonly catalog: Catalog;
  readonly show: Entry;
  readonly title: string;
  readonly body: unknown;
  /** names of fields that are shown already */
  readonly without: readonly string[];
};

function Document({ catalog, show, title, body, without }: DocumentProps): ComponentChildren {
  const { document } = catalog;
  const isDocument = typeof body === 'object' && body !== null;
  const shown =
    isDocument && !Array.isArray(body) ? Object.fromEntries(Object.entries(body).filter(([name]) => !without.includes(name))) : body;
  if (title === 'State' && typeof shown === 'object' && shown !== null && Object.keys(shown).length === 0) return null;
  return (
    <section class="card">
      <h2>{title}</h2>
      {isDocument ? <Value value={shown} schema={outputOf(show.operation, document)} document={document} /> : <Text text={textOf(body)} />}
    </section>
  );
}

/** Draws one link for each name: of two with the same name the first. */
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
