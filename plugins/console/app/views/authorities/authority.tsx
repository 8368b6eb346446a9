// Certificate authority at a glance: its place in the hierarchy, its certificate, and links to more.
import type { ComponentChildren } from 'preact';
import { hrefOf } from '../../address/router.ts';
import { Chip } from '../../parts/chip.tsx';
import { Life } from '../../charts/life.tsx';
import { Until } from '../../marks/until.tsx';
import { AllowedLink } from '../../parts/allowed.tsx';
import { useLoaded, useSteady } from '../../parts/loaded.ts';
import { Loading } from '../../parts/loading.tsx';
import { SaveButton } from '../../marks/save-button.tsx';
import { visible } from '../../parts/visible.ts';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { fromNow, When } from '../../times/moments.tsx';
import { WhoUsed } from '../audit/who-used.tsx';
import { Fingerprint } from './fingerprint.tsx';
import { authorityPath, authorityStatePath, certificatesPath, keyOf, type AuthorityState, type ProtocolState } from './state.ts';

/** Draws nothing if the state may not be read: the settings below say what there is. */
export function AuthorityView({ catalog, place: { names }, turn }: DrawnProps): ComponentChildren {
  const [name = ''] = names;
  const loaded = useSteady(useLoaded({ method: 'GET', path: authorityStatePath(name) }, turn).value);
  if (loaded.state === 'loading') return <Loading />;
  if (loaded.state !== 'there') return null;
  const state = loaded.answer.body as AuthorityState;
  const { subject, chain, scep = {}, cmp = {}, acme = {}, 'issuing-ca': issuer, 'trust-only': isTrustOnly } = state;
  const registration = scep['registration-not-after'] === undefined ? cmp : scep;
  return (
    <>
      <section class="card" aria-label={`Certificate authority ${visible(name)}`}>
        <dl>
          <dt>Issued by</dt>
          <dd>{issuer === undefined ? isTrustOnly ? 'a CA elsewhere' : 'itself, or a CA elsewhere' : <IssuerLink name={issuer} />}</dd>
          {subject !== undefined && (
            <>
              <dt>Subject</dt>
              <dd>
                <bdi>{visible(subject)}</bdi>
              </dd>
            </>
          )}
          {!isTrustOnly && (
            <>
              <dt>Key</dt>
              <dd>{keyOf(state)}</dd>
            </>
          )}
          <dt>Certificate</dt>
          <dd>
            <Life of={state} />
          </dd>
          <dt>SHA-256</dt>
          <dd>
            <Fingerprint pem={chain} what={visible(name)} />
          </dd>
          <dt>Devices</dt>
          <dd>
            <Protocols of={state} />
          </dd>
          <RegistrationLife of={registration} />
        </dl>
        <div class="buttons">
          {!isTrustOnly && (
            <>
              <a class="button primary" href={hrefOf(authorityPath(name), { do: 'enrol' })}>
                Enrol a device
              </a>
              <AllowedLink operation="read" path={certificatesPath(name)} href={hrefOf(certificatesPath(name))}>
                Issued certificates
              </AllowedLink>
            </>
          )}
          {enrolmentLists
            .filter(([, , ofAcme]) => (ofAcme ? acme : scep.enabled === true ? scep : cmp).enabled === true)
            .map(([list, title]) => {
              const path = `${authorityStatePath(name)}/${list}`;
              return (
                <AllowedLink key={list} operation="read" path={path} href={hrefOf(path)}>
                  {title}
                </AllowedLink>
              );
            })}
          <SaveButton content={chain} name={`${name}-chain.pem`}>
            Save chain (PEM)
          </SaveButton>
        </div>
      </section>
      <WhoUsed catalog={catalog} filter={{ where: `/tls/ca/${name}` }} />
    </>
  );
}

/** Draws nothing before a device has asked for it. */
function RegistrationLife({ of }: { readonly of: ProtocolState }): ComponentChildren {
  const { 'registration-not-before': begin, 'registration-not-after': end, 'registration-renewal-time': renewal } = of;
  if (begin === undefined || end === undefined || renewal === undefined) return null;
  const renewalMs = Date.parse(renewal);
  return (
    <>
      <dt>Registration authority</dt>
      <dd>
        <span class="quiet">
          <When at={begin}>made {fromNow(Date.parse(begin))}</When>
        </span>{' '}
        <Until at={end} />{' '}
        <span class="quiet">
          {renewalMs < Date.now() ? 'renewed at the next request' : <When at={renewal}>renewed {fromNow(renewalMs)}</When>}
        </span>
      </dd>
    </>
  );
}

function Protocols({ of: { est, scep, cmp, acme } }: { readonly of: AuthorityState }): ComponentChildren {
  const names = Object.entries({ EST: est, SCEP: scep, CMP: cmp, ACME: acme }).flatMap(([name, settings]) =>
    settings?.enabled === true ? [name] : [],
  );
  if (names.length === 0) return <Chip tone="quiet">may not enrol: EST, SCEP, CMP and ACME are off</Chip>;
  return <Chip tone="good">may enrol over {names.join(' and ')}</Chip>;
}

/** Lists of devices by the last segment of their paths, and whether they are of ACME. */
const enrolmentLists = [
  ['enrolment-requests', 'Devices that wait', false],
  ['enrolment-secrets', 'One-time secrets', false],
  ['enrolment-failures', 'Devices that fail', false],
  ['eab-keys', 'Keys for accounts', true],
] as const;

function IssuerLink({ name }: { readonly name: string }): ComponentChildren {
  return (
    <a href={hrefOf(authorityPath(name))}>
      <bdi>{visible(name)}</bdi>
    </a>
  );
}
