// Trimming a key: which versions go, what can never be opened afterwards, and the request.
import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Entry } from '../../description/catalog.ts';
import { Act } from '../../forms/act.tsx';
import { visible } from '../../parts/visible.ts';
import { locale } from '../../language/language.ts';
import { lostBelow, numbersOf, type KeyState } from './state.ts';

export type TrimProps = {
  readonly entry: Entry;
  readonly names: readonly string[];
  readonly state: KeyState;
  /** the oldest version to keep, which the timeline marks */
  readonly oldest: Signal<number | undefined>;
  readonly onDone: () => void;
};

export function Trim({ entry, names, state, oldest, onDone }: TrimProps): ComponentChildren {
  const { value } = oldest;
  const kept = numbersOf(state)
    .filter((number) => number > (state['oldest-version'] ?? 1))
    .slice(0, 500);
  return (
    <details class="panel" onToggle={({ currentTarget }) => !currentTarget.open && (oldest.value = undefined)}>
      <summary>Trim old versions</summary>
      <p>Destroys the material of old versions for good. Choose the oldest version to keep: the list above marks what goes.</p>
      <Act
        entry={entry}
        names={names}
        body={{ version: value ?? 0 }}
        does="Destroy these versions"
        lacks={value === undefined ? 'Choose a version first.' : undefined}
        confirm={value === undefined ? undefined : { name: visible(state.name), what: whatEnds(state, value) }}
        onDone={onDone}
      >
        <div class="field">
          <label for="trim-oldest">Oldest version to keep</label>
          <select
            id="trim-oldest"
            value={value ?? ''}
            onChange={({ currentTarget }) => (oldest.value = currentTarget.value === '' ? undefined : Number(currentTarget.value))}
          >
            <option value="">none chosen</option>
            {kept.map((number) => (
              <option key={number} value={number}>
                version {number}
                {number === state['latest-version'] ? ' (the newest)' : ''}
              </option>
            ))}
          </select>
        </div>
      </Act>
    </details>
  );
}

/** Sentences about keys that neither encrypt here nor sign, by their use. */
const lostUses: Readonly<Record<string, string>> = {
  agree: 'What others sealed to their public keys can never be opened again.',
  mac: 'The MACs that they made can no longer be verified.',
};

/** The preview in a sentence. */
function whatEnds(state: KeyState, oldest: number): string {
  const { ended, values } = lostBelow(state, oldest);
  const [first, last] = [ended[0], ended.at(-1)];
  const which = first === last ? `version ${first}` : `the versions ${first} to ${last}`;
  const lost =
    state['supports-encryption'] === true
      ? values === 0
        ? 'As far as counted, all their values were rewrapped to a newer version.'
        : `${values.toLocaleString(locale)} ${values === 1 ? 'value was' : 'values were'} not rewrapped: nothing can ever open ${values === 1 ? 'it' : 'them'} again.`
      : (lostUses[state.use ?? ''] ??
        'What they signed can no longer be verified here; their public keys stay valid where they are known.');
  return `This destroys ${which}. ${lost}`;
}
