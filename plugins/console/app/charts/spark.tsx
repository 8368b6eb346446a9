// A small graph of one series, with its present value in words: the graph is a picture of what the words say.
import type { ComponentChildren } from 'preact';

export type SparkProps = {
  readonly title: string;
  /** the present value */
  readonly now: string;
  readonly unit?: string;
  /** further text about it */
  readonly note?: string | undefined;
  /** oldest first; undefined: nothing is known of that time */
  readonly values: readonly (number | undefined)[];
  /** number of values that the width stands for */
  readonly most: number;
};

const width = 240;
const height = 44;

export function Spark({ title, now, unit, note, values, most }: SparkProps): ComponentChildren {
  const known = values.filter((value) => value !== undefined);
  const top = Math.max(...known, 0) || 1;
  const x = (index: number): number => ((index + most - values.length) / Math.max(1, most - 1)) * width;
  const y = (value: number): number => height - 2 - (value / top) * (height - 6);
  const points = values.flatMap((value, index) => (value === undefined ? [] : [`${x(index).toFixed(1)},${y(value).toFixed(1)}`]));
  return (
    <div class="spark">
      <h3>{title}</h3>
      <p>
        <span class="figure">{now}</span> {unit !== undefined && <span class="quiet">{unit}</span>}
      </p>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        {points.length > 1 && (
          <>
            <polygon points={`${x(0).toFixed(1)},${height} ${points.join(' ')} ${width},${height}`} />
            <polyline points={points.join(' ')} vector-effect="non-scaling-stroke" />
          </>
        )}
      </svg>
      {note !== undefined && <p class="quiet">{note}</p>}
    </div>
  );
}
