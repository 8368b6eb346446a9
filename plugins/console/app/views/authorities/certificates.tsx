// The certificates that an authority issued: how many end when, and a search by name, serial number and status.
import type { ComponentChildren } from 'preact';
import { useSignal } from '@preact/signals';
import { address, go, hrefOf } from '../../address/router.ts';
import { Until } from '../../marks/until.tsx';
import { Heading } from '../../parts/heading.tsx';
import { useLoaded } from '../../parts/loaded.ts';
import { Loading } from '../../parts/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { visible } from '../../parts/visible.ts';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { ExpiryCard } from './expiry-card.tsx';
import { certificatePath, certificatesPath, type CertificateState } from './state.ts';
import { StatusBadge } from './status-badge.tsx';
import { typedTexts } from '../../parts/typed.ts';

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
  return (
    <>
      <Heading catalog={catalog} title={`Certificates of ${name}`} path={path}>
        <div class="buttons">
          <button type="button" onClick={() => (turn.value += 1)}>
            Refresh
          </button>
        </div>
      </Heading>
      <ExpiryCard name={name} turn={turn.value} />
      <Search path={path} />
      {loaded.state === 'loading' && <Loading />}
      {loaded.state === 'failed' && <Problem error={loaded.error} />}
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
      <div class="filter">
        <label for="contains">Name or serial number</label>
        <input
          id="contains"
          name="contains"
          type="text"
          maxLength={256}
          value={query.get('contains') ?? ''}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
        />
      </div>
      <div class="filter">
        <label for="status">Status</label>
        <select id="status" name="status">
          {['', ...statuses].map((one) => (
            <option key={one} value={one} selected={one === (query.get('status') ?? '')}>
              {one === '' ? 'any' : one}
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
          ? `${certificates.length.toLocaleString('en')} found${after === undefined ? '' : ' so far'}`
          : `${certificates.length.toLocaleString('en')} of ${Number(headers.get('total-count')).toLocaleString('en')}, by serial number`}
      </p>
      <div class="table" role="region" tabIndex={0} aria-label="Certificates">
        <table>
          <thead>
            <tr>
              <th scope="col">Subject</th>
              <th scope="col">Status</th>
              <th scope="col">End</th>
              <th scope="col">Other names</th>
              <th scope="col">Made by</th>
              <th scope="col">Serial number</th>
            </tr>
          </thead>
          <tbody>
            {certificates.map((one) => (
              <Row key={one.serial} name={name} certificate={one} />
            ))}
          </tbody>
        </table>
      </div>
      {onwards}
    </>
  );
}

/** Names that a row shows; the page of the certificate has all. */
const shownNames = 3;

function Row({ name, certificate }: { readonly name: string; readonly certificate: CertificateState }): ComponentChildren {
  const { serial, subject, names, status, via } = certificate;
  return (
    <tr>
      <th scope="row">
        <a href={hrefOf(certificatePath(name, serial))}>
          <bdi>{subject === '' ? 'no subject' : visible(subject)}</bdi>
        </a>
      </th>
      <td>
        <StatusBadge status={status} />
        {status === 'revoked' && certificate['revocation-reason'] !== undefined && (
          <span class="quiet"> {visible(certificate['revocation-reason'])}</span>
        )}
      </td>
      <td>
        <Until at={certificate['not-after']} isOver={status !== 'valid'} />
      </td>
      <td>
        <bdi>
          {names
            .slice(0, shownNames)
            .map((one) => visible(one))
            .join(', ')}
        </bdi>
        {names.length > shownNames && <span class="quiet"> and {names.length - shownNames} more</span>}
      </td>
      <td>{visible(via)}</td>
      <td>
        <code>{visible(serial)}</code>
      </td>
    </tr>
  );
}

function without(query: URLSearchParams, ...names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries([...query].filter(([name]) => !names.includes(name)));
}
