// The list of transit keys: what each is, how much its newest version was used, and when it rotates.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { address, hrefOf } from '../../address/router.ts';
import { may } from '../../api/may.ts';
import type { Entry } from '../../description/catalog.ts';
import { FilterBar } from '../../lists/filter-bar.tsx';
import { ListCount, ListPages, NoEntries, rowsOfPage } from '../../lists/list-pages.tsx';
import { filterQuery, filtersOf } from '../../lists/query.ts';
import { AllowedLink } from '../../parts/allowed.tsx';
import { Chip } from '../../parts/chip.tsx';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { Heading } from '../../parts/heading.tsx';
import { Loading } from '../../parts/loading.tsx';
import { useLoaded } from '../../parts/loaded.ts';
import { Moment } from '../../parts/moments.tsx';
import { Problem } from '../../parts/problem.tsx';
import { visible } from '../../parts/visible.ts';
import type { KeyState } from './state.ts';

const path = '/v1/config/keystore/transit-keys';
const fields = { config: 'name,cipher,custody', state: 'name,cipher,custody,latest-version,oldest-version,rotates,usage' };

export function KeysView({ catalog, place: { entries } }: DrawnProps): ComponentChildren {
  const find = (verb: string, tree: string): Entry | undefined =>
    entries.find(({ command }) => command.verb === verb && command.tree === tree);
  const [settings, states, create] = [find('list', 'config'), find('list', 'state'), find('create', 'config')];
  const turn = useSignal(0);
  // Who may not read states sees what the settings say.
  const seesStates = states === undefined ? undefined : may(states.operation['x-operation'], states.path).value;
  const list = typeof seesStates === 'object' ? settings : states;
  const asked = list === undefined ? {} : filterQuery(list.operation, address.value.query);
  const isKnown = list !== undefined && seesStates !== 'unknown';
  const query = { limit: String(rowsOfPage), ...asked, fields: list === settings ? fields.config : fields.state };
  const loaded = useLoaded(isKnown ? { method: 'GET', path: list.path, query } : undefined, turn.value).value;
  return (
    <>
      <Heading catalog={catalog} title="Transit keys" path={path}>
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
          <button type="button" onClick={() => (turn.value += 1)}>
            Refresh
          </button>
        </div>
      </Heading>
      {list !== undefined && <FilterBar path={path} fields={filtersOf(list.operation)} />}
      {loaded.state === 'loading' && <Loading />}
      {loaded.state === 'failed' && <Problem error={loaded.error} />}
      {loaded.state === 'there' && (
        <Keys
          keys={loaded.answer.body as readonly KeyState[]}
          headers={loaded.answer.headers}
          isFiltered={Object.keys(asked).length > 0}
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
      <div class="table" role="region" tabIndex={0} aria-label="Transit keys">
        <table>
          <caption class="unseen">Transit keys</caption>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Cipher</th>
              <th scope="col">Custody</th>
              {hasStates && (
                <>
                  <th scope="col" class="count">
                    Versions
                  </th>
                  <th scope="col" class="count">
                    Uses of the newest
                  </th>
                  <th scope="col">Last used</th>
                  <th scope="col">Rotates</th>
                </>
              )}
            </tr>
          </thead>
          <tbody>
            {keys.map((key) => (
              <tr key={key.name}>
                <th scope="row">
                  <a href={hrefOf(`${path}/${encodeURIComponent(key.name)}`)}>
                    <bdi>{visible(key.name)}</bdi>
                  </a>
                </th>
                <td>{key.cipher}</td>
                <td>{key.custody}</td>
                {hasStates && <StateCells state={key} />}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <ListPages path={path} headers={headers} />
    </>
  );
}

function StateCells({ state }: { readonly state: KeyState }): ComponentChildren {
  const { 'latest-version': latest, 'oldest-version': oldest, usage = {}, rotates } = state;
  const { uses, 'last-used': lastUsed } = usage[String(latest)] ?? {};
  return (
    <>
      <td class="count">{latest === oldest ? latest : `${oldest} – ${latest}`}</td>
      <td class="count">{uses?.toLocaleString()}</td>
      <td>{uses === undefined ? '' : lastUsed === undefined ? <span class="quiet">never</span> : <Moment at={lastUsed} />}</td>
      <td>
        {rotates === undefined ? (
          <span class="quiet">by hand</span>
        ) : Date.parse(rotates) < Date.now() ? (
          <Chip tone="warn">
            due <Moment at={rotates} />
          </Chip>
        ) : (
          <Moment at={rotates} />
        )}
      </td>
    </>
  );
}
