// Devices that wait for a person: each with what is to be compared, and the two decisions.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Catalog } from '../../description/catalog.ts';
import { Act } from '../../forms/act.tsx';
import { useLoaded, useSteady } from '../../parts/loaded.ts';
import { Loading } from '../../parts/loading.tsx';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { visible } from '../../parts/visible.ts';

/** A request, as far as the page reads it. */
type Waiting = {
  readonly id: string;
  readonly subject: string;
  readonly names: readonly string[];
  readonly 'key-type': string;
  readonly 'key-sha256': string;
  readonly via: string;
  readonly 'client-ip': string;
};

/** Requests that are shown with their decisions; the list below has all. */
const mostShown = 20;

/** Draws nothing if nobody waits, or the list may not be read: the list below says so. */
export function WaitingView({ catalog, place: { names }, path, turn }: DrawnProps): ComponentChildren {
  const decided = useSignal<readonly string[]>([]);
  const query = { limit: String(mostShown) };
  const loaded = useSteady(useLoaded({ method: 'GET', path, query }, turn).value);
  if (loaded.state === 'loading') return <Loading />;
  if (loaded.state !== 'there') return null;
  const waiting = (loaded.answer.body as readonly Waiting[]).filter(({ id }) => !decided.value.includes(id));
  return waiting.map((one) => (
    <Decision
      key={one.id}
      {...{ catalog, names, waiting: one }}
      onDone={() => {
        decided.value = [...decided.value, one.id];
      }}
    />
  ));
}

type DecisionProps = {
  readonly catalog: Catalog;
  readonly names: readonly string[];
  readonly waiting: Waiting;
  readonly onDone: () => void;
};

function Decision({ catalog, names, waiting, onDone }: DecisionProps): ComponentChildren {
  const entryOf = (action: string) => catalog.entries.find(({ path }) => path === `/v1/state/keystore/tls/ca/{name}/${action}`);
  const [approve, reject] = [entryOf('approve-enrolment'), entryOf('reject-enrolment')];
  const isRefusing = useSignal(false);
  const body = { id: waiting.id };
  return (
    <section class="card" aria-label={`Request of ${visible(waiting.subject)}`}>
      <h2>
        <bdi>{visible(waiting.subject)}</bdi>
      </h2>
      <dl>
        <dt>Names</dt>
        <dd>{waiting.names.length === 0 ? 'none' : <bdi>{visible(waiting.names.join(', '))}</bdi>}</dd>
        <dt>Key</dt>
        <dd>{visible(waiting['key-type'])}</dd>
        <dt>SHA-256 of the key</dt>
        <dd>
          <code>{visible(waiting['key-sha256'])}</code>
        </dd>
        <dt>From</dt>
        <dd>
          {visible(waiting['client-ip'])}, {visible(waiting.via)}
        </dd>
      </dl>
      <p class="quiet">Compare the SHA-256 with what the device shows.</p>
      {approve !== undefined && !isRefusing.value && <Act entry={approve} names={names} body={body} does="Approve" onDone={onDone} />}
      {reject !== undefined && !isRefusing.value && (
        <div class="buttons">
          <button type="button" onClick={() => (isRefusing.value = true)}>
            Refuse …
          </button>
        </div>
      )}
      {reject !== undefined && isRefusing.value && (
        <Act
          entry={reject}
          names={names}
          body={body}
          does="Refuse"
          confirm={{ name: visible(waiting.subject), what: 'This refuses the request, which cannot be taken back.' }}
          onDone={onDone}
        />
      )}
    </section>
  );
}
