// A request whose body the page has made: its button, the name to type where it ends something, what was wrong, and the same as commands.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { fillPath } from '../address/path.ts';
import { may } from '../api/may.ts';
import { send, type Answer, type Request } from '../api/request.ts';
import { CopyAsCommand } from '../commands/copy-as-command.tsx';
import type { Entry } from '../description/catalog.ts';
import { Problem } from '../parts/problem.tsx';
import { ConfirmName, isConfirmed, type Confirm } from './confirm-name.tsx';

export type ActProps = {
  readonly entry: Entry;
  readonly names: readonly string[];
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  /** text on the button */
  readonly does: string;
  readonly confirm?: Confirm | undefined;
  /** true if the body holds something that no command may show */
  readonly hasSecrets?: boolean;
  /** reason for which it cannot be sent yet */
  readonly lacks?: string | undefined;
  readonly onDone: (answer: Answer) => void;
  /** parts that the request is made from, above the button */
  readonly children?: ComponentChildren;
};

export function Act({
  entry,
  names,
  query,
  headers,
  body,
  does,
  confirm,
  hasSecrets = false,
  lacks,
  onDone,
  children,
}: ActProps): ComponentChildren {
  const typedName = useSignal('');
  const error = useSignal<unknown>(undefined);
  const isSending = useSignal(false);
  const problem = useRef<HTMLElement>(null);
  const path = fillPath(entry.path, names);
  const said = may(entry.operation['x-operation'], path).value;
  useEffect(() => {
    if (error.value !== undefined) problem.current?.focus();
  }, [error.value]);
  const request: Request = {
    method: entry.method,
    path,
    ...(query && { query }),
    ...(headers && { headers }),
    ...(body === undefined ? {} : { body }),
  };
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isSending.value || lacks !== undefined) return;
    error.value = undefined;
    isSending.value = true;
    try {
      const answer = await send(request);
      typedName.value = '';
      onDone(answer);
    } catch (thrown) {
      error.value = thrown;
    } finally {
      isSending.value = false;
    }
  };
  if (typeof said === 'object') return <p class="quiet">Not allowed: {said.no}</p>;
  return (
    <form class="act" onSubmit={(event) => void submit(event)} noValidate autocomplete="off">
      {children}
      {error.value !== undefined && <Problem error={error.value} focus={problem} />}
      {confirm !== undefined && <ConfirmName confirm={confirm} typed={typedName} id={`confirm-${entry.command.action ?? 'name'}`} />}
      <div class="buttons">
        <button
          type="submit"
          class={confirm === undefined ? 'primary' : 'danger'}
          disabled={!isConfirmed(confirm, typedName) || lacks !== undefined}
          aria-busy={isSending.value}
        >
          {does}
        </button>
        {lacks !== undefined && <span class="quiet">{lacks}</span>}
      </div>
      <CopyAsCommand commanded={lacks === undefined ? { entry, names, request, hasSecrets } : undefined} />
    </form>
  );
}
