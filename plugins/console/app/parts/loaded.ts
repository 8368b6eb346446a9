// What a page shows of a request: on its way, refused, or answered; asked again when the person has signed in again.
import { useSignal, type Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { send, targetOf, type Answer, type Request } from '../api/request.ts';
import { secret } from '../api/session.ts';

export type Loaded =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly error: unknown }
  | { readonly state: 'there'; readonly answer: Answer };

/** Sends a GET when the page opens, when its target changes, and when `turn` does. Undefined asks for nothing. */
export function useLoaded(request: Request | undefined, turn = 0): Signal<Loaded> {
  const loaded = useSignal<Loaded>({ state: 'loading' });
  const target = request === undefined ? undefined : targetOf(request);
  useEffect(() => {
    if (request === undefined) return undefined;
    const controller = new AbortController();
    loaded.value = { state: 'loading' };
    const show = (outcome: Loaded): void => {
      if (!controller.signal.aborted) loaded.value = outcome;
    };
    send(request, controller.signal).then(
      (answer) => show({ state: 'there', answer }),
      (error: unknown) => show({ state: 'failed', error }),
    );
    return () => controller.abort();
  }, [target, turn, secret.value]);
  return loaded;
}

/** The last answer there was, so that a page that loads again does not vanish meanwhile. */
export function useKept(loaded: Loaded): Answer | undefined {
  const kept = useRef<Answer | undefined>(undefined);
  if (loaded.state === 'there') kept.current = loaded.answer;
  return kept.current;
}
