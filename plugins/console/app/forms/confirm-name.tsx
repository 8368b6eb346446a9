// Confirmation of a permanent end: names the entry, and asks for its name to be typed.
import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { exact } from '../parts/typed.ts';

export type Confirm = { readonly name: string; readonly what: string };

export function ConfirmName({
  confirm: { name, what },
  typed,
  id = 'confirm-name',
}: {
  readonly confirm: Confirm;
  readonly typed: Signal<string>;
  readonly id?: string;
}): ComponentChildren {
  return (
    <div class="field confirm">
      <p class="notice">{what}</p>
      <label for={id}>
        Type <code>{name}</code> to confirm
      </label>
      <input id={id} type="text" {...exact} value={typed.value} onInput={(event) => (typed.value = event.currentTarget.value)} />
    </div>
  );
}

export function isConfirmed(confirm: Confirm | undefined, typed: Signal<string>): boolean {
  return confirm === undefined || typed.value.trim() === confirm.name;
}
