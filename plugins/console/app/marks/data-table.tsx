// A table of rows with named columns. On a narrow page each row is a block, with the names of the columns beside its values, so that nothing
// has to be scrolled sideways. The roles are said, because some browsers take a table that is drawn as blocks for no table.
import type { ComponentChildren } from 'preact';

export type Column<Row> = {
  /** text above the column, and on a narrow page beside each value */
  readonly head: string;
  /** `name` is the heading of its row, an `amount` is at the right, of `acts` the head is only read aloud, and a `picture` repeats what is said */
  readonly is?: 'name' | 'amount' | 'acts' | 'picture';
  readonly cell: (row: Row) => ComponentChildren;
};

export type DataTableProps<Row> = {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** key of a row, different for each */
  readonly keyOf: (row: Row, index: number) => string | number;
  /** content below a row, over the whole width */
  readonly below?: (row: Row) => { readonly id: string; readonly content: ComponentChildren } | undefined;
};

export function DataTable<Row>({ label, columns, rows, keyOf, below }: DataTableProps<Row>): ComponentChildren {
  return (
    <div class="table" role="region" tabIndex={0} aria-label={label}>
      <table role="table">
        <caption class="unseen">{label}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ head, is }) => (
              <th key={head} role="columnheader" scope="col" class={is}>
                {is === 'acts' || is === 'picture' ? <span class="unseen">{head}</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.flatMap((row, index) => {
            const key = keyOf(row, index);
            const more = below?.(row);
            return [
              <tr key={key} role="row">
                {columns.map((column) => (
                  <Cell key={column.head} column={column} row={row} />
                ))}
              </tr>,
              ...(more === undefined
                ? []
                : [
                    <tr key={`${key} below`} role="row">
                      <td role="cell" colSpan={columns.length} id={more.id}>
                        {more.content}
                      </td>
                    </tr>,
                  ]),
            ];
          })}
        </tbody>
      </table>
    </div>
  );
}

function Cell<Row>({ column: { head, is, cell }, row }: { readonly column: Column<Row>; readonly row: Row }): ComponentChildren {
  const content = cell(row);
  if (is === 'name')
    return (
      <th role="rowheader" scope="row">
        {content}
      </th>
    );
  if (content === '' || content === null || content === undefined || content === false) return <td role="cell" class="nothing" />;
  return (
    <td role="cell" class={is} data-head={is === undefined || is === 'amount' ? head : undefined}>
      <div>{content}</div>
    </td>
  );
}
