// The list of transit keys: what each is, how much its newest version was used, and when it rotates.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { address, hrefOf } from '../../address/router.ts';
import { may } from '../../api/may.ts';
import type { Entry } from '../../description/catalog.ts';
import { FilterBar } from '../../lists/filter-bar.tsx';
import { ListCount, ListPages, NoEntries, rowsOfPage } from '../../lists/list-pages.tsx';
import { filterQuery, filtersOf } from '../../lists/query.ts';
import { DataTable, type Column } from '../../marks/data-table.tsx';
import { Labels } from '../../marks/labels.tsx';
import { AllowedLink } from '../../parts/allowed.tsx';
import { Chip } from '../../parts/chip.tsx';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { Heading, Refresh } from '../../parts/heading.tsx';
import { isDenied, useLoaded } from '../../parts/loaded.ts';
import { Moment } from '../../times/moments.tsx';
import { visible } from '../../parts/visible.ts';
import { locale } from '../../language/language.ts';
import type { KeyState, Usage } from './state.ts';
import { Awaited } from '../../parts/loading.tsx';

const path = '/v1/config/keystore/transit-keys';
const fields = {
  config: 'name,cipher,custody,labels',
  state: 'name,cipher,custody,labels,disabled,deletes,latest-version,oldest-version,rotates,usage',
};

export function KeysView({ catalog, place: { entries } }: DrawnProps): ComponentChildren {
  const find = (verb: string, tree: string): Entry | undefined =>
    entries.find(({ command }) => command.verb === verb && command.tree === tree);
  const [settings, states, create] = [find('list', 'config'), find('list', 'state'), find('create', 'config')];
  const turn = useSignal(0);
  // A person who may not read states sees the settings.
  const seesStates = states === undefined ? undefined : may(states.operation['x-operation'], states.path).value;
  const list = typeof seesStates === 'object' ? settings : states;
  const asked = list === undefined ? {} : filterQuery(list.operation, address.value.query);
  const isKnown = list !== undefined && seesStates !== 'unknown';
  const query = { limit: String(rowsOfPage), ...asked, fields: list === settings ? fields.config : fields.state };
  const loaded = useLoaded(isKnown ? { method: 'GET', path: list.path, query } : undefined, turn.value).value;
  const isRefused = loaded.state === 'failed' && isDenied(loaded.error);
  const isFiltered = Object.keys(asked).length > 0;
  // There is nothing to choose from.
  const isEmpty = !isFiltered && loaded.state === 'there' && (loaded.answer.body as readonly KeyState[]).length === 0;
  return (
    <>
      <Heading catalog={catalog} title="Keys" path={path}>
        <p class="quiet">Keys that encrypt, decrypt, sign and verify for your programs, and never leave the appliance.</p>
        <div class="buttons">
          {create !== undefined && (
            <AllowedLink
              operation={create.operation['x-operation']}
              path={create.path}
              href={hrefOf(path, { do: 'create' })}
              look="button primary"
            >
              Create
            </AllowedLink>
          )}
          <Refresh turn={turn} />
        </div>
      </Heading>
      {list !== undefined && !isRefused && !isEmpty && <FilterBar path={path} fields={filtersOf(list.operation)} />}
      <Awaited loaded={loaded} />
      {loaded.state === 'there' && (
        <Keys
          keys={loaded.answer.body as readonly KeyState[]}
          headers={loaded.answer.headers}
          isFiltered={isFiltered}
          hasStates={list === states}
        />
      )}
    </>
  );
}

type KeysProps = {
  readonly keys: readonly KeyState[];
  readonly headers: Headers;
  readonly isFiltered: boolean;
  readonly hasStates: boolean;
};

function Keys({ keys, headers, isFiltered, hasStates }: KeysProps): ComponentChildren {
  if (keys.length === 0)
    return (
      <NoEntries isFiltered={isFiltered}>
        <p>A first key: “Create”, a name, and the cipher that is offered. Everything else can stay as it is.</p>
      </NoEntries>
    );
  return (
    <>
      <ListCount count={keys.length} headers={headers} />
      <DataTable
        label="Transit keys"
        columns={[...settingColumns, ...(keys.some(hasLabels) ? [labelColumn] : []), ...(hasStates ? stateColumns : [])]}
        rows={keys}
        keyOf={({ name }) => name}
        isWhole={keys.length === Number(headers.get('total-count') ?? keys.length)}
      />
      <ListPages path={path} headers={headers} />
    </>
  );
}

const settingColumns: readonly Column<KeyState>[] = [
  {
    head: 'Name',
    is: 'name',
    order: ({ name }) => name,
    cell: ({ name }) => (
      <a href={hrefOf(`${path}/${encodeURIComponent(name)}`)}>
        <bdi>{visible(name)}</bdi>
      </a>
    ),
  },
  { head: 'Cipher', cell: ({ cipher }) => <span class="unbroken">{cipher}</span>, order: ({ cipher }) => cipher },
  { head: 'Custody', cell: ({ custody }) => custody, order: ({ custody }) => custody },
];

const labelColumn: Column<KeyState> = {
  head: 'Labels',
  cell: (key) => hasLabels(key) && <Labels labels={key.labels ?? {}} />,
};

function hasLabels({ labels = {} }: KeyState): boolean {
  return Object.keys(labels).length > 0;
}

const stateColumns: readonly Column<KeyState>[] = [
  {
    head: 'Versions',
    is: 'amount',
    cell: ({ 'latest-version': latest, 'oldest-version': oldest }) => (latest === oldest ? latest : `${oldest} – ${latest}`),
  },
  {
    head: 'Uses of the newest',
    is: 'amount',
    cell: (state) => usageOf(state)?.uses.toLocaleString(locale),
    order: (state) => usageOf(state)?.uses,
  },
  {
    head: 'Last used',
    order: (state) => usageOf(state)?.['last-used'],
    cell: (state) => {
      const usage = usageOf(state);
      const at = usage?.['last-used'];
      return usage === undefined ? undefined : at === undefined ? <span class="quiet">never</span> : <Moment at={at} />;
    },
  },
  {
    head: 'Rotates',
    order: ({ rotates }) => rotates,
    cell: ({ rotates, disabled, deletes }) =>
      deletes !== undefined ? (
        <Chip tone="bad">
          deleted <Moment at={deletes} />
        </Chip>
      ) : disabled === true ? (
        <Chip tone="warn">disabled</Chip>
      ) : rotates === undefined ? (
        <span class="quiet">by hand</span>
      ) : Date.parse(rotates) < Date.now() ? (
        <Chip tone="warn">
          due <Moment at={rotates} />
        </Chip>
      ) : (
        <Moment at={rotates} />
      ),
  },
];

/** Usage of the newest version; undefined if policies hide it. */
function usageOf({ usage = {}, 'latest-version': latest }: KeyState): Usage | undefined {
  return usage[String(latest)];
}
