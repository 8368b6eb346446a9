// The versions of a key on one axis of time, the newest first: what each could do and when, with the same in words beside it.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Chip, type Tone } from '../../parts/chip.tsx';
import { Exact, Moment } from '../../times/moments.tsx';
import { comingOf, mostEncryptions, numbersOf, spansOf, type KeyState, type Status, type Usage, type VersionState } from './state.ts';
import { dayText } from '../../times/times.ts';
import { locale, said } from '../../language/language.ts';

/** Versions that are shown at first. */
const shownAtFirst = 12;
const mostShown = 500;
/** Units of the drawing; it is stretched to the width there is. */
const width = 1_000;
const height = 12;

const tones: Readonly<Record<Status, Tone>> = { active: 'good', pending: 'quiet', deprecated: 'warn', invalidated: 'bad', disabled: 'bad' };
const words: Readonly<Record<Status, string>> = {
  active: 'active',
  pending: 'waits to be used',
  deprecated: 'only decrypts and verifies',
  invalidated: 'can no longer be used',
  disabled: 'is disabled',
};

/** The height of a bar says the same as its colour. */
const heights: Readonly<Record<Status, number>> = { active: 12, pending: 4, deprecated: 7, invalidated: 2, disabled: 2 };

type Axis = { readonly fromMs: number; readonly nowMs: number; readonly toMs: number };

export type TimelineProps = {
  readonly state: KeyState;
  /** versions below it would end by a trim that is being prepared */
  readonly endsBelow: number | undefined;
};

export function Timeline({ state, endsBelow = 0 }: TimelineProps): ComponentChildren {
  const isWhole = useSignal(false);
  const numbers = numbersOf(state);
  const shown = numbers.slice(0, isWhole.value ? mostShown : shownAtFirst);
  const { versions = {}, usage = {} } = state;
  if (shown.length === 0) return <p class="quiet">Your policies hide the versions of this key.</p>;
  const axis = axisOf(state, shown);
  return (
    <div class="timeline">
      <div class="axis quiet" aria-hidden="true">
        <span>{dayText(axis.fromMs)}</span>
        <span>{axis.toMs > axis.nowMs ? dayText(axis.toMs) : 'now'}</span>
      </div>
      <ol class="plain">
        {shown.map((number) => {
          const version = versions[String(number)];
          if (version === undefined) return null;
          const isGoing = number < endsBelow;
          return (
            <li key={number} class={isGoing ? 'version going' : 'version'}>
              <div class="version-head">
                <strong>Version {number}</strong>
                <Chip tone={isGoing ? 'bad' : tones[version.status]}>{isGoing ? 'would be destroyed' : words[version.status]}</Chip>
              </div>
              <Bar version={version} axis={axis} />
              <VersionFacts version={version} usage={usage[String(number)]} encrypts={state['supports-encryption'] === true} />
            </li>
          );
        })}
      </ol>
      {numbers.length > shown.length && !isWhole.value && (
        <button type="button" onClick={() => (isWhole.value = true)}>
          Show {(Math.min(numbers.length, mostShown) - shown.length).toLocaleString(locale)} older versions
        </button>
      )}
    </div>
  );
}

function Bar({ version, axis }: { readonly version: VersionState; readonly axis: Axis }): ComponentChildren {
  const { fromMs, nowMs, toMs } = axis;
  const place = (atMs: number): number => Math.round(((atMs - fromMs) / (toMs - fromMs)) * width);
  return (
    <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      {spansOf(version, toMs).map((span) => (
        <rect
          key={span.status}
          class={span.status}
          x={place(span.fromMs)}
          y={(height - heights[span.status]) / 2}
          width={Math.max(3, place(span.toMs) - place(span.fromMs))}
          height={heights[span.status]}
        />
      ))}
      <rect class="now" x={place(nowMs) - 1} y={0} width={2} height={height} />
    </svg>
  );
}

/** Everything that the bar says, and how much the version was used. */
function VersionFacts({
  version: { created, activates, superseded, deprecates, invalidates },
  usage,
  encrypts,
}: {
  readonly version: VersionState;
  readonly usage: Usage | undefined;
  readonly encrypts: boolean;
}): ComponentChildren {
  const times = [
    [said('made'), created],
    ['in use from', activates],
    ['followed by the next', superseded],
    [encrypts ? 'no encryption from' : 'no signatures from', deprecates],
    [encrypts ? 'no decryption from' : 'no verification from', invalidates],
  ].flatMap(([label, at]) => (label === undefined || at === undefined ? [] : [{ label, at }]));
  return (
    <ul class="facts quiet">
      {times.map(({ label, at }) => (
        <li key={label}>
          {label} <Exact at={at} />
        </li>
      ))}
      {usage !== undefined && <UsageFact usage={usage} encrypts={encrypts} />}
    </ul>
  );
}

function UsageFact({ usage, encrypts }: { readonly usage: Usage; readonly encrypts: boolean }): ComponentChildren {
  const { uses, 'uses-at-most': atMost, 'not-rewrapped': left, 'last-used': lastUsed } = usage;
  if (uses === 0) return <li>not used yet</li>;
  const share = atMost / mostEncryptions;
  return (
    <>
      <li>
        {uses.toLocaleString(locale)} {uses === 1 ? 'use' : 'uses'}
        {left !== undefined && left < uses && `, ${(uses - left).toLocaleString(locale)} of them rewrapped to a newer version`}
      </li>
      {lastUsed !== undefined && (
        <li>
          last used <Moment at={lastUsed} />
        </li>
      )}
      {encrypts && share >= 0.5 && (
        <li>
          <Chip tone="warn">{Math.floor(share * 100)} % of the 2³² encryptions that a version may make: rotate the key</Chip>
        </li>
      )}
    </>
  );
}

/** Axis from the oldest version shown to the last coming event, or to now. */
function axisOf(state: KeyState, shown: readonly number[]): Axis {
  const nowMs = Date.now();
  const made = shown.map((number) => Date.parse(state.versions?.[String(number)]?.created ?? ''));
  const fromMs = Math.min(...made, nowMs - 60_000);
  const last = comingOf(state, nowMs).at(-1)?.atMs ?? nowMs;
  // A timer years ahead would press the past into a corner.
  const toMs = Math.min(last, nowMs + Math.max(2 * (nowMs - fromMs), 86_400_000));
  return { fromMs, nowMs, toMs: toMs === last && last > nowMs ? toMs + (toMs - fromMs) * 0.02 : toMs };
}
