// Ending everything of one person at once: all sessions and tokens that the same login has made, this session last.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { sendAll } from '../../api/pages.ts';
import { Refusal, send, sendAsNow } from '../../api/request.ts';
import { ConfirmName, isConfirmed } from '../../forms/confirm-name.tsx';
import { useLoaded } from '../../parts/loaded.ts';
import { Problem } from '../../parts/problem.tsx';
import { visible } from '../../parts/visible.ts';
import { locale } from '../../language/language.ts';
import { Awaited } from '../../parts/loading.tsx';

const path = '/v1/state/keystore/tokens';
const disable = '/v1/state/keystore/token/disable';
/** Tokens that are asked for at once; all are looked at. */
const pageSize = 1_000;

type Held = { readonly accessor: string; readonly user: string; readonly parent?: string; readonly identity?: unknown };

const words = {
  found: (count: number): string =>
    `This ends ${count.toLocaleString(locale)} ${count === 1 ? 'session or token' : 'sessions and tokens'} at once.`,
  own: 'Your own session is among them, and ends last.',
  again: 'Sessions are ended; the person can sign in again. To keep them out, take the role or the account away as well.',
} as const;

export type EndPersonProps = {
  readonly token: Held;
  readonly ownAccessor: string | undefined;
  readonly onClose: (isDone: boolean) => void;
};

export function EndPerson({ token, ownAccessor, onClose }: EndPersonProps): ComponentChildren {
  const heading = useRef<HTMLHeadingElement>(null);
  const typed = useSignal('');
  const error = useSignal<unknown>(undefined);
  const isSending = useSignal(false);
  useEffect(() => heading.current?.focus(), []);
  const query = { limit: String(pageSize), fields: 'accessor,user,identity,parent' };
  const loaded = useLoaded({ method: 'GET', path, query }, 0, (request, signal) => sendAll(request, send, signal)).value;
  const all = loaded.state === 'there' ? (loaded.answer.body as readonly Held[]) : [];
  const theirs = all.filter((one) => isSame(one, token));
  const user = visible(token.user);
  const ownIsAmong = theirs.some(({ accessor }) => accessor === ownAccessor);
  const confirm = { name: user, what: [words.found(theirs.length), ...(ownIsAmong ? [words.own] : []), words.again].join(' ') };
  const end = async (): Promise<void> => {
    isSending.value = true;
    try {
      // Children end with their parents; the own session goes last, because nothing could be ended without it.
      const accessors = new Set(theirs.map(({ accessor }) => accessor));
      const firsts = theirs.filter(({ parent }) => parent === undefined || !accessors.has(parent));
      const ordered = [
        ...firsts.filter(({ accessor }) => accessor !== ownAccessor),
        ...firsts.filter(({ accessor }) => accessor === ownAccessor),
      ];
      const flow = sendAsNow();
      for (const { accessor } of ordered) await endOne(accessor, flow);
      onClose(true);
    } catch (thrown) {
      error.value = thrown;
    } finally {
      isSending.value = false;
    }
  };
  return (
    <section class="card" aria-labelledby="end-person-title">
      <h2 id="end-person-title" tabIndex={-1} ref={heading}>
        End all of <bdi>{user}</bdi>
      </h2>
      <Awaited loaded={loaded} />
      {error.value !== undefined && <Problem error={error.value} />}
      {loaded.state === 'there' && (
        <form
          class="act"
          onSubmit={(event) => {
            event.preventDefault();
            if (isConfirmed(confirm, typed) && !isSending.value) void end();
          }}
        >
          <ConfirmName confirm={confirm} typed={typed} id="confirm-person" />
          <div class="buttons">
            <button type="submit" class="danger" disabled={!isConfirmed(confirm, typed)} aria-busy={isSending.value}>
              End all
            </button>
            <button type="button" onClick={() => onClose(false)}>
              Keep them
            </button>
          </div>
        </form>
      )}
    </section>
  );
}

/** One that has ended meanwhile is what was wanted. */
async function endOne(accessor: string, flow: typeof send): Promise<void> {
  try {
    await flow({ method: 'POST', path: disable, body: { accessor } });
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 404) throw error;
  }
}

/** The same login; where none is on record, the same token. */
function isSame(one: Held, other: Held): boolean {
  if (one.identity === undefined || other.identity === undefined) return one.accessor === other.accessor;
  return JSON.stringify(one.identity) === JSON.stringify(other.identity);
}
