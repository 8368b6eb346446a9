// Abilities of a token: the key types that follow from its mechanisms, and all mechanisms with a filter.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { visible } from '../../parts/visible.ts';
import { locale } from '../../language/language.ts';
import { exact } from '../../parts/typed.ts';

export type MechanismsProps = { readonly keyTypes: readonly string[]; readonly mechanisms: readonly string[] };

export function Mechanisms({ keyTypes, mechanisms }: MechanismsProps): ComponentChildren {
  const text = useSignal('');
  const id = useId();
  const shown = mechanisms.filter((one) => one.toLowerCase().includes(text.value.trim().toLowerCase()));
  return (
    <section class="card">
      <h3>What it can do</h3>
      <p>Key types</p>
      <ul class="words">
        {keyTypes.map((one) => (
          <li key={one}>
            <code>{visible(one)}</code>
          </li>
        ))}
      </ul>
      <details>
        <summary>{mechanisms.length.toLocaleString(locale)} mechanisms</summary>
        <div class="filter">
          <label for={id}>Show those that contain</label>
          <input
            id={id}
            type="text"
            placeholder="AES"
            value={text.value}
            {...exact}
            onInput={(event) => (text.value = event.currentTarget.value)}
          />
        </div>
        <p role="status" class="quiet">
          {shown.length === mechanisms.length
            ? ''
            : `${shown.length.toLocaleString(locale)} of ${mechanisms.length.toLocaleString(locale)}`}
        </p>
        <ul class="words">
          {shown.map((one) => (
            <li key={one}>
              <code>{visible(one)}</code>
            </li>
          ))}
        </ul>
      </details>
    </section>
  );
}
