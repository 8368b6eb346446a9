// New tenant: whom it is for.
import type { ComponentChildren } from 'preact';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { openMade, PurposePage, type Purpose } from './purpose-page.tsx';

const tenants = '/v1/config/tenants';

const words = {
  name: { label: 'Name', help: 'In addresses and logins: lower-case letters, digits and hyphens. It cannot be changed.' },
  'descriptive-name': { label: 'Name for people', help: 'What pages call it.' },
  policies: { label: 'What it may do at most', help: 'Empty: what tenants of its kind may do.' },
};

const purposes: readonly Purpose[] = [
  {
    id: 'application-owner',
    title: 'A team or an application',
    text: 'Keys, certificates and logins of its own, apart from everybody else’s.',
    outset: { first: ['name', 'descriptive-name'], fixed: { kind: 'application-owner' }, words, review: () => <After /> },
  },
  {
    id: 'site-provider',
    title: 'A provider of the site',
    text: 'Who looks after other tenants of this appliance.',
    outset: { first: ['name', 'descriptive-name', 'policies'], fixed: { kind: 'site-provider' }, words, review: () => <After /> },
  },
];

export function NewTenantPage(props: DrawnProps): ComponentChildren {
  return (
    <PurposePage
      {...props}
      title="New tenant"
      intro="Nothing of a tenant is seen by another one."
      asks="Whom is it for?"
      purposes={purposes}
      does="Create"
      onMade={(answer) => openMade(tenants, answer)}
    />
  );
}

function After(): ComponentChildren {
  return <p class="review">The next page makes its root token, with which its first person signs in and sets it up.</p>;
}
