// The wrapping key of a token: which one is in use, how far a rotation is, and the next rotation.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { may } from '../../api/may.ts';
import type { Catalog } from '../../description/catalog.ts';
import { Act } from '../../forms/act.tsx';
import { Progress } from '../../marks/progress.tsx';
import { Chip } from '../../parts/chip.tsx';
import { Moment } from '../../times/moments.tsx';
import { visible } from '../../parts/visible.ts';
import { locale } from '../../language/language.ts';
import { rotatePath, type TokenState, type WrappingKey } from './state.ts';

export type WrappingKeyProps = { readonly catalog: Catalog; readonly token: TokenState; readonly onChange: () => void };

export function WrappingKeyCard({ catalog, token: { name, state, 'wrapping-key': key }, onChange }: WrappingKeyProps): ComponentChildren {
  const isAsked = useSignal(false);
  const entry = catalog.entries.find(({ path }) => path === rotatePath);
  const said = may(entry?.operation['x-operation'], rotatePath).value;
  const mayRotate = entry !== undefined && typeof said !== 'object' && key.state !== 'rewrapping' && state === 'up';
  return (
    <section class="card">
      <h3>Wrapping key</h3>
      <dl>
        <dt>In use</dt>
        <dd>number {key.number}</dd>
        {key.started !== undefined && (
          <>
            <dt>Last rotation</dt>
            <dd>
              began <Moment at={key.started} />
              {key.finished !== undefined && (
                <>
                  , ended <Moment at={key.finished} />
                </>
              )}
            </dd>
          </>
        )}
      </dl>
      <Rotation wrapping={key} />
      {mayRotate && !isAsked.value && (
        <div class="buttons">
          <button type="button" onClick={() => (isAsked.value = true)}>
            Rotate …
          </button>
        </div>
      )}
      {mayRotate && isAsked.value && (
        <Act
          entry={entry}
          names={[]}
          body={{ token: name }}
          does="Rotate the wrapping key"
          confirm={{
            name: visible(name),
            what: 'This destroys the present wrapping key once every key is rewrapped. With an HSM of your own, older backups then need a backup of the HSM.',
          }}
          onDone={() => {
            isAsked.value = false;
            onChange();
          }}
        >
          <p class="quiet">
            A new key wraps from now on. Every stored key is wrapped again inside the token while the service runs; the progress is shown
            here, also after you have left this page.
          </p>
        </Act>
      )}
      {typeof said === 'object' && <p class="quiet">You may not rotate it: {said.no}</p>}
    </section>
  );
}

function Rotation({ wrapping: { state, done, total, failed } }: { readonly wrapping: WrappingKey }): ComponentChildren {
  if (state === 'in-use') return total > 0 ? <p class="quiet">{total.toLocaleString(locale)} keys were rewrapped.</p> : null;
  if (state === 'incomplete') {
    return (
      <div>
        <Chip tone="bad">{failed.toLocaleString(locale)} keys could not be rewrapped</Chip>
        <p class="quiet">The log names them, and the old wrapping key is kept. Every start tries again.</p>
      </div>
    );
  }
  const isWaiting = total > 0 && done >= total;
  return (
    <Progress label="Keys rewrapped" done={done} total={total}>
      {isWaiting
        ? 'Every key is rewrapped. The old wrapping key is destroyed when no process can need it.'
        : total === 0
          ? 'Counting the keys …'
          : `${done.toLocaleString(locale)} of ${total.toLocaleString(locale)} keys are rewrapped.`}
    </Progress>
  );
}
