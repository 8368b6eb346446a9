// A policy as a matrix: things, and how much of what can be done with them it allows.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { PolicyOperation } from '../../../../../core/access/policy/patterns.ts';
import { DataTable, type Column } from '../../marks/data-table.tsx';
import { visible } from '../../parts/visible.ts';
import { said } from '../../language/language.ts';
import { matrixOf, type Cell, type Deed, type Judge, type Row } from './judged.ts';

const heads: readonly (readonly [operation: PolicyOperation, head: string])[] = [
  ['read', 'See'],
  ['create', 'Make'],
  ['update', 'Change'],
  ['delete', 'Delete'],
  ['execute', 'Use'],
];

export function Matrix({ deeds, judge }: { readonly deeds: readonly Deed[]; readonly judge: Judge }): ComponentChildren {
  const open = useSignal<string | undefined>(undefined);
  const rows = matrixOf(deeds, judge);
  if (rows.length === 0) return <p class="quiet">It allows nothing.</p>;
  const columns: readonly Column<Row>[] = [
    { head: 'Thing', is: 'name', cell: ({ thing }) => thing },
    ...heads.map(([operation, head]): Column<Row> => ({
      head,
      cell: ({ thing, cells }) => {
        const key = `${thing} ${operation}`;
        return (
          <MatrixCell
            cell={cells[operation]}
            label={`${head}: ${thing}`}
            isOpen={open.value === key}
            onOpen={() => (open.value = open.value === key ? undefined : key)}
          />
        );
      },
    })),
  ];
  return (
    <div class="matrix">
      <DataTable
        label="Matrix of things and operations"
        columns={columns}
        rows={rows}
        keyOf={({ thing }) => thing}
        below={({ thing, cells }) => {
          const shown = heads.find(([operation]) => open.value === `${thing} ${operation}`);
          const cell = shown === undefined ? undefined : cells[shown[0]];
          if (shown === undefined || cell === undefined) return undefined;
          return { id: `matrix-${shown[0]}`, content: <Allowed words={cell.words} /> };
        }}
      />
    </div>
  );
}

type MatrixCellProps = {
  readonly cell: Cell | undefined;
  readonly label: string;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
};

function MatrixCell({ cell, label, isOpen, onOpen }: MatrixCellProps): ComponentChildren {
  if (cell === undefined) return undefined;
  const { allowed, total, words } = cell;
  if (words.length === 0) return <span class="quiet">no</span>;
  const text = allowed === total ? said('yes') : allowed === 0 ? 'some names' : `${allowed} of ${total}`;
  return (
    <button
      type="button"
      class={allowed === total ? 'small all' : 'small part'}
      aria-expanded={isOpen}
      aria-label={`${label}: ${text}`}
      onClick={onOpen}
    >
      {text}
    </button>
  );
}

function Allowed({ words }: { readonly words: readonly string[] }): ComponentChildren {
  return (
    <ul>
      {words.map((text) => (
        <li key={text}>{visible(text)}</li>
      ))}
    </ul>
  );
}
