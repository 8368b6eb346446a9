// Transit key: the life of its versions, the coming events of its timers, trying it, rotating it, and ending old versions.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { capital, type Entry } from '../../description/catalog.ts';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { fillPath } from '../../address/path.ts';
import { may } from '../../api/may.ts';
import { Act } from '../../forms/act.tsx';
import { useKept, useLoaded } from '../../parts/loaded.ts';
import { Loading } from '../../parts/loading.tsx';
import { fromNow } from '../../parts/moments.tsx';
import { can, comingOf, numbersOf, type KeyState } from './state.ts';
import { Timeline } from './timeline.tsx';
import { Trim } from './trim.tsx';
import { TryKey } from './try.tsx';
import '../../style/keys.css';

const template = '/v1/state/keystore/transit-keys/{name}';

export function KeyView({ catalog, place: { names }, turn: asked }: DrawnProps): ComponentChildren {
  const turn = useSignal(0);
  const loaded = useLoaded({ method: 'GET', path: fillPath(template, names) }, turn.value + asked).value;
  const answer = useKept(loaded);
  /** Finds an action; undefined if the policies refuse it: the list of actions below says why. */
  const action = (name: string): Entry | undefined => {
    const entry = catalog.entries.find(({ path }) => path === `${template}/${name}`);
    return typeof may(entry?.operation['x-operation'], fillPath(`${template}/${name}`, names)).value === 'object' ? undefined : entry;
  };
  const again = (): void => void (turn.value += 1);
  const oldest = useSignal<number | undefined>(undefined);
  // If there is no state to show, the page below says why.
  if (answer === undefined) return loaded.state === 'failed' ? null : <Loading />;
  const state = answer.body as KeyState;
  const [rotate, trim] = [can(state, 'rotate') ? action('rotate') : undefined, action('trim')];
  return (
    <>
      <section class="card" aria-labelledby="versions-title">
        <h2 id="versions-title">Versions</h2>
        <NextEvents state={state} />
        <Timeline state={state} endsBelow={oldest.value} />
        {rotate !== undefined && (
          <details class="panel">
            <summary>Rotate</summary>
            <p>Makes version {(state['latest-version'] ?? 0) + 1}. Older versions go on decrypting and verifying.</p>
            <Act entry={rotate} names={names} does="Rotate now" onDone={again} />
          </details>
        )}
        {trim !== undefined && numbersOf(state).length > 1 && (
          <Trim
            entry={trim}
            names={names}
            state={state}
            oldest={oldest}
            onDone={() => {
              oldest.value = undefined;
              again();
            }}
          />
        )}
      </section>
      <TryKey catalog={catalog} names={names} state={state} onUsed={again} />
    </>
  );
}

/** Lists the coming events of the timers, in sentences. */
function NextEvents({ state }: { readonly state: KeyState }): ComponentChildren {
  const coming = comingOf(state, Date.now()).slice(0, 3);
  if (coming.length === 0) return <p class="quiet">Nothing happens to this key by itself: it has no timer that still runs.</p>;
  return (
    <ul class="plain">
      {coming.map(({ atMs, at, what }) => (
        <li key={what}>
          <time dateTime={at} title={new Date(atMs).toLocaleString()}>
            <strong>{capital(fromNow(atMs))}</strong>
          </time>{' '}
          {what}.
        </li>
      ))}
    </ul>
  );
}
