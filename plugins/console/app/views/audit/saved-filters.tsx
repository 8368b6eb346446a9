// Kept filters as links, and keeping the present ones under a name.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { address, hrefOf } from '../../address/router.ts';
import { account } from '../../api/session.ts';
import { visible } from '../../parts/visible.ts';
import { dropSaved, keepSaved, readSaved, type Saved } from './saved-filters.ts';

const words = {
  title: 'Kept filters',
  name: 'Name',
  keep: 'Keep these filters',
  hint: 'refused sign-ins',
  where: 'They stay in this browser.',
} as const;

export function SavedFilters({ path }: { readonly path: string }): ComponentChildren {
  const who = account.value;
  const person = who === undefined ? '' : `${who.tenant}/${who.user}`;
  const changed = useSignal<{ readonly person: string; readonly all: readonly Saved[] } | undefined>(undefined);
  const name = useSignal('');
  if (who === undefined) return null;
  const all = changed.value?.person === person ? changed.value.all : readSaved(person);
  const show = (next: readonly Saved[]): void => {
    changed.value = { person, all: next };
  };
  return (
    <details class="panel">
      <summary>
        {words.title} {all.length > 0 && <span class="quiet">({all.length})</span>}
      </summary>
      {all.length > 0 && (
        <ul class="plain">
          {all.map((one) => (
            <li key={one.name} class="row-actions">
              <a href={hrefOf(path, one.query)}>
                <bdi>{visible(one.name)}</bdi>
              </a>
              <button
                type="button"
                class="small"
                aria-label={`Drop ${visible(one.name)}`}
                onClick={() => show(dropSaved(person, one.name))}
              >
                Drop
              </button>
            </li>
          ))}
        </ul>
      )}
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          show(keepSaved(person, name.value, address.value.query));
          name.value = '';
        }}
      >
        <div class="filter">
          <label for="saved-name">{words.name}</label>
          <input
            id="saved-name"
            type="text"
            maxLength={60}
            placeholder={words.hint}
            autocomplete="off"
            value={name.value}
            onInput={({ currentTarget }) => (name.value = currentTarget.value)}
          />
        </div>
        <div class="buttons">
          <button type="submit" disabled={name.value.trim() === ''}>
            {words.keep}
          </button>
          <span class="quiet">{words.where}</span>
        </div>
      </form>
    </details>
  );
}
