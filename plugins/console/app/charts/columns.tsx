// Columns over time as a picture, with the same numbers as a table for those who do not see it.
import type { ComponentChildren } from 'preact';
import { DataTable } from '../marks/data-table.tsx';
import type { Tone } from '../parts/chip.tsx';
import { locale } from '../language/language.ts';

export type Column = {
  /** time that it covers, for people */
  readonly label: string;
  readonly value: number;
  /** says that a person should act on what it counts, now or soon */
  readonly tone?: Extract<Tone, 'warn' | 'bad'> | undefined;
};

export type ColumnsProps = { readonly title: string; readonly columns: readonly Column[]; readonly unit: string };

const [width, height] = [600, 120];

export function Columns({ title, columns, unit }: ColumnsProps): ComponentChildren {
  const most = Math.max(1, ...columns.map(({ value }) => value));
  const step = width / Math.max(1, columns.length);
  const [first, last] = [columns[0]?.label ?? '', columns.at(-1)?.label ?? ''];
  return (
    <figure class="columns">
      <figcaption>{title}</figcaption>
      <span class="quiet most">{most.toLocaleString(locale)}</span>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={`${title}, from ${first} to ${last}`}>
        <line x1="0" x2={width} y1={height - 0.5} y2={height - 0.5} />
        {columns.map(({ label, value, tone }, index) => (
          <rect
            key={index}
            class={tone ?? ''}
            x={index * step + step * 0.1}
            width={step * 0.8}
            y={height - (value / most) * height}
            height={(value / most) * height}
          >
            <title>{`${label}: ${value.toLocaleString(locale)} ${unit}`}</title>
          </rect>
        ))}
      </svg>
      <div class="ends quiet" aria-hidden="true">
        <span>{first}</span>
        <span>{last}</span>
      </div>
      <details>
        <summary>As a table</summary>
        <DataTable
          label={title}
          columns={[
            { head: 'When', is: 'name', cell: ({ label }) => label },
            { head: unit, is: 'amount', cell: ({ value }) => value.toLocaleString(locale) },
          ]}
          rows={columns.filter(({ value }) => value > 0)}
          keyOf={({ label }) => label}
        />
      </details>
    </figure>
  );
}
