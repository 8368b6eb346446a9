// Claiming an appliance: the person compares the fingerprint with the screen of the machine, makes the one root token, and keeps it.
import { signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { guardLeaving, hrefOf } from '../address/router.ts';
import { may } from '../api/may.ts';
import { facts, signInPage } from '../api/session.ts';
import type { Catalog } from '../description/catalog.ts';
import { Act } from '../forms/act.tsx';
import { ShownOnce } from '../marks/shown-once.tsx';

const path = '/v1/state/keystore/token/create-root';
const joinPath = '/v1/state/system/cluster/join';

/** The root token, from when it is made until the person has gone on. The session that made it ends meanwhile. */
export const claimed = signal<string | undefined>(undefined);

/** Shown above every page of an unclaimed appliance, to a person who may claim it. */
export function Claim({ catalog }: { readonly catalog: Catalog }): ComponentChildren {
  const isCompared = useSignal(false);
  const entry = catalog.entries.find((one) => one.path === path);
  const said = may(entry?.operation['x-operation'], path).value;
  if (facts.unclaimed === undefined || entry === undefined || said !== 'yes') return null;
  return (
    <section class="card" aria-labelledby="claim">
      <h2 id="claim">Claim this appliance</h2>
      <p>
        It is yours when its root token is made. Compare once more: the screen of the machine shows <strong>CA SHA-256</strong>
      </p>
      <p>
        <code>{facts.unclaimed}</code>
      </p>
      <Act
        entry={entry}
        names={[]}
        body={{ name: 'system' }}
        does="Make the root token"
        lacks={isCompared.value ? undefined : 'Compare the fingerprint first.'}
        onDone={({ body }) => (claimed.value = String((body as { readonly token?: unknown }).token))}
      >
        <label class="check">
          <input type="checkbox" checked={isCompared.value} onChange={(event) => (isCompared.value = event.currentTarget.checked)} />
          <span>The screen of the machine shows the same fingerprint.</span>
        </label>
      </Act>
      {catalog.at(joinPath) !== undefined && (
        <p>
          To be one of several appliances, <a href={hrefOf(joinPath)}>let it join their cluster</a> instead.
        </p>
      )}
    </section>
  );
}

/** Shown in place of the whole application: nothing may cover the token, which is shown only once. */
export function Claimed({ token }: { readonly token: string }): ComponentChildren {
  return (
    <main id="main" class="alone">
      <h1>This appliance is yours</h1>
      <section class="card">
        <p>
          This is the root token of the tenant <code>system</code>. It is shown this once, has no end, and can do everything: put it into a
          safe. The credential of the screen no longer works.
        </p>
        <ShownOnce secret={token} what="root token" fileName="keystored-root-token.txt" />
        <div class="buttons">
          <button type="button" class="primary" onClick={() => void signInWith(token)}>
            I have kept it: sign in
          </button>
        </div>
      </section>
    </main>
  );
}

/** Signs in with the token, so that nobody types what the page has; where that fails, the sign-in page says why. */
async function signInWith(token: string): Promise<void> {
  guardLeaving(undefined);
  const signedIn = await fetch(signInPage, {
    method: 'POST',
    cache: 'no-store',
    // The session is the cookie of the answer. The page behind it has to be loaded as one, for the second secret.
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ way: 'token', token }).toString(),
  }).catch(() => undefined);
  location.assign(signedIn?.type === 'opaqueredirect' ? '/ui' : signInPage);
}
