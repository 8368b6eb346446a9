// "Enrol a device": the URL, the CA to trust, and commands that are ready to run.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { hrefOf } from '../../address/router.ts';
import { prepareForm } from '../../forms/prepared.ts';
import { AllowedLink } from '../../parts/allowed.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Heading } from '../../parts/heading.tsx';
import { useLoaded } from '../../parts/loaded.ts';
import { Problem } from '../../parts/problem.tsx';
import { QrCode } from '../../marks/qr-code.tsx';
import { SaveButton } from '../../marks/save-button.tsx';
import { visible } from '../../parts/visible.ts';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { enrolCommands, trustFiles } from '../../../../../core/enrolment/commands.ts';
import { Fingerprint } from '../authorities/fingerprint.tsx';
import { certificatesIn } from '../authorities/pem.ts';
import { authorityPath, authorityStatePath, type AuthorityState, type EstState } from '../authorities/state.ts';
import { exact } from '../../parts/typed.ts';
import { Awaited } from '../../parts/loading.tsx';

export function EnrolPage({ catalog, place: { names } }: DrawnProps): ComponentChildren {
  const [name = ''] = names;
  const loaded = useLoaded({ method: 'GET', path: authorityStatePath(name) }).value;
  return (
    <>
      <Heading catalog={catalog} title="Enrol a device" path={`${authorityPath(name)}/enrol`}>
        <p class="quiet">
          At the CA <bdi>{visible(name)}</bdi>. The device makes its own key and asks for a certificate.
        </p>
      </Heading>
      <Awaited loaded={loaded} />
      {loaded.state === 'there' && <Steps name={name} state={loaded.answer.body as AuthorityState} />}
      {loaded.state === 'there' && <OtherProtocols name={name} state={loaded.answer.body as AuthorityState} />}
    </>
  );
}

function Steps({ name, state }: { readonly name: string; readonly state: AuthorityState }): ComponentChildren {
  const { est, 'trust-only': isTrustOnly } = state;
  const urls = (est['https-url'] ?? []).filter((url) => !url.includes('~'));
  if (est.enabled !== true && othersOf(state).length > 0) return null;
  if (isTrustOnly || est.enabled !== true || urls.length === 0) {
    return (
      <section class="card">
        <h2>Devices cannot enrol here yet</h2>
        <p>
          {isTrustOnly
            ? 'This CA is only trusted: its key is elsewhere, and it issues nothing here.'
            : 'EST is off for this CA. Switch it on, and say how a device shows for the first time that it may enrol.'}
        </p>
        {!isTrustOnly && (
          <div class="buttons">
            <AllowedLink
              operation="update"
              path={authorityPath(name)}
              href={hrefOf(authorityPath(name), { do: 'edit' })}
              look="button primary"
            >
              Edit {visible(name)}
            </AllowedLink>
          </div>
        )}
      </section>
    );
  }
  return <Enabled name={name} state={state} urls={urls} />;
}

type Other = {
  readonly title: string;
  readonly urls: readonly string[];
  readonly make: string;
  readonly label: string;
  /** values with which the form of `make` opens */
  readonly values?: Readonly<Record<string, string>>;
};

/** The protocols beside EST that are on, and what a device is given for each. */
function othersOf({ scep, cmp, acme }: AuthorityState): readonly Other[] {
  const secret = { make: 'make-enrolment-secret', label: 'Make a secret for a device' };
  const all = [
    { title: 'SCEP', of: scep, urls: scep?.url, ...secret },
    { title: 'CMP', of: cmp, urls: cmp?.url, ...secret, values: { 'for-cmp': 'true' } },
    { title: 'ACME', of: acme, urls: acme?.['directory-url'], make: 'make-eab-key', label: 'Make a key for an account' },
  ];
  return all.flatMap(({ of, urls = [], ...other }) => (of?.enabled === true ? [{ ...other, urls }] : []));
}

function OtherProtocols({ name, state }: { readonly name: string; readonly state: AuthorityState }): ComponentChildren {
  return othersOf(state).map(({ title, urls, make, label, values }) => {
    const path = `${authorityStatePath(name)}/${make}`;
    const command = `keystorectl enrol-kit DEVICE --at ${name}`;
    return (
      <section class="card" key={title} aria-labelledby={`by-${title}`}>
        <h2 id={`by-${title}`}>By {title}</h2>
        {urls.length === 0 && <p>No listener for it is configured: set enrolment/listen.</p>}
        {urls.map((url) => (
          <div class="long" key={url}>
            <pre tabIndex={0} role="group" aria-label={`${title} URL`}>
              {visible(url)}
            </pre>
            <CopyButton text={url} what={`${title} URL`} />
          </div>
        ))}
        <p class="quiet">All that one device needs, with the commands of the common clients:</p>
        <div class="long">
          <pre tabIndex={0} role="group" aria-label={`Command for ${title}`}>
            {visible(command)}
          </pre>
          <CopyButton text={command} what="command" />
        </div>
        <div class="buttons">
          <AllowedLink operation="execute" path={path} href={hrefOf(path)} onFollow={values && (() => prepareForm(path, values))}>
            {label}
          </AllowedLink>
        </div>
      </section>
    );
  });
}

type EnabledProps = { readonly name: string; readonly state: AuthorityState; readonly urls: readonly string[] };

function Enabled({ name, state, urls }: EnabledProps): ComponentChildren {
  const url = useSignal(urls.find((one) => new URL(one).hostname === location.hostname) ?? urls[0] ?? '');
  const device = useSignal(exampleOf(state.est));
  const isName = /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(device.value);
  return (
    <>
      <Gaps name={name} est={state.est} />
      <section class="card" aria-labelledby="where">
        <h2 id="where">1. Where</h2>
        <div class="field">
          <label for="est-url">Address of this appliance, as the device reaches it</label>
          <select id="est-url" value={url.value} onChange={(event) => (url.value = event.currentTarget.value)}>
            {urls.map((one) => (
              <option key={one} value={one} selected={one === url.value}>
                {visible(new URL(one).host)}
              </option>
            ))}
          </select>
        </div>
        <div class="long">
          <pre tabIndex={0} role="group" aria-label="EST URL">
            {visible(url.value)}
          </pre>
          <CopyButton text={url.value} what="EST URL" />
        </div>
        <QrCode text={url.value} what="EST URL" />
      </section>
      <Trust name={name} state={state} />
      <section class="card" aria-labelledby="commands">
        <h2 id="commands">3. Enrol</h2>
        <div class="field">
          <label for="device">Name of the device</label>
          <p class="help">{allowedNames(state.est)}</p>
          <input
            id="device"
            type="text"
            value={device.value}
            aria-invalid={!isName}
            {...exact}
            onInput={(event) => (device.value = event.currentTarget.value.trim())}
          />
          {!isName && <p class="field-problem">It must be a DNS name, such as pump-7.plant.example.</p>}
        </div>
        {state.est['initial-enroll-secret-set'] === true && (
          <p>
            The secret is read from the environment, so that it is in no history: <code>read -rs EST_SECRET && export EST_SECRET</code>
          </p>
        )}
        {isName &&
          enrolCommands({ url: url.value, device: device.value, keyType: state['cert-key-type'] }).map(({ title, note, text }, index) => (
            <details class="recipe" key={title} open={index === 0}>
              <summary>{title}</summary>
              <p class="quiet">{note}</p>
              <pre tabIndex={0} role="group" aria-label={`Commands: ${title}`}>
                {visible(text, 'lines')}
              </pre>
              <CopyButton text={text} what={`commands for ${title}`} />
            </details>
          ))}
      </section>
    </>
  );
}

/** Shows the gaps that keep an enrolment from succeeding. */
function Gaps({ name, est }: { readonly name: string; readonly est: EstState }): ComponentChildren {
  const gaps = [
    ...(est['initial-enroll-secret-set'] !== true && est['initial-enroll-trust-ca'] === undefined
      ? ['No way of first enrolment is set: give it a secret, or a CA whose certificates devices bring.']
      : []),
    ...((est['allowed-domains'] ?? []).length === 0 ? ['No domain is allowed: every name is refused.'] : []),
  ];
  if (gaps.length === 0) return null;
  return (
    <section class="notice" role="note" aria-label="What is missing">
      <ul>
        {gaps.map((gap) => (
          <li key={gap}>{gap}</li>
        ))}
      </ul>
      <AllowedLink operation="update" path={authorityPath(name)} href={hrefOf(authorityPath(name), { do: 'edit' })}>
        Edit {visible(name)}
      </AllowedLink>
    </section>
  );
}

/** Two certificates to bring to the device: of the connection, and of the issuer. */
function Trust({ name, state: { chain } }: { readonly name: string; readonly state: AuthorityState }): ComponentChildren {
  const loaded = useLoaded({ method: 'GET', path: '/v1/ca/system/appliance/ca.pem' }).value;
  const appliance = loaded.state === 'there' ? String(loaded.answer.body) : undefined;
  return (
    <section class="card" aria-labelledby="trust">
      <h2 id="trust">2. Whom to trust</h2>
      <p class="quiet">Bring both files to the device on a way that you trust, or compare the fingerprints there.</p>
      <dl>
        <dt>
          This appliance <code>{trustFiles.appliance}</code>
        </dt>
        <dd>
          {loaded.state === 'failed' && <Problem error={loaded.error} />}
          {appliance !== undefined && (
            <Fingerprint pem={appliance} what="the appliance">
              <SaveButton content={appliance} name={trustFiles.appliance}>
                Save {trustFiles.appliance}
              </SaveButton>
            </Fingerprint>
          )}
        </dd>
        <dt>
          {visible(name)} <code>{trustFiles.issuer}</code>
        </dt>
        <dd>
          <Fingerprint pem={chain} which={-1} what={`the root of ${visible(name)}`}>
            <SaveButton content={chain} name={trustFiles.issuer}>
              Save {trustFiles.issuer}
            </SaveButton>
          </Fingerprint>
          {certificatesIn(chain).length > 1 && <p class="quiet">This is the root’s. The file has the certificates between, too.</p>}
        </dd>
      </dl>
    </section>
  );
}

function exampleOf({ 'allowed-domains': domains = [], 'allow-subdomains': allowsBelow = false }: EstState): string {
  const [domain = 'example.com'] = domains;
  return allowsBelow ? `device-1.${domain}` : domain;
}

function allowedNames(est: EstState): string {
  const domains = (est['allowed-domains'] ?? []).map((domain) => visible(domain));
  if (domains.length === 0) return 'No name is allowed yet.';
  const listed = `${domains.slice(0, 3).join(', ')}${domains.length > 3 ? ` and ${domains.length - 3} more` : ''}`;
  const [below, bare] = [est['allow-subdomains'] === true, est['allow-bare-domains'] === true];
  if (below && bare) return `Allowed: ${listed}, and names below.`;
  if (below) return `Allowed: names below ${listed}.`;
  return bare ? `Allowed: ${listed}.` : `Nothing is allowed: neither ${listed} nor names below. Edit the CA.`;
}
