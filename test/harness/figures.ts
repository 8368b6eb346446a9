// Writes the files of figures that benchmarks measure.
import type { Figures } from '../../appliance/docs/performance/figures.ts';

/** The text of a file of figures, with as many digits as mean something. */
export function formatFigures(found: Figures): string {
  const rounded = (_name: string, value: unknown): unknown => (typeof value === 'number' ? Number(value.toPrecision(4)) : value);
  return `${JSON.stringify(found, rounded, 1)}\n`;
}
