// One transit key: the life of its versions, what its timers do next, trying it, rotating it, and ending old versions.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Entry } from '../../description/catalog.ts';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { fillPath } from '../../address/path.ts';
import { Act } from '../../forms/act.tsx';
import { useKept, useLoaded } from '../../parts/loaded.ts';
import { Loading } from '../../parts/loading.tsx';
import { fromNow } from '../../parts/moments.tsx';
import { Problem } from '../../parts/problem.tsx';
import { comingOf, numbersOf, type KeyState } from './state.ts';
import { Timeline } from './timeline.tsx';
import { Trim } from './trim.tsx';
import { TryKey } from './try.tsx';
import '../../style/keys.css';

const template = '/v1/state/keystore/transit-keys/{name}';

export function KeyView({ catalog, place: { names }, turn: asked }: DrawnProps): ComponentChildren {
  const turn = useSignal(0);
  const loaded = useLoaded({ method: 'GET', path: fillPath(template, names) }, turn.value + asked).value;
  const answer = useKept(loaded);
  const action = (name: string): Entry | undefined => catalog.entries.find(({ path }) => path === `${template}/${name}`);
  const [rotate, trim] = [action('rotate'), action('trim')];
  const again = (): void => void (turn.value += 1);
  const oldest = useSignal<number | undefined>(undefined);
  if (loaded.state === 'failed') return <Problem error={loaded.error} />;
  if (answer === undefined) return <Loading />;
  const state = answer.body as KeyState;
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

/** What happens by itself, in sentences. */
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

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
