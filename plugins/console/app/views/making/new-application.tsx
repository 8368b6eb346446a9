// New application: a login for a program, by where it runs.
import type { ComponentChildren } from 'preact';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { openMade, PurposePage, type Purpose } from './purpose-page.tsx';

const applications = '/v1/config/keystore/authentication/approles';

const words = {
  name: { label: 'Name', help: 'The trail calls it so: lower-case letters, digits and hyphens.' },
  'token-policies': { label: 'What it may do', help: 'Its policies. Only such as you have yourself.' },
  'secret-id-bound-cidrs': { label: 'From where', help: 'Addresses that it may log in from; empty: from anywhere.' },
  'token-ttl': { label: 'A login lasts', help: 'A program logs in again by itself when it ends.' },
  'secret-id-ttl': { label: 'A secret lasts', help: 'Afterwards the program needs another one; empty: until it is ended.' },
};

const purposes: readonly Purpose[] = [
  {
    id: 'server',
    title: 'A program that runs all the time',
    text: 'It logs in when it starts, and again by itself.',
    outset: { first: ['name', 'token-policies', 'secret-id-bound-cidrs'], words, review: () => <After /> },
  },
  {
    id: 'job',
    title: 'A job that runs now and then',
    text: 'A build, a backup: each login lasts an hour, each secret thirty days.',
    outset: {
      first: ['name', 'token-policies', 'token-ttl', 'secret-id-ttl'],
      preset: { 'token-ttl': '1h', 'token-max-ttl': '1h', 'secret-id-ttl': '30d' },
      words,
      review: () => <After />,
    },
  },
  {
    id: 'once',
    title: 'Something that logs in once',
    text: 'A machine that is set up: its secret works a single time within a day.',
    outset: {
      first: ['name', 'token-policies', 'secret-id-ttl'],
      preset: { 'secret-id-num-uses': '1', 'secret-id-ttl': '1d' },
      words,
      review: () => <After />,
    },
  },
];

export function NewApplicationPage(props: DrawnProps): ComponentChildren {
  return (
    <PurposePage
      {...props}
      title="New application"
      intro="A login for a program. For one key, “Give an application access” on the page of the key does it all."
      asks="What is it?"
      purposes={purposes}
      does="Create"
      onMade={(answer) => openMade(applications, answer)}
    />
  );
}

function After(): ComponentChildren {
  return <p class="review">The next page has its role-id, and makes the secret-id with which it logs in.</p>;
}
