// Transit key: the life of its versions, the coming events of its timers, trying it, rotating it, and ending old versions.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { capital, type Entry } from '../../description/catalog.ts';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { fillPath } from '../../address/path.ts';
import { hrefOf } from '../../address/router.ts';
import { may } from '../../api/may.ts';
import { Act } from '../../forms/act.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { visible } from '../../parts/visible.ts';
import { AllowedLink } from '../../parts/allowed.tsx';
import { useKept, useLoaded } from '../../parts/loaded.ts';
import { Loading } from '../../parts/loading.tsx';
import { fromNow, When } from '../../times/moments.tsx';
import { can, canBeTried, comingOf, numbersOf, wayOf, type KeyState } from './state.ts';
import { Timeline } from './timeline.tsx';
import { Trim } from './trim.tsx';
import { WhoUsed } from '../audit/who-used.tsx';
import { KeyLife } from './life.tsx';
import { TryKey } from './try.tsx';
import '../../style/keys.css';

const template = '/v1/state/keystore/transit-keys/{name}';
const settingsTemplate = '/v1/config/keystore/transit-keys/{name}';

export function KeyView({ catalog, place: { names }, turn: asked }: DrawnProps): ComponentChildren {
  const turn = useSignal(0);
  const loaded = useLoaded({ method: 'GET', path: fillPath(template, names) }, turn.value + asked).value;
  const answer = useKept(loaded);
  /** Finds an action; undefined if the policies refuse it: the list of actions below says why. */
  const action = (name: string): Entry | undefined => {
    const entry = catalog.entries.find(({ path }) => path === `${template}/${name}`);
    return typeof may(entry?.operation['x-operation'], fillPath(`${template}/${name}`, names)).value === 'object' ? undefined : entry;
  };
  const settings = catalog.entries.find(({ path, command }) => path === settingsTemplate && command.verb === 'merge');
  const isSettable = typeof may(settings?.operation['x-operation'], fillPath(settingsTemplate, names)).value !== 'object';
  const merge = isSettable ? settings : undefined;
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
      <section class="card" aria-labelledby="access-title">
        <div class="card-head">
          <h2 id="access-title">Access</h2>
          <AllowedLink
            operation="create"
            path="/v1/config/policy/policies"
            href={hrefOf(fillPath(settingsTemplate, names), { do: 'give-access' })}
          >
            Give an application access
          </AllowedLink>
        </div>
        <p class="quiet">A policy for this key alone, a login, and its secret behind a link that opens once, in one go.</p>
      </section>
      {wayOf(state) !== undefined && (
        <section class="card" aria-labelledby="files-title">
          <div class="card-head">
            <h2 id="files-title">Files</h2>
            <a class="button" href={hrefOf(fillPath(settingsTemplate, names), { do: 'file' })}>
              Sign or verify files
            </a>
          </div>
          <p class="quiet">By drag and drop, also of gigabytes: the browser hashes them where the kind of the key allows it.</p>
        </section>
      )}
      {canBeTried(state) && <TryKey catalog={catalog} names={names} state={state} onUsed={again} />}
      <PublicKeys state={state} />
      <WhoUsed catalog={catalog} filter={{ where: `/transit-keys/${state.name}` }} />
      <KeyLife merge={merge} names={names} state={state} onDone={again} />
    </>
  );
}

/** The public keys of the versions, the newest first; symmetric keys have none. */
function PublicKeys({ state: { keys = {} } }: { readonly state: KeyState }): ComponentChildren {
  const isPublic = (text: string | undefined): text is string => text !== undefined && !/^\d+$/.test(text);
  const known = Object.entries(keys).flatMap(([number, text]) => (isPublic(text) ? [{ number: Number(number), text }] : []));
  if (known.length === 0) return null;
  return (
    <section class="card">
      <details class="panel">
        <summary>{known.length === 1 ? 'Public key' : 'Public keys'}</summary>
        {known
          .toSorted((left, right) => right.number - left.number)
          .slice(0, mostPublicKeys)
          .map(({ number, text }) => (
            <div class="stack" key={number}>
              <h3>Version {number}</h3>
              <pre tabIndex={0} role="group" aria-label={`Public key of version ${number}`}>
                {visible(text, 'lines')}
              </pre>
              <CopyButton text={text} what={`public key of version ${number}`} />
            </div>
          ))}
      </details>
    </section>
  );
}

const mostPublicKeys = 20;

/** Lists the coming events of the timers, in sentences. */
function NextEvents({ state }: { readonly state: KeyState }): ComponentChildren {
  const coming = comingOf(state, Date.now()).slice(0, 3);
  if (coming.length === 0) return <p class="quiet">Nothing happens to this key by itself: it has no timer that still runs.</p>;
  return (
    <ul class="plain">
      {coming.map(({ atMs, at, what }) => (
        <li key={what}>
          <When at={at}>
            <strong>{capital(fromNow(atMs))}</strong>
          </When>{' '}
          {what}.
        </li>
      ))}
    </ul>
  );
}
