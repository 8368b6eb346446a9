// The end of a key, in steps that can be taken back: disabled, or deleted after a time. Deleting at once is offered where the settings allow it.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Entry } from '../../description/catalog.ts';
import { Act } from '../../forms/act.tsx';
import { visible } from '../../parts/visible.ts';
import { When } from '../../times/moments.tsx';
import { fromNow } from '../../times/moments.tsx';
import { locale } from '../../language/language.ts';
import { refusedUsesOf, type KeyState } from './state.ts';

export type LifeProps = {
  /** the change of the settings; undefined if the policies refuse it */
  readonly merge: Entry | undefined;
  readonly names: readonly string[];
  readonly state: KeyState;
  readonly onDone: () => void;
};

/** Times to wait before the material is destroyed. */
const waits = ['1d', '7d', '30d', '90d'] as const;

const words = {
  title: 'Take out of use',
  disable: 'Every use is refused with 409 key-disabled, recorded and counted, until it is enabled again. Nothing is lost.',
  later: 'It is as if disabled from now on, and is destroyed when the time is over. Until then it can be taken back.',
} as const;

export function KeyLife({ merge, names, state, onDone }: LifeProps): ComponentChildren {
  const wait = useSignal<string>('30d');
  if (merge === undefined) return null;
  const { name, disabled = false, deletes } = state;
  const refused = refusedUsesOf(state);
  const change = (
    does: string,
    body: object,
    more: { readonly what?: string; readonly children?: ComponentChildren } = {},
  ): ComponentChildren => (
    <Act
      key={does}
      entry={merge}
      names={names}
      body={body}
      does={does}
      confirm={more.what === undefined ? undefined : { name: visible(name), what: more.what }}
      onDone={onDone}
    >
      {more.children}
    </Act>
  );
  return (
    <section class="card" aria-labelledby="life-title">
      <h2 id="life-title">{words.title}</h2>
      {refused > 0 && (
        <p>
          <strong>{refused.toLocaleString(locale)}</strong> {refused === 1 ? 'use was' : 'uses were'} refused: somebody still needs this
          key.
        </p>
      )}
      {deletes !== undefined ? (
        <>
          <p class="notice">
            This key is deleted <When at={deletes}>{fromNow(Date.parse(deletes))}</When>. Until then every use is refused.
          </p>
          {change('Take it back', { 'delete-after': null })}
        </>
      ) : (
        <>
          {disabled ? (
            <>
              <p class="notice">This key is disabled: every use is refused.</p>
              {change('Enable', { disabled: false })}
            </>
          ) : (
            <details class="panel">
              <summary>Disable</summary>
              <p>{words.disable}</p>
              {change('Disable', { disabled: true })}
            </details>
          )}
          <details class="panel">
            <summary>Delete after a time</summary>
            {change(
              'Delete after this time',
              { 'delete-after': wait.value, 'deletion-allowed': true },
              {
                what: words.later,
                children: (
                  <div class="field">
                    <label for="life-wait">Time to wait</label>
                    <select id="life-wait" value={wait.value} onChange={({ currentTarget }) => (wait.value = currentTarget.value)}>
                      {waits.map((one) => (
                        <option key={one} value={one} selected={one === wait.value}>
                          {one === '1d' ? 'one day' : `${one.slice(0, -1)} days`}
                        </option>
                      ))}
                    </select>
                  </div>
                ),
              },
            )}
          </details>
        </>
      )}
    </section>
  );
}
