// A table of rows with named columns. On a narrow page each row is a block, with the names of the columns beside its values, so that nothing
// has to be scrolled sideways. The roles are said, because some browsers take a table that is drawn as blocks for no table.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

export type Column<Row> = {
  /** text above the column, and on a narrow page beside each value */
  readonly head: string;
  /** `name` is the heading of its row, an `amount` is at the right, of `acts` the head is only read aloud, and a `picture` repeats what is said */
  readonly is?: 'name' | 'amount' | 'acts' | 'picture';
  readonly cell: (row: Row) => ComponentChildren;
  /** value by which its rows are put in order; absent: the column has no order of its own */
  readonly order?: (row: Row) => string | number | undefined;
};

export type DataTableProps<Row> = {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** key of a row, different for each */
  readonly keyOf: (row: Row, index: number) => string | number;
  /** true if all rows there are are shown: an order of some of many would mislead */
  readonly isWhole?: boolean;
  /** content below a row, over the whole width */
  readonly below?: (row: Row) => { readonly id: string; readonly content: ComponentChildren } | undefined;
};

export function DataTable<Row>({ label, columns, rows: given, keyOf, below, isWhole = false }: DataTableProps<Row>): ComponentChildren {
  const sorted = useSignal<Sorted | undefined>(undefined);
  const rows = inOrder(given, columns, sorted.value);
  return (
    <div class="table" role="region" tabIndex={0} aria-label={label}>
      <table role="table">
        <caption class="unseen">{label}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ head, is, order }) => (
              <th
                key={head}
                role="columnheader"
                scope="col"
                class={is}
                aria-sort={sorted.value?.head === head ? (sorted.value.isDown ? 'descending' : 'ascending') : undefined}
              >
                {is === 'acts' || is === 'picture' ? (
                  <span class="unseen">{head}</span>
                ) : isWhole && order !== undefined && given.length > 1 ? (
                  <button type="button" class="link sorter" onClick={() => (sorted.value = turned(sorted.value, head))}>
                    {head} <span aria-hidden="true">{sorted.value?.head === head ? (sorted.value.isDown ? '▾' : '▴') : ''}</span>
                  </button>
                ) : (
                  head
                )}
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

type Sorted = { readonly head: string; readonly isDown: boolean };

/** Up, down, and back to the order of the appliance. */
function turned(sorted: Sorted | undefined, head: string): Sorted | undefined {
  if (sorted?.head !== head) return { head, isDown: false };
  return sorted.isDown ? undefined : { head, isDown: true };
}

/** Rows without a value come last, whichever way. */
function inOrder<Row>(rows: readonly Row[], columns: readonly Column<Row>[], sorted: Sorted | undefined): readonly Row[] {
  const order = columns.find(({ head }) => head === sorted?.head)?.order;
  if (order === undefined || sorted === undefined) return rows;
  return rows.toSorted((left, right) => {
    const [one, other] = [order(left), order(right)];
    if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined);
    const difference =
      typeof one === 'number' && typeof other === 'number'
        ? one - other
        : String(one).localeCompare(String(other), undefined, { numeric: true });
    return sorted.isDown ? -difference : difference;
  });
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
