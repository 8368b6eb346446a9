// Issued certificate: its status, and its revocation.
import type { ComponentChildren } from 'preact';
import { hrefOf } from '../../address/router.ts';
import { Life } from '../../charts/life.tsx';
import { AllowedLink } from '../../parts/allowed.tsx';
import { useLoaded, useSteady } from '../../parts/loaded.ts';
import { Loading } from '../../parts/loading.tsx';
import { SaveButton } from '../../marks/save-button.tsx';
import { visible } from '../../parts/visible.ts';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { commonNameOf } from './common-name.ts';
import { Fingerprint } from './fingerprint.tsx';
import { authorityStatePath, certificatePath, type CertificateState } from './state.ts';
import { StatusBadge } from './status-badge.tsx';

/** Draws nothing until it is loaded: the fields below say why not. */
export function CertificateView({ place: { names }, turn }: DrawnProps): ComponentChildren {
  const [name = '', serial = ''] = names;
  const loaded = useSteady(useLoaded({ method: 'GET', path: certificatePath(name, serial) }, turn).value);
  if (loaded.state === 'loading') return <Loading />;
  if (loaded.state !== 'there') return null;
  const { status, certificate, subject, ...state } = loaded.answer.body as CertificateState;
  return (
    <section class="card" aria-label="Certificate">
      <p class="badges">
        <StatusBadge status={status} />
        <bdi>{visible(subject)}</bdi>
        {status === 'valid' && <Life of={state} />}
      </p>
      {certificate !== undefined && (
        <dl>
          <dt>SHA-256</dt>
          <dd>
            <Fingerprint pem={certificate} what="the certificate" />
          </dd>
        </dl>
      )}
      <div class="buttons">
        {status === 'valid' && (
          <AllowedLink
            operation="execute"
            path={`${authorityStatePath(name)}/revoke`}
            href={hrefOf(certificatePath(name, serial), { do: 'revoke' })}
            look="button danger"
          >
            Revoke
          </AllowedLink>
        )}
        {certificate !== undefined && (
          <SaveButton content={certificate} name={`${commonNameOf(subject) ?? serial}.pem`}>
            Save certificate (PEM)
          </SaveButton>
        )}
      </div>
    </section>
  );
}
