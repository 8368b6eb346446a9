// Certificate authority at a glance: its place in the hierarchy, its certificate, and links to more.
import type { ComponentChildren } from 'preact';
import { hrefOf } from '../../address/router.ts';
import { Chip } from '../../parts/chip.tsx';
import { Until } from '../../marks/until.tsx';
import { AllowedLink } from '../../parts/allowed.tsx';
import { useLoaded, useSteady } from '../../parts/loaded.ts';
import { SaveButton } from '../../marks/save-button.tsx';
import { visible } from '../../parts/visible.ts';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { Fingerprint } from './fingerprint.tsx';
import { authorityPath, authorityStatePath, certificatesPath, keyOf, type AuthorityState } from './state.ts';

/** Draws nothing if the state may not be read: the settings below say what there is. */
export function AuthorityView({ place: { names }, turn }: DrawnProps): ComponentChildren {
  const [name = ''] = names;
  const loaded = useSteady(useLoaded({ method: 'GET', path: authorityStatePath(name) }, turn).value);
  if (loaded.state !== 'there') return null;
  const state = loaded.answer.body as AuthorityState;
  const { subject, chain, est, scep = {}, 'issuing-ca': issuer, 'trust-only': isTrustOnly } = state;
  const protocols = [...(est.enabled === true ? ['EST'] : []), ...(scep.enabled === true ? ['SCEP'] : [])];
  return (
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
          <Until at={state['not-after']} />
        </dd>
        <dt>SHA-256</dt>
        <dd>
          <Fingerprint pem={chain} what={visible(name)} />
        </dd>
        <dt>Devices</dt>
        <dd>
          {protocols.length > 0 ? (
            <Chip tone="good">may enrol over {protocols.join(' and ')}</Chip>
          ) : (
            <Chip tone="quiet">may not enrol: EST and SCEP are off</Chip>
          )}
        </dd>
        {scep['registration-not-after'] !== undefined && (
          <>
            <dt>Registration authority</dt>
            <dd>
              <Until at={scep['registration-not-after']} />
            </dd>
          </>
        )}
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
        {scep.enabled === true &&
          enrolmentLists.map(([list, title]) => {
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
  );
}

/** Lists of devices by the last segment of their paths. */
const enrolmentLists = [
  ['enrolment-requests', 'Devices that wait'],
  ['enrolment-secrets', 'One-time secrets'],
  ['enrolment-failures', 'Devices that fail'],
] as const;

function IssuerLink({ name }: { readonly name: string }): ComponentChildren {
  return (
    <a href={hrefOf(authorityPath(name))}>
      <bdi>{visible(name)}</bdi>
    </a>
  );
}
