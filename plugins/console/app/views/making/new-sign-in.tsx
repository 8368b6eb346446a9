// New sign-in service: the provider first, with the address that it asks for; the test runs when it is saved.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { fillPath } from '../../address/path.ts';
import { hrefOf } from '../../address/router.ts';
import { plainInput } from '../../forms/controls/control.ts';
import { Chip } from '../../parts/chip.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { Heading } from '../../parts/heading.tsx';
import { useLoaded } from '../../parts/loaded.ts';
import { Problem } from '../../parts/problem.tsx';
import { visible } from '../../parts/visible.ts';
import { providers, type Provider } from './providers.ts';
import { nameOfMade, PurposePage } from './purpose-page.tsx';

const services = '/v1/config/keystore/authentication/oidc';
const test = '/v1/state/keystore/authentication/oidc/{name}/test';

const words = {
  name: { label: 'Name', help: 'In addresses of the API: lower-case letters, digits and hyphens.' },
  'discovery-url': { label: 'Address of its metadata', help: 'Made of what you typed above.' },
  'client-id': { label: 'Client ID', help: 'The provider shows it when the client is registered.' },
  'client-secret': { label: 'Client secret', help: 'The provider shows it once. It is kept here and never shown.' },
  'role-select/role-claim': { label: 'Claim with the roles', help: 'Its values are the names of roles that you make here.' },
};
const first = ['client-id', 'client-secret', 'discovery-url', 'role-select/role-claim', 'name'];

type Tested = { readonly usable: boolean; readonly findings: readonly { readonly message: string }[] };

export function NewSignInPage(props: DrawnProps): ComponentChildren {
  const parts = useSignal<Readonly<Record<string, string>>>({});
  const made = useSignal<string | undefined>(undefined);
  const redirect = `${location.origin}/oidc-callback`;
  if (made.value !== undefined) return <Tried {...props} name={made.value} />;
  const purposes = providers.map(({ id, title, text, roleClaim, discovery, parts: named }) => {
    const typed = named.map((part) => (parts.value[part.id] ?? '').trim());
    const isComplete = typed.every((one) => one !== '');
    const preset = {
      name: id === 'generic' ? '' : id,
      'role-select/role-claim': roleClaim,
      'allowed-redirect-uris': redirect,
      ...(id === 'generic' ? {} : { 'display-name': title }),
      ...(isComplete ? { 'discovery-url': discovery(typed) } : {}),
    };
    return { id, title, text, outset: { first, preset, words } };
  });
  return (
    <PurposePage
      {...props}
      title="New sign-in service"
      intro="People sign in with the account they have."
      asks="Where do they have it?"
      purposes={purposes}
      does="Create and test"
      above={({ id }) => (
        <AtProvider
          provider={providers.find((one) => one.id === id)}
          redirect={redirect}
          texts={parts.value}
          onType={(part, text) => (parts.value = { ...parts.value, [part]: text })}
        />
      )}
      onMade={(answer) => {
        // A page that is loaded again must not offer to make a second one.
        history.replaceState(null, '', hrefOf(services, { do: 'created' }));
        made.value = nameOfMade(answer);
      }}
    />
  );
}

type AtProviderProps = {
  readonly provider: Provider | undefined;
  readonly redirect: string;
  readonly texts: Readonly<Record<string, string>>;
  readonly onType: (part: string, text: string) => void;
};

function AtProvider({ provider, redirect, texts, onType }: AtProviderProps): ComponentChildren {
  if (provider === undefined) return null;
  return (
    <div class="stack">
      <p>{provider.there}</p>
      <dl>
        <dt>Redirect address</dt>
        <dd class="with-copy">
          <code>{redirect}</code> <CopyButton text={redirect} what="redirect address" />
        </dd>
      </dl>
      {provider.parts.map(({ id, label, hint }) => (
        <div key={id} class="field">
          <label for={`provider-${id}`}>{label}</label>
          <input
            id={`provider-${id}`}
            type="text"
            {...plainInput}
            placeholder={hint}
            value={texts[id] ?? ''}
            onInput={(event) => onType(id, event.currentTarget.value)}
          />
        </div>
      ))}
    </div>
  );
}

/** Asks the appliance what it finds at the provider, and offers what is next. */
function Tried({ catalog, name }: DrawnProps & { readonly name: string }): ComponentChildren {
  const turn = useSignal(0);
  const loaded = useLoaded({ method: 'POST', path: fillPath(test, [name]), body: {} }, turn.value).value;
  const tested = loaded.state === 'there' ? (loaded.answer.body as Tested) : undefined;
  const service = `${services}/${encodeURIComponent(name)}`;
  return (
    <>
      <Heading catalog={catalog} title="Created" path={`${services}/new`}>
        <p class="quiet">The appliance asks the provider now whether it can be used.</p>
      </Heading>
      <section class="card" aria-labelledby="tried-title">
        <h2 id="tried-title">Test</h2>
        {loaded.state === 'failed' && <Problem error={loaded.error} />}
        <div role="status">
          {loaded.state === 'loading' && <Chip tone="quiet">asking the provider …</Chip>}
          {tested !== undefined && (
            <Chip tone={tested.usable ? 'good' : 'bad'}>{tested.usable ? 'It can be used' : 'It cannot be used yet'}</Chip>
          )}
        </div>
        {tested !== undefined && tested.findings.length > 0 && (
          <ul>
            {tested.findings.map(({ message }, index) => (
              <li key={index}>{visible(message)}</li>
            ))}
          </ul>
        )}
        <div class="buttons">
          <a class="button primary" href={hrefOf(`${service}/roles`, { do: 'create' })}>
            Make its first role
          </a>
          <button type="button" onClick={() => (turn.value += 1)}>
            Test again
          </button>
          <a class="button" href={hrefOf(service)}>
            Open {visible(name)}
          </a>
        </div>
      </section>
    </>
  );
}
