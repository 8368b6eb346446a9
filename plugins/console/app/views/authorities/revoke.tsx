// Revoking one certificate, or its line: the reason, and the name typed once more, because it cannot be taken back.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { go, hrefOf } from '../../address/router.ts';
import type { Entry } from '../../description/catalog.ts';
import { resolve, inputOf } from '../../description/schema.ts';
import { Act } from '../../forms/act.tsx';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { Heading } from '../../parts/heading.tsx';
import { useLoaded } from '../../parts/loaded.ts';
import { visible } from '../../parts/visible.ts';
import { commonNameOf } from './common-name.ts';
import { certificatePath, type CertificateState } from './state.ts';
import { Awaited } from '../../parts/loading.tsx';

export function RevokePage({ catalog, place: { names } }: DrawnProps): ComponentChildren {
  const [name = '', serial = ''] = names;
  const path = certificatePath(name, serial);
  const loaded = useLoaded({ method: 'GET', path }).value;
  const entry = catalog.entries.find(({ path: template }) => template === '/v1/state/keystore/tls/ca/{name}/revoke');
  const certificate = loaded.state === 'there' ? (loaded.answer.body as CertificateState) : undefined;
  const { schema } = resolve(
    (entry === undefined ? undefined : inputOf(entry.operation, catalog.document))?.properties?.['reason'] ?? {},
    catalog.document,
  );
  return (
    <>
      <Heading catalog={catalog} title={`Revoke ${commonNameOf(certificate?.subject ?? '') ?? serial}`} path={`${path}/revoke`}>
        <p class="quiet">
          <a href={hrefOf(path)}>Keep it</a>
        </p>
      </Heading>
      <Awaited loaded={loaded} />
      {certificate !== undefined && entry !== undefined && (
        <section class="card">
          <Revocation name={name} certificate={certificate} entry={entry} reasons={(schema.enum ?? []).map(String)} path={path} />
        </section>
      )}
    </>
  );
}

type RevocationProps = {
  readonly name: string;
  readonly certificate: CertificateState;
  readonly entry: Entry;
  readonly reasons: readonly string[];
  readonly path: string;
};

function Revocation({ name, certificate: { serial, subject, status }, entry, reasons, path }: RevocationProps): ComponentChildren {
  const reason = useSignal('unspecified');
  const line = useSignal(false);
  if (status === 'revoked') return <p>It is revoked already.</p>;
  return (
    <Act
      entry={entry}
      names={[name]}
      body={{ serial, reason: reason.value, ...(line.value && { line: true }) }}
      does="Revoke"
      confirm={{
        name: visible(commonNameOf(subject) ?? serial),
        what: 'This revokes the certificate, which cannot be taken back. Revocation list and OCSP say so from now on, and a device that shows the certificate is refused.',
      }}
      onDone={() => go(hrefOf(path), 'replace')}
    >
      <dl>
        <dt>Subject</dt>
        <dd>
          <bdi>{visible(subject)}</bdi>
        </dd>
        <dt>Serial number</dt>
        <dd>
          <code>{visible(serial)}</code>
        </dd>
      </dl>
      <div class="field">
        <label for="reason">Why</label>
        <select id="reason" value={reason.value} onChange={(event) => (reason.value = event.currentTarget.value)}>
          {reasons.map((one) => (
            <option key={one} value={one} selected={one === reason.value}>
              {one.replaceAll('-', ' ')}
            </option>
          ))}
        </select>
      </div>
      <label class="check">
        <input type="checkbox" checked={line.value} onChange={(event) => (line.value = event.currentTarget.checked)} />
        <span>Revoke its whole line, too: what it renewed, and all renewals of that.</span>
      </label>
    </Act>
  );
}
