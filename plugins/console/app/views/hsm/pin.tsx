// The PIN of a token: replaced by a random one where the appliance keeps it, and where somebody else does, how they change it.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { may } from '../../api/may.ts';
import type { Catalog } from '../../description/catalog.ts';
import { Act } from '../../forms/act.tsx';
import { Chip } from '../../parts/chip.tsx';
import { visible } from '../../parts/visible.ts';
import type { TokenState } from './state.ts';

const changePath = '/v1/state/system/change-pin';

/** Offers to change the PIN. No PIN goes through a browser: the appliance draws one itself, or it is changed on the machine that keeps it. */
export function PinCard({ catalog, token: { name, state, 'own-pin': isOwn } }: PinProps): ComponentChildren {
  const isAsked = useSignal(false);
  const isDone = useSignal(false);
  const entry = catalog.entries.find(({ path }) => path === changePath);
  const said = may(entry?.operation['x-operation'], changePath).value;
  return (
    <section class="card">
      <h3>PIN</h3>
      {isOwn && entry !== undefined ? (
        <>
          <p class="quiet">The appliance drew it and keeps it in a file of its own.</p>
          <div role="status">{isDone.value && <Chip tone="good">changed</Chip>}</div>
          {typeof said === 'object' ? (
            <p class="quiet">You may not change it: {said.no}</p>
          ) : isAsked.value ? (
            <Act
              entry={entry}
              names={[]}
              body={{ token: name }}
              does="Change the PIN"
              onDone={() => {
                isAsked.value = false;
                isDone.value = true;
              }}
            >
              <p class="quiet">
                The token gets a new random PIN. Processes that run stay logged in; those that start later use the new one.
              </p>
            </Act>
          ) : (
            state === 'up' && (
              <div class="buttons">
                <button type="button" onClick={() => (isAsked.value = true)}>
                  Change …
                </button>
              </div>
            )
          )}
        </>
      ) : (
        <>
          <p class="quiet">
            Somebody else keeps it. It is changed on the machine, and is never sent through a browser. Processes that run stay logged in.
          </p>
          <pre tabIndex={0} role="group" aria-label={`Command that changes the PIN of ${visible(name)}`}>
            keystorectl hsm change-pin --name {visible(name)} --new-pin-file FILE
          </pre>
        </>
      )}
    </section>
  );
}

type PinProps = { readonly catalog: Catalog; readonly token: TokenState };
