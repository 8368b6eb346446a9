// Entry: its settings, its state, its actions, and the entries below it.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { fillPath } from '../address/path.ts';
import { hrefOf } from '../address/router.ts';
import { may } from '../api/may.ts';
import { Refusal, type Request } from '../api/request.ts';
import { nameOf, type Catalog, type Entry, type Place } from '../description/catalog.ts';
import { AllowedLink } from '../parts/allowed.tsx';
import { Heading, Refresh } from '../parts/heading.tsx';
import { useLoaded, useSteady, type Loaded } from '../parts/loaded.ts';
import { Problem } from '../parts/problem.tsx';
import { visible } from '../parts/visible.ts';
import { locale } from '../language/language.ts';
import { told } from '../language/told.ts';
import { Documents, type DocumentOf } from './documents.tsx';
import { drawnAbove, drawnAt } from './drawn.ts';
import { SwitchedOff } from './switched-off.tsx';
import { isUseful } from './useful.ts';
import { kindOf } from '../description/purposes.ts';

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
  const all = catalog.below(place).filter((entry) => !drawn.leadsTo.includes(entry.path));
  const isRead = documents.every(({ loaded }) => loaded.state !== 'loading');
  const below = all.filter((entry) => isUseful(entry, bodiesOf(documents)));
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
        {first !== undefined && <p class="quiet">{kindOf(first)}</p>}
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
              lacks={isKept(documents) ? 'its settings do not allow deletion; “Edit” changes that' : undefined}
            >
              Delete
            </AllowedLink>
          )}
          <Refresh turn={turn} />
        </div>
      </Heading>
      <Notices documents={documents} />
      {Drawn !== undefined && <Drawn catalog={catalog} place={place} path={path} turn={turn.value} />}
      <Actions
        entries={below.filter(({ command }) => command.verb === 'do')}
        names={names}
        possible={actionsIn(documents.find(({ show }) => show.command.tree !== 'config')?.loaded)}
      />
      {isRead && others.length > 0 && (
        <section class="card">
          <h2>More about it</h2>
          <Links label="Below this" entries={others} names={names} />
        </section>
      )}
      <SwitchedOff entries={all.filter((entry) => !below.includes(entry))} names={names} merge={merge} />
      <Documents catalog={catalog} documents={documents} drawn={[...drawn.fields, 'notices']} />
    </>
  );
}

function bodiesOf(documents: readonly DocumentOf[]): readonly unknown[] {
  return documents.map(({ loaded }) => (loaded.state === 'there' ? loaded.answer.body : undefined));
}

/** Sentences of the state about what keeps the entry from working. */
function Notices({ documents }: { readonly documents: readonly DocumentOf[] }): ComponentChildren {
  const state = documents.find(({ title }) => title === 'State')?.loaded;
  const body = state?.state === 'there' ? (state.answer.body as { readonly notices?: unknown } | null) : undefined;
  const notices = Array.isArray(body?.notices) ? body.notices.filter((one) => typeof one === 'string') : [];
  return notices.map((text) => (
    <p key={text} class="notice">
      {visible(told(text))}
    </p>
  ));
}

/** Tells whether the settings forbid that it is deleted. */
function isKept(documents: readonly DocumentOf[]): boolean {
  return documents.some(
    ({ loaded }) =>
      loaded.state === 'there' && (loaded.answer.body as { readonly 'deletion-allowed'?: unknown } | null)?.['deletion-allowed'] === false,
  );
}

/** Returns the refusal if there is nothing to show or do, because the entry does not exist. */
function missingIn(documents: readonly DocumentOf[]): Refusal | undefined {
  const errors = documents.map(({ loaded }) => (loaded.state === 'failed' ? loaded.error : undefined));
  const missing = errors.filter((error) => error instanceof Refusal && error.status === 404);
  return missing.length > 0 && missing.length === documents.length ? (missing[0] as Refusal) : undefined;
}

/** Actions that the state of an entry allows: a state that lists its actions decides, one that does not leaves all of them. */
type Possible = 'all' | 'not known yet' | ReadonlySet<string>;

function actionsIn(state: Loaded | undefined): Possible {
  if (state === undefined || state.state === 'failed') return 'all';
  if (state.state === 'loading') return 'not known yet';
  const { actions, shape } = (state.answer.body ?? {}) as { readonly actions?: unknown; readonly shape?: unknown };
  // An appliance that stands alone has nobody to invite or to remove.
  if (shape === 'alone') return new Set(whileAlone);
  return Array.isArray(actions) ? new Set(actions as readonly string[]) : 'all';
}

const whileAlone = ['init', 'join'] as const;

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
            {refused.length.toLocaleString(locale)} {refused.length === 1 ? 'action' : 'actions'} that your policies refuse
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
