// The second secret of the session: taken from the page once, kept for the tab, shared with the other tabs of this origin.
import { signal } from '@preact/signals';

export type Facts = {
  readonly secret?: string;
  readonly 'idle-seconds': number;
  readonly account?: string;
  /** address of the page after the secret is taken */
  readonly next?: string;
  /** fingerprint of the CA, while nobody has claimed the appliance */
  readonly unclaimed?: string;
};

type Message =
  | { readonly type: 'ask' }
  | { readonly type: 'secret'; readonly secret: string }
  | { readonly type: 'signed-out' | 'ended' | 'seen' };

export const signInPage = '/ui/sign-in';
const kept = 'keystored-console';
const siblings = new BroadcastChannel('keystored-console');

/** `waiting`: other tabs are asked. `none`: a sign-in is needed. `signed-out`: the person has gone, here or in another tab. */
export const standing = signal<'waiting' | 'signed-in' | 'none' | 'signed-out'>('waiting');
/** Changes when another secret came, so that what was refused can be asked again. */
export const secret = signal<string | undefined>(undefined);
export let facts: Facts = { 'idle-seconds': 1_800 };

/** Account that is signed in. */
export type Identity = { readonly kind: string; readonly source: string; readonly subject: string };
export type Account = {
  readonly user: string;
  readonly tenant: string;
  readonly 'expires-in'?: number;
  readonly 'user-kind'?: string;
  readonly identity?: Identity;
};
/** Account of the session; undefined until the appliance has answered. */
export const account = signal<Account | undefined>(undefined);

/** Time of the person's last action, in any tab of this browser; milliseconds. */
let seenMs = Date.now();
/** Least time between notices to other tabs. */
const tellSeenMs = 5_000;
export function lastSeenMs(): number {
  return seenMs;
}

/** The person is there. */
export function noteSeen(): void {
  const nowMs = Date.now();
  if (nowMs - seenMs >= tellSeenMs) tell({ type: 'seen' });
  seenMs = nowMs;
}

/** Refused secret that other tabs may still have. */
let refusedSecret: string | undefined;

/** Time for other tabs to answer. */
const patienceMs = 300;

/** Reads the secret that the page brought, that of this tab, or that of another one. */
export function startSession(): void {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="keystored-console"]');
  facts = JSON.parse(meta?.content ?? '{}') as Facts;
  meta?.remove();
  siblings.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    if (data.type === 'ask' && secret.value !== undefined && standing.value === 'signed-in') tell({ type: 'secret', secret: secret.value });
    if (data.type === 'secret' && data.secret !== refusedSecret) take(data.secret);
    if (data.type === 'ended') forget('none');
    if (data.type === 'signed-out') {
      forget('signed-out');
      location.replace(signInPage);
    }
    if (data.type === 'seen') seenMs = Date.now();
  });
  // A page out of the browser's cache of pages may belong to a session that has ended: it is kept blank, and loaded again.
  addEventListener('pagehide', ({ persisted }) => (document.documentElement.hidden = persisted));
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
  const known = facts.secret ?? sessionStorage.getItem(kept) ?? undefined;
  if (known !== undefined) take(known);
  if (facts.secret !== undefined) tell({ type: 'secret', secret: facts.secret });
  for (const event of ['pointerdown', 'keydown', 'wheel', 'touchmove']) addEventListener(event, noteSeen, { passive: true, capture: true });
  if (known !== undefined && facts.next?.startsWith('/ui/') === true) location.replace(facts.next);
  if (known !== undefined) return;
  tell({ type: 'ask' });
  setTimeout(() => {
    if (standing.value === 'waiting') standing.value = 'none';
  }, patienceMs);
}

/** Drops a secret that the appliance no longer accepts: another tab may have a newer one. */
export function refuseSecret(refused: string): void {
  if (secret.value !== refused) return;
  refusedSecret = refused;
  standing.value = 'none';
  sessionStorage.removeItem(kept);
  tell({ type: 'ask' });
}

/** The session is over, here and in the other tabs; what was typed stays, out of sight, for the same person. */
export function endSession(): void {
  forget('none');
  tell({ type: 'ended' });
}

/** The person has signed out: nothing of what was there is left, in any tab. */
export function leave(): void {
  forget('signed-out');
  tell({ type: 'signed-out' });
}

function take(text: string): void {
  // Another tab may not have heard yet that the person has gone.
  if (standing.value === 'signed-out') return;
  secret.value = text;
  sessionStorage.setItem(kept, text);
  standing.value = 'signed-in';
}

function forget(next: 'none' | 'signed-out'): void {
  secret.value = undefined;
  sessionStorage.removeItem(kept);
  standing.value = next;
}

function tell(message: Message): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel reaches this origin alone
  siblings.postMessage(message);
}
