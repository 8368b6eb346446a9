// Durations of each operation in a token, as bars that can be compared.
import type { ComponentChildren } from 'preact';
import { titleOf } from '../../description/catalog.ts';
import { DataTable, type Column } from '../../marks/data-table.tsx';
import { locale } from '../../language/language.ts';
import type { Latency } from './state.ts';

type Measured = Latency & { readonly name: string };

export function Latencies({ latencies }: { readonly latencies: Readonly<Record<string, Latency>> }): ComponentChildren {
  const rows = Object.entries(latencies).flatMap(([name, one]): Measured[] => (one.count > 0 ? [{ name, ...one }] : []));
  if (rows.length === 0) return <p class="quiet">No operation was measured yet.</p>;
  const most = Math.max(...rows.map(({ p99 }) => p99));
  return (
    <section class="card">
      <h3>How long operations take</h3>
      <DataTable
        label="Latencies"
        columns={[...columns, { head: 'Picture', is: 'picture', cell: (row) => <Bars row={row} most={most} /> }]}
        rows={rows.toSorted((left, right) => right.count - left.count)}
        keyOf={({ name }) => name}
      />
    </section>
  );
}

const columns: readonly Column<Measured>[] = [
  { head: 'Operation', is: 'name', cell: ({ name }) => titleOf(name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)) },
  { head: 'Calls', is: 'amount', cell: ({ count }) => count.toLocaleString(locale) },
  { head: 'Median', is: 'amount', cell: ({ p50 }) => durationOf(p50) },
  { head: '99th percentile', is: 'amount', cell: ({ p99 }) => durationOf(p99) },
];

function Bars({ row: { p50, p99 }, most }: { readonly row: Measured; readonly most: number }): ComponentChildren {
  return (
    <svg class="bar-pair" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect class="tail" width={(p99 / most) * 100} height="10" />
      <rect width={(p50 / most) * 100} height="10" />
    </svg>
  );
}

/** Formats microseconds: `41 µs`, `1.2 ms`. */
function durationOf(micros: number): string {
  if (micros < 1_000) return `${micros.toLocaleString(locale, { maximumFractionDigits: micros < 10 ? 1 : 0 })} µs`;
  const ms = micros / 1_000;
  if (ms < 1_000) return `${ms.toLocaleString(locale, { maximumFractionDigits: ms < 10 ? 1 : 0 })} ms`;
  return `${(ms / 1_000).toLocaleString(locale, { maximumFractionDigits: 1 })} s`;
}
