// A list of the API: a page of a hundred by cursor, the number of all, a filter by label where the list takes one.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { fillPath } from '../address/path.ts';
import { address, go, hrefOf } from '../address/router.ts';
import type { Catalog, Entry } from '../description/catalog.ts';
import { nameOf, titleOf } from '../description/catalog.ts';
import { columnsOf, outputOf, resolve, textOf } from '../description/schema.ts';
import { AllowedLink } from '../parts/allowed.tsx';
import { Heading } from '../parts/heading.tsx';
import { Loading } from '../parts/loading.tsx';
import { useLoaded } from '../parts/loaded.ts';
import { Problem } from '../parts/problem.tsx';
import { Prose } from '../parts/prose.tsx';
import { Value } from '../parts/value.tsx';
import { visible } from '../parts/visible.ts';

const rowsOfPage = 100;
const mostColumns = 6;

export type ListProps = {
  readonly catalog: Catalog;
  readonly entry: Entry;
  readonly names: readonly string[];
  readonly create: Entry | undefined;
};

export function ListView({ catalog, entry, names, create }: ListProps): ComponentChildren {
  const { document } = catalog;
  const { operation } = entry;
  const path = fillPath(entry.path, names);
  const { query } = address.value;
  const takes = (name: string): boolean => operation.parameters.some((parameter) => parameter.in === 'query' && parameter.name === name);
  const after = query.get('after') ?? undefined;
  const selector = query.get('selector') ?? undefined;
  const fields = columnsOf(operation, document);
  const nameField = nameFieldOf(catalog, entry);
  const columns = chooseColumns(fields, nameField);
  const turn = useSignal(0);
  const loaded = useLoaded(
    {
      method: 'GET',
      path,
      query: {
        ...(takes('limit') ? { limit: String(rowsOfPage) } : {}),
        ...(takes('after') && after !== undefined ? { after } : {}),
        ...(takes('selector') && selector !== undefined ? { selector } : {}),
        ...(takes('fields') ? { fields: columns.join(',') } : {}),
      },
    },
    turn.value,
  ).value;
  const title = nameOf(entry);
  return (
    <>
      <Heading catalog={catalog} title={title} path={path}>
        <p class="quiet">
          <Prose text={operation.summary} />
        </p>
        <div class="buttons">
          {create !== undefined && (
            <AllowedLink
              operation={create.operation['x-operation']}
              path={fillPath(create.path, names)}
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
      <div class="filters">
        {takes('after') && <Filter name="after" label="Start behind" path={path} value={after ?? ''} hint="a name" />}
        {takes('selector') && (
          <Filter name="selector" label="With labels" path={path} value={selector ?? ''} hint="team=payments,env=prod" />
        )}
      </div>
      {loaded.state === 'loading' && <Loading />}
      {loaded.state === 'failed' && <Problem error={loaded.error} />}
      {loaded.state === 'there' && (
        <Rows
          catalog={catalog}
          entry={entry}
          path={path}
          columns={columns}
          nameField={nameField}
          rows={loaded.answer.body}
          headers={loaded.answer.headers}
          title={title}
        />
      )}
    </>
  );
}

type RowsProps = {
  readonly catalog: Catalog;
  readonly entry: Entry;
  readonly path: string;
  readonly columns: readonly string[];
  readonly nameField: string | undefined;
  readonly rows: unknown;
  readonly headers: Headers;
  readonly title: string;
};

function Rows({ catalog, entry, path, columns, nameField, rows, headers, title }: RowsProps): ComponentChildren {
  const { document } = catalog;
  const fields = columnsOf(entry.operation, document);
  const all = Array.isArray(rows) ? (rows as readonly unknown[]) : [];
  const total = Number(headers.get('total-count') ?? all.length);
  const next = /<([^>]+)>;\s*rel="?next"?/.exec(headers.get('link') ?? '')?.[1];
  const { query } = address.value;
  const isFiltered = query.has('after') || query.has('selector');
  if (all.length === 0)
    return (
      <p class="empty" role="status">
        {isFiltered ? 'Nothing here matches.' : 'There is nothing here yet.'}
      </p>
    );
  return (
    <>
      <p role="status" class="quiet">
        {all.length.toLocaleString()} of {total.toLocaleString()}, as of {new Date().toLocaleTimeString()}
      </p>
      <div class="table" role="region" tabIndex={0} aria-label={title}>
        <table>
          <caption class="unseen">{title}</caption>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column} scope="col">
                  {titleOf(column)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {all.map((row, index) => {
              const one =
                typeof row === 'object' && row !== null ? (row as Readonly<Record<string, unknown>>) : { [columns[0] ?? '']: row };
              return (
                <tr key={index}>
                  {columns.map((column) => {
                    const value = Object.hasOwn(one, column) ? one[column] : undefined;
                    if (column === nameField && typeof value === 'string')
                      return (
                        <th key={column} scope="row">
                          <EntryLink catalog={catalog} path={path} name={value} />
                        </th>
                      );
                    return (
                      <td key={column}>{value === undefined ? '' : <Value value={value} schema={fields[column]} document={document} />}</td>
                    );
                  })}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <nav class="buttons" aria-label="Pages of the list">
        {query.has('after') && <a href={hrefOf(path, without(query, 'after'))}>First page</a>}
        {next !== undefined && (
          <a href={hrefOf(path, { ...Object.fromEntries(query), after: new URL(next, location.href).searchParams.get('after') ?? '' })}>
            Next {rowsOfPage}
          </a>
        )}
      </nav>
    </>
  );
}

/** A name that is no part of a path is a text. */
function EntryLink({
  catalog,
  path,
  name,
}: {
  readonly catalog: Catalog;
  readonly path: string;
  readonly name: string;
}): ComponentChildren {
  const shown = <bdi>{visible(name)}</bdi>;
  if (name === '.' || name === '..' || name === '') return shown;
  const target = `${path}/${encodeURIComponent(name)}`;
  return catalog.at(target) === undefined ? shown : <a href={hrefOf(target)}>{shown}</a>;
}

function Filter({
  name,
  label,
  path,
  value,
  hint,
}: {
  readonly name: string;
  readonly label: string;
  readonly path: string;
  readonly value: string;
  readonly hint: string;
}): ComponentChildren {
  const submit = (event: Event): void => {
    event.preventDefault();
    const input = (event.currentTarget as HTMLFormElement).elements.namedItem(name);
    const text = input instanceof HTMLInputElement ? input.value.trim() : '';
    const others = without(address.value.query, name === 'selector' ? 'after' : '', name);
    go(hrefOf(path, { ...others, ...(text === '' ? {} : { [name]: text }) }));
  };
  return (
    <form class="filter" role="search" aria-label={label} onSubmit={submit}>
      <label for={`filter-${name}`}>{label}</label>
      <input
        id={`filter-${name}`}
        name={name}
        type="text"
        value={value}
        placeholder={hint}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
      />
      <button type="submit">Go</button>
    </form>
  );
}

function without(query: URLSearchParams, ...names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries([...query].filter(([name]) => !names.includes(name)));
}

/** The field that names an entry: that of its path, or the first one that every entry has. */
function nameFieldOf({ entries, document }: Catalog, { command, operation, path }: Entry): string | undefined {
  const below = entries.find((one) => one.path.startsWith(`${path}/{`) && !one.path.slice(path.length + 1).includes('/'));
  const { items = {} } = outputOf(operation, document) ?? {};
  const { properties = {}, required = [] } = resolve(items, document).schema;
  const named = below?.names.at(-1);
  if (named !== undefined && Object.hasOwn(properties, named)) return named;
  return required.find((name) => Object.hasOwn(properties, name)) ?? (command.verb === 'list' ? Object.keys(properties)[0] : undefined);
}

/** The name, then what fits into a cell. */
function chooseColumns(fields: ReturnType<typeof columnsOf>, nameField: string | undefined): readonly string[] {
  const isShort = ([name, schema]: readonly [string, ReturnType<typeof columnsOf>[string]]): boolean =>
    name !== nameField &&
    name !== 'labels' &&
    schema['x-secret'] !== true &&
    ['string', 'boolean', 'integer', 'number'].includes(String(schema.type)) &&
    (schema.maxLength ?? 0) <= 512 &&
    schema.contentEncoding === undefined &&
    !textOf(schema.examples?.[0]).includes('-----BEGIN');
  const rank = ({ type }: ReturnType<typeof columnsOf>[string]): number => ['string', 'integer', 'number', 'boolean'].indexOf(textOf(type));
  const short = Object.entries(fields)
    .filter(isShort)
    .toSorted(([, left], [, right]) => rank(left) - rank(right))
    .map(([name]) => name);
  const others = Object.keys(fields).filter((name) => name !== nameField && !short.includes(name) && fields[name]?.['x-secret'] !== true);
  const chosen = [...(nameField === undefined ? [] : [nameField]), ...short];
  return (chosen.length < 3 ? [...chosen, ...others] : chosen).slice(0, mostColumns);
}
