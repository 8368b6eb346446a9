// Asks the appliance, while a policy is typed, whether it would take it: the same request with `validate=true`, a moment after the last key.
import { useSignal, type ReadonlySignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Refusal, send, type Finding, type Request } from '../../api/request.ts';

/** Verdict of the appliance. */
export type Checked =
  | { readonly state: 'asking' }
  | { readonly state: 'taken'; readonly warnings: readonly string[] }
  | { readonly state: 'refused'; readonly findings: readonly Finding[]; readonly message: string }
  | { readonly state: 'unknown'; readonly message: string };

/** Pause after the last key. */
const pauseMs = 400;

/** Checks a request; undefined: there is nothing to ask yet. */
export function useChecked(request: Request | undefined): ReadonlySignal<Checked> {
  const checked = useSignal<Checked>({ state: 'asking' });
  const text = JSON.stringify(request);
  useEffect(() => {
    if (request === undefined) return undefined;
    const controller = new AbortController();
    checked.value = { state: 'asking' };
    const ask = async (): Promise<void> => {
      const outcome = await askOnce({ ...request, query: { ...request.query, validate: 'true' } }, controller.signal);
      if (!controller.signal.aborted) checked.value = outcome;
    };
    const timer = setTimeout(() => void ask(), pauseMs);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [text]);
  return checked;
}

async function askOnce(request: Request, signal: AbortSignal): Promise<Checked> {
  try {
    const { body } = await send(request, signal);
    const { warnings = [] } = (body ?? {}) as { readonly warnings?: readonly string[] };
    return { state: 'taken', warnings };
  } catch (error) {
    if (!(error instanceof Refusal)) return { state: 'unknown', message: String(error) };
    const { status, message, detail, findings } = error;
    const isRefused = status === 400 || status === 409 || status === 422;
    return isRefused ? { state: 'refused', findings, message: detail ?? message } : { state: 'unknown', message: detail ?? message };
  }
}
