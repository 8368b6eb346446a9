// The session has ended, or this tab never had it: the page stays with all that was typed, out of sight, and the sign-in is in another window.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

export function SignInAgain(): ComponentChildren {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    return () => dialog.current?.close();
  }, []);
  return (
    // A browser closes it at the second Escape, whatever becomes of the first: there is nothing behind it.
    <dialog
      ref={dialog}
      aria-labelledby="sign-in-title"
      onCancel={(event) => event.preventDefault()}
      onClose={() => dialog.current?.isConnected === true && dialog.current.showModal()}
    >
      <h2 id="sign-in-title">Sign in again</h2>
      <p>
        This session has ended, or this tab does not belong to it. What you typed stays here: sign in in the new window, then come back.
      </p>
      <div class="buttons">
        <a class="button primary" href="/ui/sign-in" target="_blank" rel="opener" data-server="">
          Sign in in a new window
        </a>
        <a class="button" href="/ui/sign-in" data-server="">
          Sign in here
        </a>
      </div>
    </dialog>
  );
}
