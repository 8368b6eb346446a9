// A flag that can never be taken back is confirmed by itself.
import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { titleOf } from '../description/catalog.ts';

export type OneWayProps = { readonly path: string; readonly understood: Signal<ReadonlySet<string>> };

export function OneWay({ path, understood }: OneWayProps): ComponentChildren {
  const change = (isChecked: boolean): void => {
    const others = [...understood.value].filter((one) => one !== path);
    understood.value = new Set(isChecked ? [...others, path] : others);
  };
  return (
    <label class="check">
      <input type="checkbox" checked={understood.value.has(path)} onChange={(event) => change(event.currentTarget.checked)} />
      <span>
        I know that <strong>{path.split('/').map(titleOf).join(' › ')}</strong> can never be taken back.
      </span>
    </label>
  );
}
