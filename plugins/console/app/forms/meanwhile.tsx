// Changes by somebody else between the opening of a form and its sending: each field as it was, as it is, and as it was to be sent.
import type { ComponentChildren } from 'preact';
import { titleOf } from '../description/catalog.ts';
import { textOf } from '../description/schema.ts';
import { DataTable } from '../marks/data-table.tsx';
import { visible } from '../parts/visible.ts';
import { changedPaths } from './changed-paths.ts';
import { valueAt } from './draft.ts';

export type MeanwhileProps = {
  /** the document as the form showed it */
  readonly before: unknown;
  readonly now: unknown;
  /** value that the person wanted to send */
  readonly yours: unknown;
};

export function Meanwhile(props: MeanwhileProps): ComponentChildren {
  const { before, now, yours } = props;
  const paths = changedPaths(before, now);
  if (paths.length === 0) return null;
  return (
    <section class="card" aria-labelledby="meanwhile">
      <h2 id="meanwhile">Changed by somebody else meanwhile</h2>
      <p class="quiet">The form below has the present values, and yours where you typed. Look at both, then save again.</p>
      <DataTable
        label="Fields that differ"
        columns={[
          { head: 'Field', is: 'name', cell: (path) => path.split('/').map(titleOf).join(' › ') },
          { head: 'When you opened it', cell: (path) => <Version value={valueAt(before, path)} absent="not set" /> },
          { head: 'Now', cell: (path) => <Version value={valueAt(now, path)} absent="not set" /> },
          { head: 'Yours', cell: (path) => <Version value={valueAt(yours, path)} absent="not changed" /> },
        ]}
        rows={paths}
        keyOf={(path) => path}
      />
    </section>
  );
}

function Version({ value, absent }: { readonly value: unknown; readonly absent: string }): ComponentChildren {
  if (value === undefined) return <span class="quiet">{absent}</span>;
  if (value === null) return <span class="quiet">removed</span>;
  return <bdi>{visible(textOf(value), 'lines')}</bdi>;
}
