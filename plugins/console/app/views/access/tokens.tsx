// The tokens of the tenant, sessions of browsers among them: who holds each, what it may do, when it ends, and ending it.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { address, hrefOf } from '../../address/router.ts';
import { may } from '../../api/may.ts';
import type { Catalog, Entry } from '../../description/catalog.ts';
import { Act } from '../../forms/act.tsx';
import { FilterBar } from '../../lists/filter-bar.tsx';
import { ListCount, ListPages, NoEntries, rowsOfPage } from '../../lists/list-pages.tsx';
import { filterQuery, filtersOf } from '../../lists/query.ts';
import { DataTable, type Column } from '../../marks/data-table.tsx';
import { Chip } from '../../parts/chip.tsx';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { Heading, Refresh } from '../../parts/heading.tsx';
import { isDenied, useLoaded } from '../../parts/loaded.ts';
import { Moment } from '../../times/moments.tsx';
import { EndPerson } from './end-person.tsx';
import { programName } from './program-name.ts';
import { visible } from '../../parts/visible.ts';
import { said } from '../../language/language.ts';
import '../../style/access.css';
import { Awaited } from '../../parts/loading.tsx';

const path = '/v1/state/keystore/tokens';
const info = '/v1/state/keystore/token/info';
const disable = '/v1/state/keystore/token/disable';
const check = '/v1/state/policy/check';
const policies = '/v1/config/policy/policies';
const trail = '/v1/state/topics/system:audit-trail-log';

type Token = {
  readonly accessor: string;
  readonly user: string;
  readonly policies: readonly string[];
  readonly 'creation-time': string;
  readonly expires?: string;
  readonly 'bound-cidrs'?: readonly string[];
  readonly parent?: string;
  readonly approle?: string;
  readonly 'user-kind'?: string;
  readonly 'user-source'?: string;
  readonly identity?: unknown;
  /** of the session of a browser */
  readonly session?: { readonly address?: string; readonly program?: string; readonly 'last-used'?: string };
};

const kinds: Readonly<Record<string, string>> = {
  'root-token': 'root token',
  approle: said('application'),
  'sign-in': said('person'),
  workload: said('workload'),
  certificate: said('certificate'),
};

export function TokensView({ catalog, place: { entries } }: DrawnProps): ComponentChildren {
  const turn = useSignal(0);
  const ending = useSignal<Token | undefined>(undefined);
  const person = useSignal<Token | undefined>(undefined);
  const [list] = entries;
  const query = { limit: String(rowsOfPage), ...(list === undefined ? {} : filterQuery(list.operation, address.value.query)) };
  const loaded = useLoaded({ method: 'GET', path, query }, turn.value).value;
  const isRefused = loaded.state === 'failed' && isDenied(loaded.error);
  const own = useLoaded({ method: 'POST', path: info, body: {} }).value;
  const ownAccessor = own.state === 'there' ? (own.answer.body as Token).accessor : undefined;
  const entry = catalog.entries.find((one) => one.path === disable);
  if (list === undefined) return null;
  return (
    <>
      <Heading catalog={catalog} title="Tokens and sessions" path={path}>
        <p class="quiet">Tokens that work now, and sessions of people in browsers, which are tokens too. Their values are never shown.</p>
        <div class="buttons">
          <Refresh turn={turn} />
        </div>
      </Heading>
      {!isRefused && <FilterBar path={path} fields={filtersOf(list.operation)} />}
      {ending.value !== undefined && entry !== undefined && (
        <Ending
          key={ending.value.accessor}
          entry={entry}
          token={ending.value}
          isOwn={ending.value.accessor === ownAccessor}
          onClose={(isDone) => {
            ending.value = undefined;
            if (isDone) turn.value += 1;
          }}
        />
      )}
      {person.value !== undefined && (
        <EndPerson
          key={person.value.accessor}
          token={person.value}
          ownAccessor={ownAccessor}
          onClose={(isDone) => {
            person.value = undefined;
            if (isDone) turn.value += 1;
          }}
        />
      )}
      <Awaited loaded={loaded} />
      {loaded.state === 'there' && (
        <Tokens
          catalog={catalog}
          tokens={loaded.answer.body as readonly Token[]}
          headers={loaded.answer.headers}
          ownAccessor={ownAccessor}
          onEnd={(token) => (ending.value = token)}
          onEndPerson={(token) => (person.value = token)}
        />
      )}
    </>
  );
}

type TokensProps = {
  readonly catalog: Catalog;
  readonly tokens: readonly Token[];
  readonly headers: Headers;
  readonly ownAccessor: string | undefined;
  readonly onEnd: (token: Token) => void;
  readonly onEndPerson: (token: Token) => void;
};

function Tokens({ catalog, tokens, headers, ownAccessor, onEnd, onEndPerson }: TokensProps): ComponentChildren {
  const mayEnd = typeof may('delete', `${path}/any`).value !== 'object' && typeof may('execute', disable).value !== 'object';
  const mayRead = catalog.at(trail) !== undefined && may('read', trail).value === 'yes';
  if (tokens.length === 0) return <NoEntries isFiltered={address.value.query.has('after')} />;
  const columns: readonly Column<Token>[] = [
    {
      head: 'Holder',
      is: 'name',
      cell: (token) => (
        <>
          {mayRead ? (
            <a href={hrefOf(trail, { who: token.user, since: '7d' })} title="What this holder did in the last week">
              <bdi>{visible(token.user)}</bdi>
            </a>
          ) : (
            <bdi>{visible(token.user)}</bdi>
          )}{' '}
          {token.accessor === ownAccessor && <Chip tone="good">this session</Chip>}
          <OriginOf token={token} />
        </>
      ),
    },
    { head: 'What and where', cell: (token) => <Where token={token} /> },
    { head: 'Policies', cell: (token) => <PolicyLinks catalog={catalog} names={token.policies} /> },
    { head: 'Made', cell: (token) => <Moment at={token['creation-time']} /> },
    {
      head: 'Ends',
      cell: ({ expires }) => (expires === undefined ? <span class="quiet">never</span> : <Moment at={expires} />),
    },
    { head: 'Accessor', cell: ({ accessor }) => <code class="accessor">{visible(accessor)}</code> },
    {
      head: 'What you can do',
      is: 'acts',
      cell: (token) => (
        <div class="row-actions">
          <a href={hrefOf(check, { accessor: token.accessor })}>
            May it …?<span class="unseen"> (asks what {visible(token.user)} may do)</span>
          </a>
          {mayRead && (
            <a href={hrefOf(trail, { who: token.accessor, since: '7d', only: 'all' })}>
              What it did<span class="unseen"> (the token of {visible(token.user)})</span>
            </a>
          )}
          {mayEnd && (
            <button type="button" class="small danger" aria-label={`End the token of ${visible(token.user)}`} onClick={() => onEnd(token)}>
              End
            </button>
          )}
          {mayEnd && token['user-kind'] !== 'root-token' && token.identity !== undefined && (
            <button type="button" class="small danger" aria-label={`End all of ${visible(token.user)}`} onClick={() => onEndPerson(token)}>
              End all of this {kinds[token['user-kind'] ?? ''] ?? 'holder'}
            </button>
          )}
        </div>
      ),
    },
  ];
  return (
    <>
      <ListCount count={tokens.length} headers={headers} />
      <DataTable label="Tokens and sessions" columns={columns} rows={tokens} keyOf={({ accessor }) => accessor} />
      <ListPages path={path} headers={headers} />
    </>
  );
}

/** Kind of the token, and of a session the browser and the address that the person signed in from. */
function Where({ token: { session, 'user-kind': kind = '', 'user-source': source } }: { readonly token: Token }): ComponentChildren {
  return (
    <>
      {session === undefined ? 'token' : 'session in a browser'}
      <div class="quiet">
        {[kinds[kind] ?? visible(kind), source === undefined ? '' : visible(source)].filter((one) => one !== '').join(' of ')}
      </div>
      {session?.program !== undefined && <div title={visible(session.program)}>{visible(programName(session.program))}</div>}
      {session?.address !== undefined && (
        <div>
          from <code>{visible(session.address)}</code>
        </div>
      )}
      {session?.['last-used'] !== undefined && (
        <div class="quiet">
          used <Moment at={session['last-used']} />
        </div>
      )}
    </>
  );
}

function OriginOf({ token: { approle, parent, 'bound-cidrs': cidrs } }: { readonly token: Token }): ComponentChildren {
  const facts = [
    approle === undefined ? undefined : `of the approle ${visible(approle)}`,
    parent === undefined ? undefined : `ends with ${visible(parent).slice(0, 8)}…`,
    cidrs === undefined ? undefined : `from ${cidrs.map((one) => visible(one)).join(', ')}`,
  ].filter((fact) => fact !== undefined);
  return facts.length === 0 ? null : <div class="quiet">{facts.join('; ')}</div>;
}

function PolicyLinks({ catalog, names }: { readonly catalog: Catalog; readonly names: readonly string[] }): ComponentChildren {
  return (
    <ul class="facts">
      {names.map((name) => {
        const target = `${policies}/${encodeURIComponent(name)}`;
        return (
          <li key={name}>{catalog.at(target) === undefined ? <bdi>{visible(name)}</bdi> : <a href={hrefOf(target)}>{visible(name)}</a>}</li>
        );
      })}
    </ul>
  );
}

type EndingProps = { readonly entry: Entry; readonly token: Token; readonly isOwn: boolean; readonly onClose: (isDone: boolean) => void };

function Ending({ entry, token, isOwn, onClose }: EndingProps): ComponentChildren {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const user = visible(token.user);
  const what = `This ends the token ${token.accessor} of ${user}, and every token that was made with it, at once.`;
  return (
    <section class="card" aria-labelledby="ending-title">
      <h2 id="ending-title" tabIndex={-1} ref={heading}>
        End the token of <bdi>{user}</bdi>
      </h2>
      <Act
        entry={entry}
        names={[]}
        body={{ accessor: token.accessor }}
        does="End it"
        confirm={{ name: user, what: isOwn ? `${what} It is your own session.` : what }}
        onDone={() => onClose(true)}
      />
      <div class="buttons">
        <button type="button" onClick={() => onClose(false)}>
          Keep it
        </button>
      </div>
    </section>
  );
}
