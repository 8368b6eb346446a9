// A button that copies a text, and says so only when it is done.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

export function CopyButton({ text, what }: { readonly text: string; readonly what: string }): ComponentChildren {
  const state = useSignal<'ready' | 'copied' | 'failed'>('ready');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
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
        {state.value === 'copied' ? 'Copied' : state.value === 'failed' ? 'The browser did not allow it: select and copy by hand' : ''}
      </span>
    </span>
  );
}
