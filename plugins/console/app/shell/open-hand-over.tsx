// The page behind a link that opens once: anybody who has the link sees its purpose, and opens it without an account.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { ask } from '../api/public.ts';
import { ShownOnce } from '../marks/shown-once.tsx';
import { Problem } from '../parts/problem.tsx';
import { visible } from '../parts/visible.ts';
import { Moment } from '../times/moments.tsx';

const handOver = '/v1/state/keystore/hand-over';

/** Path of the page; the token is behind the number sign. */
export const openPath = '/ui/open';

type Told = {
  readonly purpose?: string;
  readonly tenant: string;
  readonly expires: string;
  readonly opened?: string;
  readonly 'opened-from'?: string;
};

/** Takes the token out of the address, so that it is in no history and on no screen. */
export function takeToken(): string {
  const token = location.hash.slice(1);
  history.replaceState(null, '', openPath);
  return token;
}

export function OpenHandOver({ token }: { readonly token: string }): ComponentChildren {
  const told = useSignal<Told | undefined>(undefined);
  const text = useSignal<string | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const isSending = useSignal(false);
  useEffect(() => {
    document.title = 'Open a secret · keystored';
    if (token === '') return;
    ask(`${handOver}/info`, { token }).then(
      (body) => (told.value = body as Told),
      (thrown: unknown) => (error.value = thrown),
    );
  }, []);
  const open = async (): Promise<void> => {
    if (isSending.value) return;
    isSending.value = true;
    error.value = undefined;
    try {
      text.value = ((await ask(`${handOver}/open`, { token })) as { readonly text: string }).text;
    } catch (thrown) {
      error.value = thrown;
    } finally {
      isSending.value = false;
    }
  };
  return (
    <main class="alone" id="main">
      <h1>Open a secret</h1>
      {token === '' && (
        <section class="problem" role="alert">
          <h2>The link is not complete</h2>
          <p>Copy all of it, with what is behind the number sign. A link is taken out of the address when its page is shown.</p>
        </section>
      )}
      {error.value !== undefined && <Problem error={error.value} />}
      {text.value === undefined && told.value !== undefined && (
        <Waiting told={told.value} isSending={isSending.value} onOpen={() => void open()} />
      )}
      {text.value !== undefined && (
        <section class="card" aria-label="What was handed over">
          <p>It is shown this once. Keep it now: the link opens nothing any longer.</p>
          <ShownOnce secret={secretIn(text.value)} what="secret" fileName="secret.txt" />
        </section>
      )}
    </main>
  );
}

/** A hand-over of a secret-id is a document with its accessor; any other is what its maker wrote. */
function secretIn(text: string): string {
  try {
    const { 'secret-id': secretId } = JSON.parse(text) as { readonly 'secret-id'?: unknown };
    return typeof secretId === 'string' ? secretId : text;
  } catch {
    return text;
  }
}

type WaitingProps = { readonly told: Told; readonly isSending: boolean; readonly onOpen: () => void };

function Waiting({ told, isSending, onOpen }: WaitingProps): ComponentChildren {
  const { purpose, tenant, expires, opened, 'opened-from': from } = told;
  if (opened !== undefined)
    return (
      <section class="problem" role="alert">
        <h2>It was opened before</h2>
        <p>
          <Moment at={opened} /> from {visible(from ?? 'an unknown address')}. If that was not you, somebody else has the secret: tell who
          sent you the link.
        </p>
      </section>
    );
  return (
    <section class="card" aria-label="What waits here">
      <p>
        {purpose === undefined ? 'A secret' : visible(purpose)}, from the tenant <bdi>{visible(tenant)}</bdi>. It opens once, and waits
        until <Moment at={expires} />.
      </p>
      <div class="buttons">
        <button type="button" class="primary" aria-busy={isSending} onClick={onOpen}>
          Open it
        </button>
      </div>
    </section>
  );
}
