// Warning before a session ends: the time left, and "Still here". A session without an answer is ended, whatever requests the page repeats.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { send } from '../api/request.ts';
import { endSession, facts, lastSeenMs, noteSeen, standing } from '../api/session.ts';

export type EndingProps = {
  /** time until the session ends, however much it is used; absent: never */
  readonly expiresInSeconds: number | undefined;
  /** tells the appliance that the session is used */
  readonly onUse: () => void;
};

/** The warning comes this long before the end, or at a fifth of a short session. */
const warnMs = 120_000;
const lookEveryMs = 1_000;

type Warning = { readonly secondsLeft: number; readonly isForGood: boolean };

export function Ending({ expiresInSeconds, onUse }: EndingProps): ComponentChildren {
  const warning = useSignal<Warning | undefined>(undefined);
  const isRead = useSignal(false);
  const expiresMs = useRef(Infinity);
  const usedMs = useRef(Date.now());
  const isEnding = useRef(false);
  useEffect(() => {
    expiresMs.current = expiresInSeconds === undefined ? Infinity : Date.now() + expiresInSeconds * 1_000;
    usedMs.current = Date.now();
    isRead.value = false;
  }, [expiresInSeconds]);
  useEffect(() => {
    const idleMs = facts['idle-seconds'] * 1_000;
    const beforeMs = Math.min(warnMs, idleMs / 5);
    const look = (): void => {
      if (standing.peek() !== 'signed-in') {
        warning.value = undefined;
        isEnding.current = false;
        return;
      }
      const nowMs = Date.now();
      const [idleEndMs, endMs] = [lastSeenMs() + idleMs, expiresMs.current];
      const leftMs = Math.min(idleEndMs, endMs) - nowMs;
      if (leftMs <= 0) {
        if (!isEnding.current) void end(idleEndMs <= endMs);
        isEnding.current = true;
      }
      // The appliance counts requests: reading and typing are reported to it now and then.
      if (leftMs > 0 && lastSeenMs() > usedMs.current && nowMs - usedMs.current > idleMs / 4) {
        usedMs.current = nowMs;
        onUse();
      }
      const isForGood = endMs < idleEndMs;
      warning.value =
        leftMs <= 0 || leftMs > beforeMs || (isForGood && isRead.peek())
          ? undefined
          : { secondsLeft: Math.ceil(leftMs / 1_000), isForGood };
    };
    const timer = setInterval(look, lookEveryMs);
    return () => clearInterval(timer);
  }, []);
  const stay = (): void => {
    noteSeen();
    usedMs.current = Date.now();
    warning.value = undefined;
    onUse();
  };
  if (warning.value === undefined) return null;
  return <WarningDialog warning={warning.value} onStay={stay} onRead={() => (isRead.value = true)} />;
}

/** Ends the session. The typed values stay on the page, out of sight, behind the offer to sign in again. */
async function end(isIdle: boolean): Promise<void> {
  const sent = isIdle ? send({ method: 'POST', path: '/ui/sign-out-of-console' }).catch(() => undefined) : undefined;
  endSession();
  await sent;
}

type DialogProps = { readonly warning: Warning; readonly onStay: () => void; readonly onRead: () => void };

function WarningDialog({ warning: { secondsLeft, isForGood }, onStay, onRead }: DialogProps): ComponentChildren {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    return () => dialog.current?.close();
  }, []);
  const close = isForGood ? onRead : onStay;
  return (
    <dialog ref={dialog} aria-labelledby="ending" aria-describedby="ending-why" onCancel={close}>
      <h2 id="ending">This session ends soon</h2>
      <p id="ending-why">
        {isForGood
          ? 'Its time is over then, however much it is used. Sign in again in a new window to go on here; what you typed stays.'
          : 'Nothing was done here for some time. What you typed stays, but has to be sent after another sign-in.'}
      </p>
      <p>
        <strong class="number">{timeLeft(secondsLeft)}</strong> left
      </p>
      <div class="buttons">
        {isForGood ? (
          <>
            <a class="button primary" href="/ui/sign-in" target="_blank" rel="opener" data-server="">
              Sign in in a new window
            </a>
            <button type="button" onClick={onRead}>
              Close
            </button>
          </>
        ) : (
          <button type="button" class="primary" onClick={onStay}>
            Still here
          </button>
        )}
      </div>
    </dialog>
  );
}

function timeLeft(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
