// How long a token takes for each operation, as bars that can be compared.
import type { ComponentChildren } from 'preact';
import { titleOf } from '../../description/catalog.ts';
import type { Latency } from './state.ts';

export function Latencies({ latencies }: { readonly latencies: Readonly<Record<string, Latency>> }): ComponentChildren {
  const rows = Object.entries(latencies).filter(([, { count }]) => count > 0);
  if (rows.length === 0) return <p class="quiet">No operation was measured yet.</p>;
  const most = Math.max(...rows.map(([, { p99 }]) => p99));
  return (
    <section class="card">
      <h3>How long operations take</h3>
      <div class="table" role="region" tabIndex={0} aria-label="Latencies">
        <table>
          <thead>
            <tr>
              <th scope="col">Operation</th>
              <th scope="col">Calls</th>
              <th scope="col">Median</th>
              <th scope="col">99th percentile</th>
              <th scope="col">
                <span class="unseen">Picture</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows
              .toSorted(([, left], [, right]) => right.count - left.count)
              .map(([name, { count, p50, p99 }]) => (
                <tr key={name}>
                  <th scope="row">{titleOf(name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`))}</th>
                  <td class="number">{count.toLocaleString('en')}</td>
                  <td class="number">{durationOf(p50)}</td>
                  <td class="number">{durationOf(p99)}</td>
                  <td class="wide">
                    <svg class="bar-pair" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
                      <rect class="tail" width={(p99 / most) * 100} height="10" />
                      <rect width={(p50 / most) * 100} height="10" />
                    </svg>
                  </td>
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** Of microseconds: `41 µs`, `1.2 ms`. */
function durationOf(micros: number): string {
  if (micros < 1_000) return `${micros.toLocaleString('en', { maximumFractionDigits: micros < 10 ? 1 : 0 })} µs`;
  const ms = micros / 1_000;
  if (ms < 1_000) return `${ms.toLocaleString('en', { maximumFractionDigits: ms < 10 ? 1 : 0 })} ms`;
  return `${(ms / 1_000).toLocaleString('en', { maximumFractionDigits: 1 })} s`;
}
