// A button that copies a text, and says so only when it is done. A secret does not stay in the clipboard.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { copyText } from '../clipboard/copy.ts';

export type CopyProps = {
  readonly text: string;
  readonly what: string;
  /** the clipboard is emptied a minute later */
  readonly isSecret?: boolean;
};

export function CopyButton({ text, what, isSecret = false }: CopyProps): ComponentChildren {
  const state = useSignal<'ready' | 'copied' | 'failed'>('ready');
  const copy = async (): Promise<void> => {
    try {
      await copyText(text, isSecret);
      state.value = 'copied';
    } catch {
      state.value = 'failed';
    }
  };
  return (
    <span class="copy">
      <button type="button" aria-label={`Copy ${what}`} onClick={() => void copy()}>
        Copy
      </button>
      <span role="status">
        {state.value === 'copied'
          ? `Copied${isSecret ? '; the clipboard is emptied in a minute' : ''}`
          : state.value === 'failed'
            ? 'The browser did not allow it: select and copy by hand'
            : ''}
      </span>
    </span>
  );
}
