// A list of the API: a page of a hundred by cursor, the number of all, and the filters that the list takes.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { fillPath } from '../address/path.ts';
import { address, hrefOf } from '../address/router.ts';
import type { Catalog, Entry, Place } from '../description/catalog.ts';
import { nameOf, titleOf } from '../description/catalog.ts';
import { columnsOf, outputOf, resolve, textOf } from '../description/schema.ts';
import { FilterBar } from '../lists/filter-bar.tsx';
import { ListCount, ListPages, NoEntries, rowsOfPage } from '../lists/list-pages.tsx';
import { filterQuery, filtersOf } from '../lists/query.ts';
import { DataTable, type Column } from '../marks/data-table.tsx';
import { Labels } from '../marks/labels.tsx';
import { AllowedLink } from '../parts/allowed.tsx';
import { Heading, Refresh } from '../parts/heading.tsx';
import { isDenied, useLoaded } from '../parts/loaded.ts';
import { Prose } from '../parts/prose.tsx';
import { Value } from '../parts/value.tsx';
import { visible } from '../parts/visible.ts';
import { locale, said } from '../language/language.ts';
import { drawnAt } from './drawn.ts';
import { purposeOf } from '../description/purposes.ts';
import { Awaited } from '../parts/loading.tsx';

const mostColumns = 6;

export type ListProps = {
  readonly catalog: Catalog;
  readonly place: Place;
  readonly entry: Entry;
  readonly create: Entry | undefined;
};

export function ListView({ catalog, place, entry, create }: ListProps): ComponentChildren {
  const { names } = place;
  const { document } = catalog;
  const { operation } = entry;
  const path = fillPath(entry.path, names);
  const takes = (name: string): boolean => operation.parameters.some((parameter) => parameter.in === 'query' && parameter.name === name);
  const fields = columnsOf(operation, document);
  const nameField = nameFieldOf(catalog, entry);
  const columns = chooseColumns(fields, nameField);
  const turn = useSignal(0);
  const asked = filterQuery(operation, address.value.query);
  const loaded = useLoaded(
    {
      method: 'GET',
      path,
      query: {
        ...(takes('limit') ? { limit: String(rowsOfPage) } : {}),
        ...asked,
        ...(takes('fields') ? { fields: columns.join(',') } : {}),
      },
    },
    turn.value,
  ).value;
  const isRefused = loaded.state === 'failed' && isDenied(loaded.error);
  const isFiltered = Object.keys(asked).length > 0;
  // There is nothing to choose from.
  const isEmpty = !isFiltered && loaded.state === 'there' && Array.isArray(loaded.answer.body) && loaded.answer.body.length === 0;
  const title = nameOf(entry);
  const Drawn = drawnAt(place, 'above');
  return (
    <>
      <Heading catalog={catalog} title={title} path={path}>
        <p class="quiet">
          <Prose text={purposeOf(entry)} />
        </p>
        <div class="buttons">
          {create !== undefined && <CreateLink create={create} names={names} words="Create" />}
          <Refresh turn={turn} />
        </div>
      </Heading>
      {Drawn !== undefined && <Drawn catalog={catalog} place={place} path={path} turn={turn.value} />}
      {!isRefused && !isEmpty && <FilterBar path={path} fields={filtersOf(operation)} />}
      <Awaited loaded={loaded} />
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
          isFiltered={isFiltered}
          create={create}
          names={names}
        />
      )}
    </>
  );
}

type CreateLinkProps = { readonly create: Entry; readonly names: readonly string[]; readonly words: string };

function CreateLink({ create, names, words }: CreateLinkProps): ComponentChildren {
  const path = fillPath(create.path, names);
  return (
    <AllowedLink operation={create.operation['x-operation']} path={path} href={hrefOf(path, { do: 'create' })} look="button primary">
      {words}
    </AllowedLink>
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
  readonly isFiltered: boolean;
  readonly create: Entry | undefined;
  readonly names: readonly string[];
};

type RowOfList = Readonly<Record<string, unknown>>;

function Rows({ catalog, entry, path, columns, nameField, rows, headers, title, isFiltered, create, names }: RowsProps): ComponentChildren {
  const { document } = catalog;
  const fields = columnsOf(entry.operation, document);
  const all = Array.isArray(rows) ? (rows as readonly unknown[]) : [];
  if (all.length === 0)
    return (
      <NoEntries isFiltered={isFiltered}>
        {create !== undefined && <CreateLink create={create} names={names} words="Create the first one" />}
      </NoEntries>
    );
  const documents = all.map((row) => (typeof row === 'object' && row !== null ? (row as RowOfList) : { [columns[0] ?? '']: row }));
  // A column that is empty in all of them says nothing.
  const told = columns.filter((column) => documents.some((row) => valueOf(row, column) !== undefined));
  const shown = told.map((column): Column<RowOfList> => {
    if (column === nameField)
      return {
        head: titleOf(column),
        is: 'name',
        cell: (row) => <EntryLink catalog={catalog} path={path} name={textOf(valueOf(row, column))} />,
        order: (row) => textOf(valueOf(row, column)),
      };
    return {
      head: titleOf(column),
      order: (row) => {
        const value = valueOf(row, column);
        return typeof value === 'number' || typeof value === 'string' ? value : value === undefined ? undefined : textOf(value);
      },
      cell: (row) => {
        const value = valueOf(row, column);
        if (value === undefined) return undefined;
        if (column === 'labels' && typeof value === 'object' && value !== null) return <Labels labels={{ ...value }} />;
        const count = countOf(value);
        return count ?? <Value value={value} schema={fields[column]} document={document} />;
      },
    };
  });
  return (
    <>
      <ListCount count={all.length} headers={headers} />
      <DataTable
        label={title}
        columns={shown}
        rows={documents}
        keyOf={(_, index) => index}
        isWhole={all.length === Number(headers.get('total-count') ?? all.length)}
      />
      <ListPages path={path} headers={headers} />
    </>
  );
}

/** Number of documents inside a document, which are too much for a cell. */
function countOf(value: unknown): string | undefined {
  const isDocument = (one: unknown): one is object => typeof one === 'object' && one !== null;
  if (!isDocument(value) || !Object.values(value).some(isDocument)) return undefined;
  if (Array.isArray(value)) return `${value.length.toLocaleString(locale)} ${said(value.length === 1 ? 'entry' : 'entries')}`;
  return Object.entries(value)
    .map(([name, one]) => (Array.isArray(one) ? `${titleOf(name)}: ${one.length.toLocaleString(locale)}` : titleOf(name)))
    .join(', ');
}

function valueOf(row: RowOfList, column: string): unknown {
  return Object.hasOwn(row, column) ? row[column] : undefined;
}

/** Links to an entry. A name that is not part of a path is shown as text. */
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
  const columns = (chosen.length < 3 ? [...chosen, ...others] : chosen).slice(0, mostColumns);
  return Object.hasOwn(fields, 'labels') && !columns.includes('labels') ? [...columns, 'labels'] : columns;
}
