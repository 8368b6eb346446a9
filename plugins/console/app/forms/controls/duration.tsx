// A time: typed as the API spells it, with usual ones to choose, and when it ends if it begins now.
import type { ComponentChildren } from 'preact';
import { decodeDuration } from '../../../../../core/base/time.ts';
import { dayText, timeText } from '../../times/times.ts';
import { exampleOf, plainInput, shown, type Control, type ControlProps } from './control.ts';

/** Times that people choose, shortest first. */
const usual = ['10m', '1h', '8h', '1d', '7d', '30d', '90d', '1y', '10y'] as const;
const dayMs = 86_400_000;

export function DurationControl(props: ControlProps & { readonly control: Control }): ComponentChildren {
  const { control, onType } = props;
  const text = shown(props);
  const seconds = decodeDuration(text.trim())?.seconds;
  return (
    <div class="duration">
      <input
        type="text"
        list={`${control.id}-usual`}
        {...plainInput}
        {...control}
        value={text}
        placeholder={exampleOf(props)}
        onInput={(event) => onType(event.currentTarget.value)}
      />
      <datalist id={`${control.id}-usual`}>
        {usual.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <span class="quiet" role="status">
        {text.trim() !== '' && (seconds === undefined ? 'a number and y, d, h, m or s' : `from now: ${endOf(seconds * 1_000)}`)}
      </span>
    </div>
  );
}

function endOf(ms: number): string {
  const at = Date.now() + ms;
  return ms < dayMs ? timeText(at) : dayText(at);
}
