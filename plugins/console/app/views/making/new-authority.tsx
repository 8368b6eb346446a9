// New certificate authority: by what it issues, with the secret of a first enrolment made here and shown once.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { hrefOf } from '../../address/router.ts';
import { valueAt, type Body } from '../../forms/draft.ts';
import { ShownOnce } from '../../marks/shown-once.tsx';
import { useUntilEnd } from '../../marks/until-end.ts';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { Heading } from '../../parts/heading.tsx';
import { visible } from '../../parts/visible.ts';
import { authorityPath } from '../authorities/state.ts';
import { nameOfMade, PurposePage, type Purpose } from './purpose-page.tsx';

const authorities = '/v1/config/keystore/tls/ca';
const secretField = 'est/initial-enroll-secret';

const words = {
  name: { label: 'Name', help: 'In addresses and lists: lower-case letters, digits and hyphens.' },
  subject: { label: 'Name in its certificate', help: 'Empty: CN= and its name.' },
  ttl: { label: 'Its certificate lasts', help: 'What it issues ends before it does.' },
  'issuing-ca': { label: 'Below which authority', help: 'Empty: it is a root of its own.' },
  'ca-cert': { label: 'Its certificate', help: 'PEM, as its owner gives it.' },
  'est/allowed-domains': { label: 'Domains that devices may have', help: 'With everything below them, such as plant.example.' },
  'est/ttl': { label: 'Certificates last', help: 'Devices renew by themselves before the end.' },
};

function purposesWith(secret: string): readonly Purpose[] {
  return [
    {
      id: 'devices',
      title: 'Certificates for devices',
      text: 'They ask for one by themselves (EST), with a secret that is made now.',
      outset: {
        first: ['name', 'issuing-ca', 'est/allowed-domains', 'est/ttl'],
        preset: { 'est/enabled': 'true', 'est/allow-subdomains': 'true', [secretField]: secret },
        words,
        review: (body: Body) => (
          <p class="review">
            {issuer(body)} Devices enrol with a secret, which the next page shows this once, for names below {domainsIn(body)}.
          </p>
        ),
      },
    },
    {
      id: 'root',
      title: 'A root',
      text: 'The one that everything trusts. Other authorities are made below it.',
      outset: {
        first: ['name', 'subject', 'ttl'],
        words,
        review: () => (
          <p class="review">It signs itself, and issues nothing by itself: make another one below it for devices or servers.</p>
        ),
      },
    },
    {
      id: 'below',
      title: 'Below my root',
      text: 'It can be replaced while everything goes on trusting the root.',
      outset: { first: ['name', 'issuing-ca', 'subject', 'ttl'], words, review: (body: Body) => <p class="review">{issuer(body)}</p> },
    },
    {
      id: 'trusted',
      title: 'Only trusted',
      text: 'An authority elsewhere, whose certificates count here.',
      outset: {
        first: ['name', 'ca-cert'],
        words,
        review: () => <p class="review">Its key is elsewhere: it issues nothing here.</p>,
      },
    },
  ];
}

export function NewAuthorityPage(props: DrawnProps): ComponentChildren {
  const drawn = useMemo(drawSecret, []);
  const made = useSignal<string | undefined>(undefined);
  const secret = useUntilEnd<string>();
  if (made.value !== undefined) return <Made {...props} name={made.value} secret={secret.value} />;
  return (
    <PurposePage
      {...props}
      title="New authority"
      intro="Its key is made in the HSM and never leaves it."
      asks="What is it for?"
      purposes={purposesWith(drawn)}
      does="Create"
      onMade={(answer, { id }) => {
        // A page that is loaded again must not offer to make a second one.
        history.replaceState(null, '', hrefOf(authorities, { do: 'created' }));
        secret.value = id === 'devices' ? drawn : undefined;
        made.value = nameOfMade(answer);
      }}
    />
  );
}

function Made({ catalog, name, secret }: DrawnProps & { readonly name: string; readonly secret: string | undefined }): ComponentChildren {
  return (
    <>
      <Heading catalog={catalog} title="Created" path={`${authorities}/new`}>
        <div class="buttons">
          {secret !== undefined && (
            <a class="button primary" href={hrefOf(authorityPath(name), { do: 'enrol' })}>
              Enrol a device
            </a>
          )}
          <a class={secret === undefined ? 'button primary' : 'button'} href={hrefOf(authorityPath(name))}>
            Open {visible(name)}
          </a>
        </div>
      </Heading>
      {secret !== undefined && (
        <section class="card" aria-labelledby="secret-title">
          <h2 id="secret-title">Secret of first enrolment</h2>
          <p>Devices show it once, for their first certificate. It is shown this once: keep it, or set another one later.</p>
          <ShownOnce secret={secret} what="secret of first enrolment" fileName={`${name}-enrolment-secret.txt`} />
        </section>
      )}
    </>
  );
}

function domainsIn(body: Body): string {
  const domains = valueAt(body, 'est/allowed-domains');
  return Array.isArray(domains) && domains.length > 0 ? domains.map((one) => visible(String(one))).join(', ') : 'the domains that you name';
}

function issuer(body: Body): string {
  const above = body['issuing-ca'];
  return typeof above === 'string' ? `“${visible(above)}” signs its certificate.` : 'It is a root of its own.';
}

/** 144 random bits, in characters that every device and every shell takes. */
function drawSecret(): string {
  const octets = crypto.getRandomValues(new Uint8Array(24));
  return [...octets].map((octet) => alphabet[octet % alphabet.length]).join('');
}

/** 64 characters: each octet gives six bits without a preference. */
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
