// Account that is signed in: the name in the frame, the warning before the end, and a notice when it is another one than before.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { send } from '../api/request.ts';
import { account as signedIn, facts, leave, signInPage, standing, type Account } from '../api/session.ts';
import { visit } from '../api/visit.ts';
import { useKept, useLoaded } from '../parts/loaded.ts';
import { visible } from '../parts/visible.ts';
import { Ending } from './ending.tsx';

export function AccountBar(): ComponentChildren {
  const turn = useSignal(0);
  const loaded = useLoaded({ method: 'POST', path: '/v1/state/keystore/token/info', body: {} }, turn.value).value;
  const account = useKept(loaded)?.body as Account | undefined;
  const before = useRef<Account | undefined>(undefined);
  const other = useSignal<{ readonly before: Account; readonly now: Account } | undefined>(undefined);
  useEffect(() => {
    if (account === undefined) return;
    const was = before.current;
    if (was !== undefined && (was.user !== account.user || was.tenant !== account.tenant)) other.value = { before: was, now: account };
    before.current = account;
    signedIn.value = account;
  }, [account]);
  // Another tab, page or program may have ended the session since somebody looked here.
  useEffect(() => {
    const look = (): void => {
      if (document.visibilityState === 'visible' && standing.peek() === 'signed-in') turn.value += 1;
    };
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
  return (
    <div class="account">
      {account !== undefined && (
        <span>
          <Who account={account} />
        </span>
      )}
      {facts.account !== undefined && visit.value === undefined && (
        <a href={facts.account} data-server="">
          Account
        </a>
      )}
      {visit.value === undefined && (
        <button type="button" onClick={() => void signOut()}>
          Sign out
        </button>
      )}
      {account !== undefined && visit.value === undefined && (
        <Ending expiresInSeconds={account['expires-in']} onUse={() => (turn.value += 1)} />
      )}
      {other.value !== undefined && <OtherPerson {...other.value} onGoOn={() => (other.value = undefined)} />}
    </div>
  );
}

/** Ends the session here, in the other tabs, and at the appliance. The contents of the pages are gone before that has answered. */
async function signOut(): Promise<void> {
  const sent = send({ method: 'POST', path: '/ui/sign-out-of-console' }).catch(() => undefined);
  leave();
  const answer = await sent;
  const page = (answer?.body as { readonly 'provider-page'?: string } | undefined)?.['provider-page'];
  location.assign(page ?? signInPage);
}

function Who({ account: { user, tenant } }: { readonly account: Account }): ComponentChildren {
  return (
    <>
      <bdi>{visible(user)}</bdi> <span class="quiet">in</span> <bdi>{visible(tenant)}</bdi>
    </>
  );
}

type OtherProps = { readonly before: Account; readonly now: Account; readonly onGoOn: () => void };

/** Warns that the page is from another person's session: it must not be sent in another name by mistake. */
function OtherPerson({ before, now, onGoOn }: OtherProps): ComponentChildren {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    return () => dialog.current?.close();
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby="other-person" onCancel={onGoOn}>
      <h2 id="other-person">You are somebody else now</h2>
      <p>
        This page was opened by <Who account={before} />. The sign-in since then is <Who account={now} />. What is typed here was not sent.
      </p>
      <div class="buttons">
        <button type="button" class="primary" onClick={() => location.assign('/ui')}>
          Start from the overview
        </button>
        <button type="button" onClick={onGoOn}>
          Go on here as {visible(now.user)}
        </button>
      </div>
    </dialog>
  );
}
