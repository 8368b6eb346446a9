// State of a request on a page: on its way, refused, or answered; sent again when the person has signed in again.
import { useSignal, type Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { requireReadable } from '../api/may.ts';
import { Refusal, send, targetOf, type Answer, type Request } from '../api/request.ts';
import { secret } from '../api/session.ts';

export type Loaded =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly error: unknown }
  | { readonly state: 'there'; readonly answer: Answer };

/**
 * Sends a request when the page opens, when its target changes, and when `turn` does; a GET that the policies refuse is not sent, and fails
 * with their reason. Undefined asks for nothing. `sendBy` sends it, all pages of a list for example.
 */
export function useLoaded(request: Request | undefined, turn = 0, sendBy: typeof send = send): Signal<Loaded> {
  const loaded = useSignal<Loaded>({ state: 'loading' });
  const target = request === undefined ? undefined : targetOf(request);
  useEffect(() => {
    // After a sign-out there is nobody to ask for.
    if (request === undefined || secret.value === undefined) return undefined;
    const controller = new AbortController();
    loaded.value = { state: 'loading' };
    const show = (outcome: Loaded): void => {
      if (!controller.signal.aborted) loaded.value = outcome;
    };
    const load = async (): Promise<Answer> => {
      await requireReadable(request);
      controller.signal.throwIfAborted();
      return sendBy(request, controller.signal);
    };
    load().then(
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

/** Keeps the former answer while the request is sent again. */
export function useSteady(loaded: Loaded): Loaded {
  const kept = useKept(loaded);
  return loaded.state === 'loading' && kept !== undefined ? { state: 'there', answer: kept } : loaded;
}

/** Tells whether the person may not see it, or it is not there for them: then there is nothing to filter or to choose either. */
export function isDenied(error: unknown): boolean {
  return error instanceof Refusal && (error.status === 403 || error.status === 404);
}
