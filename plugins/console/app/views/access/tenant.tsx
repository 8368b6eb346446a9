// Tenant: its properties, its limits, and its one root token.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { fillPath } from '../../address/path.ts';
import { hrefOf } from '../../address/router.ts';
import { Act } from '../../forms/act.tsx';
import { OpenAs } from './open-as.tsx';
import { ShownOnce } from '../../marks/shown-once.tsx';
import { Chip } from '../../parts/chip.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { useLoaded, useSteady } from '../../parts/loaded.ts';
import { Loading } from '../../parts/loading.tsx';
import { Moment } from '../../times/moments.tsx';
import { visible } from '../../parts/visible.ts';
import { useUntilEnd } from '../../marks/until-end.ts';

const policies = '/v1/config/policy/policies';
const createRoot = '/v1/state/keystore/token/create-root';

/** Fields are absent where policies hide them. */
type TenantState = {
  readonly name: string;
  readonly kind?: string;
  readonly policies?: readonly string[];
  readonly uuid?: string;
  readonly 'creation-time'?: string;
  readonly 'root-token-issued'?: boolean;
};

const kinds: Readonly<Record<string, string>> = {
  system: 'runs the appliance',
  'site-provider': 'looks after other tenants',
  'application-owner': 'owns applications',
};

/** Draws nothing if the state may not be read: the page below says why. Long because it is one view from top to bottom. */
export function TenantView({ catalog, place: { names }, turn: asked }: DrawnProps): ComponentChildren {
  const turn = useSignal(0);
  const token = useUntilEnd<string>();
  const loaded = useSteady(useLoaded({ method: 'GET', path: fillPath('/v1/state/tenants/{name}', names) }, turn.value + asked).value);
  const entry = catalog.entries.find(({ path }) => path === createRoot);
  if (loaded.state === 'loading') return <Loading />;
  if (loaded.state !== 'there') return null;
  const state = loaded.answer.body as TenantState;
  const { name, kind = '', uuid } = state;
  return (
    <>
      <section class="card" aria-labelledby="tenant-title">
        <h2 id="tenant-title">Tenant</h2>
        <dl>
          <dt>Kind</dt>
          <dd>
            {visible(kind)} <span class="quiet">{kinds[kind] ?? ''}</span>
          </dd>
          <dt>May do at most</dt>
          <dd>
            <ul class="facts">
              {(state.policies ?? []).map((one) => (
                <li key={one}>
                  <a href={hrefOf(`${policies}/${encodeURIComponent(one)}`)}>
                    <bdi>{visible(one)}</bdi>
                  </a>
                </li>
              ))}
            </ul>
          </dd>
          {uuid !== undefined && (
            <>
              <dt>UUID</dt>
              <dd class="with-copy">
                <code>{visible(uuid)}</code> <CopyButton text={uuid} what="UUID" />
              </dd>
            </>
          )}
          {state['creation-time'] !== undefined && (
            <>
              <dt>Made</dt>
              <dd>
                <Moment at={state['creation-time']} />
              </dd>
            </>
          )}
        </dl>
      </section>
      {token.value !== undefined ? (
        <section class="card" aria-labelledby="root-title">
          <h2 id="root-title">Root token of {visible(name)}</h2>
          <p>It is shown this once, has no end, and can do everything in the tenant. Its administrator signs in with it.</p>
          <ShownOnce secret={token.value} what="root token" fileName={`${name}-root-token.txt`} />
        </section>
      ) : (
        <section class="card" aria-labelledby="root-title">
          <h2 id="root-title">Root token</h2>
          {state['root-token-issued'] === true ? (
            <p>
              <Chip tone="good">was made</Chip> There is one for each tenant: a second one cannot be made.
            </p>
          ) : (
            entry !== undefined && (
              <Act
                entry={entry}
                names={[]}
                body={{ name }}
                does="Make the root token"
                onDone={({ body }) => {
                  token.value = String((body as { readonly token?: unknown }).token);
                  turn.value += 1;
                }}
              >
                <p class="quiet">With it the administrator of the tenant signs in. It can be made once, and is shown once.</p>
              </Act>
            )
          )}
        </section>
      )}
      <OpenAs catalog={catalog} name={name} />
    </>
  );
}
