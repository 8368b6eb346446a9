// The certificates that an authority issued: how many end when, and a search by name, serial number and status.
import type { ComponentChildren } from 'preact';
import { useSignal } from '@preact/signals';
import { address, go, hrefOf } from '../../address/router.ts';
import { DataTable, type Column } from '../../marks/data-table.tsx';
import { Life } from '../../charts/life.tsx';
import { CertificateSearch } from '../../lists/certificate-search.tsx';
import { Heading, Refresh } from '../../parts/heading.tsx';
import { isDenied, useLoaded } from '../../parts/loaded.ts';
import { visible } from '../../parts/visible.ts';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { ExpiryCard } from './expiry-card.tsx';
import { certificatePath, certificatesPath, type CertificateState } from './state.ts';
import { StatusBadge, statusWords } from './status-badge.tsx';
import { typedTexts } from '../../parts/typed.ts';
import { locale } from '../../language/language.ts';
import { Awaited } from '../../parts/loading.tsx';

const rowsOfPage = 100;
const statuses = ['valid', 'expired', 'revoked'] as const;

export function CertificatesPage({ catalog, place: { names } }: DrawnProps): ComponentChildren {
  const [name = ''] = names;
  const path = certificatesPath(name);
  const turn = useSignal(0);
  const { query } = address.value;
  const asked = Object.fromEntries([...query].filter(([key]) => ['contains', 'status', 'after'].includes(key)));
  const fields = 'serial,subject,names,not-before,not-after,via,status,revoked-at,revocation-reason';
  const loaded = useLoaded({ method: 'GET', path, query: { ...asked, limit: String(rowsOfPage), fields } }, turn.value).value;
  const isRefused = loaded.state === 'failed' && isDenied(loaded.error);
  return (
    <>
      <Heading catalog={catalog} title={`Certificates of ${name}`} path={path}>
        <div class="buttons">
          <Refresh turn={turn} />
        </div>
      </Heading>
      {!isRefused && <ExpiryCard name={name} turn={turn.value} />}
      {!isRefused && <Search path={path} />}
      <Awaited loaded={loaded} />
      {loaded.state === 'there' && (
        <Found name={name} path={path} certificates={loaded.answer.body as readonly CertificateState[]} headers={loaded.answer.headers} />
      )}
    </>
  );
}

function Search({ path }: { readonly path: string }): ComponentChildren {
  const { query } = address.value;
  const submit = (event: Event): void => {
    event.preventDefault();
    const typed = typedTexts(event.currentTarget as HTMLFormElement);
    go(hrefOf(path, Object.fromEntries(typed.filter(([, value]) => value !== ''))));
  };
  return (
    <form class="filters" role="search" aria-label="Search" onSubmit={submit} key={query.toString()}>
      <CertificateSearch query={query} />
      <div class="filter">
        <label for="status">Status</label>
        <select id="status" name="status">
          {(['', ...statuses] as const).map((one) => (
            <option key={one} value={one} selected={one === (query.get('status') ?? '')}>
              {one === '' ? 'any' : statusWords[one]}
            </option>
          ))}
        </select>
      </div>
      <div class="buttons">
        <button type="submit">Search</button>
        {(query.has('contains') || query.has('status') || query.has('after')) && <a href={hrefOf(path)}>Show all</a>}
      </div>
    </form>
  );
}

type FoundProps = {
  readonly name: string;
  readonly path: string;
  readonly certificates: readonly CertificateState[];
  readonly headers: Headers;
};

function Found({ name, path, certificates, headers }: FoundProps): ComponentChildren {
  const { query } = address.value;
  const next = /<([^>]+)>;\s*rel="?next"?/.exec(headers.get('link') ?? '')?.[1];
  const after = next === undefined ? undefined : (new URL(next, location.href).searchParams.get('after') ?? undefined);
  const isSearch = query.has('contains') || query.has('status');
  const onwards = (
    <nav class="buttons" aria-label="Pages of the list">
      {query.has('after') && <a href={hrefOf(path, without(query, 'after'))}>From the start</a>}
      {after !== undefined && (
        <a href={hrefOf(path, { ...without(query, 'after'), after })}>{isSearch ? 'Search on' : `Next ${rowsOfPage}`}</a>
      )}
    </nav>
  );
  if (certificates.length === 0) {
    return (
      <>
        <p class="empty" role="status">
          {after !== undefined
            ? 'Nothing matches among those that were looked at so far.'
            : isSearch
              ? 'No certificate matches.'
              : 'This CA has not issued a certificate yet.'}
        </p>
        {onwards}
      </>
    );
  }
  return (
    <>
      <p role="status" class="quiet">
        {isSearch
          ? `${certificates.length.toLocaleString(locale)} found${after === undefined ? '' : ' so far'}`
          : `${certificates.length.toLocaleString(locale)} of ${Number(headers.get('total-count')).toLocaleString(locale)}, by serial number`}
      </p>
      <DataTable label="Certificates" columns={columnsOf(name)} rows={certificates} keyOf={({ serial }) => serial} />
      {onwards}
    </>
  );
}

/** Names that a row shows; the page of the certificate has all. */
const shownNames = 3;

function columnsOf(name: string): readonly Column<CertificateState>[] {
  return [
    {
      head: 'Subject',
      is: 'name',
      cell: ({ serial, subject }) => (
        <a href={hrefOf(certificatePath(name, serial))}>
          <bdi>{subject === '' ? 'no subject' : visible(subject)}</bdi>
        </a>
      ),
    },
    {
      head: 'Status',
      cell: ({ status, 'revocation-reason': reason }) => (
        <>
          <StatusBadge status={status} />
          {status === 'revoked' && reason !== undefined && <span class="quiet"> {visible(reason)}</span>}
        </>
      ),
    },
    { head: 'End', cell: (certificate) => <Life of={certificate} isOver={certificate.status !== 'valid'} /> },
    { head: 'Other names', cell: ({ names }) => names.length > 0 && <OtherNames names={names} /> },
    { head: 'Made by', cell: ({ via }) => visible(via) },
    { head: 'Serial number', cell: ({ serial }) => <code>{visible(serial)}</code> },
  ];
}

function OtherNames({ names }: Pick<CertificateState, 'names'>): ComponentChildren {
  return (
    <>
      <bdi>
        {names
          .slice(0, shownNames)
          .map((one) => visible(one))
          .join(', ')}
      </bdi>
      {names.length > shownNames && <span class="quiet"> and {names.length - shownNames} more</span>}
    </>
  );
}

function without(query: URLSearchParams, ...names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries([...query].filter(([name]) => !names.includes(name)));
}
