// Numbers over time as bars, in two kinds, with a part of the time that is chosen by dragging or, by keyboard, with two sliders.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { timeText } from '../times/times.ts';
import { locale } from '../language/language.ts';

export type Bin = { readonly good: number; readonly bad: number };

export type HistogramProps = {
  readonly label: string;
  readonly bins: readonly Bin[];
  readonly fromMs: number;
  readonly toMs: number;
  /** a part of the time, when it was chosen */
  readonly onChoose: (fromMs: number, toMs: number) => void;
};

const width = 600;
const height = 90;

/** First and last bin of what is being chosen. */
type Choice = { readonly first: number; readonly last: number };

/** Long because it is one picture from top to bottom. */
export function Histogram({ label, bins, fromMs, toMs, onChoose }: HistogramProps): ComponentChildren {
  const choice = useSignal<Choice | undefined>(undefined);
  const start = useSignal<number | undefined>(undefined);
  const drawing = useRef<SVGSVGElement>(null);
  const last = bins.length - 1;
  const most = Math.max(1, ...bins.map(({ good, bad }) => good + bad));
  const step = (toMs - fromMs) / Math.max(1, bins.length);
  const timeAt = (bin: number): string => timeText(fromMs + bin * step);
  const binAt = (event: PointerEvent): number => {
    const { left, width: wide } = drawing.current?.getBoundingClientRect() ?? { left: 0, width: 1 };
    return Math.min(last, Math.max(0, Math.floor(((event.clientX - left) / wide) * bins.length)));
  };
  const choose = ({ first, last: end }: Choice): void => onChoose(fromMs + first * step, fromMs + (end + 1) * step);
  const move = (event: PointerEvent): void => {
    if (start.value === undefined) return;
    const here = binAt(event);
    choice.value = { first: Math.min(start.value, here), last: Math.max(start.value, here) };
  };
  const { first: chosenFirst, last: chosenLast } = choice.value ?? { first: 0, last };
  const slide = (part: Partial<Choice>): void => {
    const next = { first: chosenFirst, last: chosenLast, ...part };
    choice.value = { first: Math.min(next.first, next.last), last: Math.max(next.first, next.last) };
  };
  const total = bins.reduce((sum, { good, bad }) => sum + good + bad, 0);
  const refused = bins.reduce((sum, { bad }) => sum + bad, 0);
  return (
    <figure class="histogram">
      <svg
        ref={drawing}
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: ${total.toLocaleString(locale)} records, ${refused.toLocaleString(locale)} of them refused, at most ${most.toLocaleString(locale)} in a bar`}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          start.value = binAt(event);
          move(event);
        }}
        onPointerMove={move}
        onPointerUp={() => {
          if (start.value !== undefined && choice.value !== undefined && choice.value.last > choice.value.first) choose(choice.value);
          start.value = undefined;
        }}
        onPointerCancel={() => {
          start.value = undefined;
          choice.value = undefined;
        }}
      >
        {choice.value !== undefined && (
          <rect
            class="chosen"
            x={(chosenFirst / bins.length) * width}
            width={((chosenLast - chosenFirst + 1) / bins.length) * width}
            y={0}
            height={height}
          />
        )}
        {bins.map(({ good, bad }, index) => {
          const [x, wide] = [(index / bins.length) * width + 0.5, width / bins.length - 1];
          const [tall, tallBad] = [((good + bad) / most) * (height - 4), (bad / most) * (height - 4)];
          return (
            <g key={index}>
              {good + bad > 0 && <rect class="good" x={x} width={wide} y={height - Math.max(2, tall)} height={Math.max(2, tall)} />}
              {bad > 0 && <rect class="bad" x={x} width={wide} y={height - Math.max(2, tallBad)} height={Math.max(2, tallBad)} />}
            </g>
          );
        })}
      </svg>
      <figcaption class="quiet">
        <span>{timeAt(0)}</span>
        <span>{timeAt(bins.length)}</span>
      </figcaption>
      <details>
        <summary>Choose a time by keyboard</summary>
        <div class="sliders">
          <Slider label="From" value={chosenFirst} most={last} says={timeAt(chosenFirst)} onSlide={(first) => slide({ first })} />
          <Slider label="To" value={chosenLast} most={last} says={timeAt(chosenLast + 1)} onSlide={(end) => slide({ last: end })} />
          <button type="button" onClick={() => choose({ first: chosenFirst, last: chosenLast })}>
            Show this time
          </button>
        </div>
      </details>
    </figure>
  );
}

type SliderProps = {
  readonly label: string;
  readonly value: number;
  readonly most: number;
  readonly says: string;
  readonly onSlide: (value: number) => void;
};

function Slider({ label, value, most, says, onSlide }: SliderProps): ComponentChildren {
  return (
    <label class="slider">
      <span>
        {label} <span class="quiet">{says}</span>
      </span>
      <input
        type="range"
        min={0}
        max={most}
        step={1}
        value={value}
        aria-valuetext={says}
        onInput={(event) => onSlide(Number(event.currentTarget.value))}
      />
    </label>
  );
}
