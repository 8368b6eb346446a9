// State shown only until the session of the person ends: secrets, and answers that may have some.
import { effect, useSignal, type Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { standing } from '../api/session.ts';

/** A value that is dropped when the session ends, even if the same person comes back. */
export function useUntilEnd<T>(): Signal<T | undefined> {
  const held = useSignal<T | undefined>(undefined);
  useEffect(
    () =>
      effect(() => {
        if (standing.value !== 'signed-in') held.value = undefined;
      }),
    [],
  );
  return held;
}
