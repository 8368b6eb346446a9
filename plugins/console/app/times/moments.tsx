// Times for people: how long ago or ahead, with the exact time behind it.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { copyText } from '../clipboard/copy.ts';
import { language, said } from '../language/language.ts';
import { momentOf } from './times.ts';

const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });

/** Units, from the largest, of which the first that fits is used. */
const units: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

/** `in 3 months`, `2 days ago`, `now`. */
export function fromNow(atMs: number, nowMs = Date.now()): string {
  const seconds = (atMs - nowMs) / 1_000;
  const [unit, length] = units.find(([, one]) => Math.abs(seconds) >= one * 1.5) ?? ['second', 1];
  return Math.abs(seconds) < 1.5 ? said('now') : relative.format(Math.round(seconds / length), unit);
}

/** A timestamp of the API: how far away it is, and the exact time for who points at it or has it in focus. */
export function Moment({ at }: { readonly at: string }): ComponentChildren {
  return <When at={at}>{fromNow(Date.parse(at))}</When>;
}

export type WhenProps = { readonly at: string; readonly children: ComponentChildren };

/** Words for a time, and the exact one beside them. A click copies the value of the API. */
export function When({ at, children }: WhenProps): ComponentChildren {
  return (
    <Copied at={at} look="moment" beside={momentOf(at) ?? at}>
      {children}
    </Copied>
  );
}

/** A timestamp of the API as date and time of the reader. A click copies the value of the API, which is its title. */
export function Exact({ at }: { readonly at: string }): ComponentChildren {
  return (
    <Copied at={at} look="moment whole-moment">
      {momentOf(at) ?? at}
    </Copied>
  );
}

/** A timestamp in a row of which there are hundreds, each with its own way to the whole: nothing to stop at. */
export function PlainTime({ at }: { readonly at: string }): ComponentChildren {
  return (
    <time dateTime={at} title={at}>
      {momentOf(at) ?? at}
    </time>
  );
}

type CopiedProps = WhenProps & { readonly look: string; readonly beside?: string };

function Copied({ at, look, beside, children }: CopiedProps): ComponentChildren {
  const outcome = useSignal<string | undefined>(undefined);
  const copy = async (): Promise<void> => {
    try {
      await copyText(at);
      outcome.value = `copied: ${at}`;
    } catch {
      outcome.value = at;
    }
  };
  const told = outcome.value ?? beside;
  return (
    <button type="button" class={look} title={at} onClick={() => void copy()} onBlur={() => (outcome.value = undefined)}>
      <time dateTime={at}>{children}</time>
      {told !== undefined && <span class="exact"> ({told})</span>}
    </button>
  );
}
