// A secret that the appliance shows this once: hidden until asked for, with ways to keep it. The page is not left by mistake meanwhile.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { guardLeaving } from '../address/router.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { SaveButton } from './save-button.tsx';

export type ShownOnceProps = {
  readonly secret: string;
  /** `root token` */
  readonly what: string;
  readonly fileName: string;
};

export function ShownOnce({ secret, what, fileName }: ShownOnceProps): ComponentChildren {
  const isShown = useSignal(false);
  useEffect(() => {
    guardLeaving(() => window.confirm(`The ${what} is shown this once. Leave the page?`));
    return () => guardLeaving(undefined);
  }, [secret]);
  return (
    <div class="stack">
      <p class="secret">{isShown.value ? <code>{secret}</code> : <span aria-label="hidden">••••••••••••</span>}</p>
      <div class="buttons">
        <button type="button" aria-pressed={isShown.value} onClick={() => (isShown.value = !isShown.value)}>
          {isShown.value ? 'Hide' : 'Show'}
        </button>
        <CopyButton text={secret} what={what} isSecret />
        <SaveButton content={`${secret}\n`} name={fileName}>
          Save as a file
        </SaveButton>
      </div>
    </div>
  );
}
