// Sentences of the pages that are made from the description, for people: what is on them, and what one of its entries is.
import type { Entry } from './catalog.ts';
import { capital } from './catalog.ts';
import { withoutTree } from '../address/path.ts';
import { inSentence } from '../language/language.ts';

type Purpose = {
  /** name for one entry */
  readonly one?: string;
  /** purpose of the list or page */
  readonly all?: string;
};

/** By template, without its tree. */
const purposes: Readonly<Record<string, Purpose>> = {
  'keystore/transit-keys': { one: 'Key' },
  'keystore/tls/ca': {
    one: 'Certificate authority',
    all: 'Those that issue certificates here, and those of others whose certificates are trusted.',
  },
  'keystore/tls/ca/{name}/certificates': { one: 'Certificate' },
  'keystore/authentication/approles': {
    one: 'Application',
    all: 'Programs that log in with a role-id and a secret-id, and what they may do then.',
  },
  'keystore/authentication/oidc': { one: 'Sign-in service', all: 'Identity providers with which people sign in here.' },
  'keystore/authentication/jwt': {
    one: 'Workload issuer',
    all: 'Platforms whose signed tokens log workloads in: pipelines, clusters, service meshes.',
  },
  'keystore/authentication/certificate/roles': {
    one: 'Certificate login',
    all: 'Who logs in with a TLS certificate, and with which rights.',
  },
  'policy/policies': { one: 'Policy', all: 'What tokens may do: each token has one or more of these.' },
  tenants: { one: 'Tenant', all: 'Owners of keys, authorities and logins, apart from each other.' },
  'keystore/kmip-clients': { one: 'KMIP client', all: 'Programs that speak KMIP, known by their TLS certificates.' },
  'keystore/kmip-spaces': { one: 'KMIP space', all: 'Objects that KMIP clients share.' },
  approvals: { all: 'Requests that wait for other people: your own, and those that you may decide.' },
  'approval/rules': { one: 'Approval rule', all: 'Acts that need the approval of other people.' },
  'system/cluster': { all: 'The appliances that share the store.' },
  'system/health': { all: 'What each part of the appliance says of itself.' },
  'system/audit': { all: 'The keys that sign the audit trail, and the newest record of each of its chains.' },
  'system/findings': { all: 'What a start or a background job has found, and who has answered it.' },
  'system/shipping': { all: 'Receivers of the audit trail and the log, and how far each is. The configuration file names them.' },
  topics: { all: 'The audit trail, and the log of the appliance.' },
};

/** Sentence below the title of a list; without one of its own that of the description. */
export function purposeOf({ path, operation }: Entry): string {
  return purposes[withoutTree(path)]?.all ?? capital(operation.summary.replace(/^List /, ''));
}

/** Sentence below the title of what is one alone; kind of an entry: `Read a transit key` is said of the operation, the page is of a key. */
export function kindOf({ path, operation }: Entry): string {
  return (
    purposes[withoutTree(path)]?.all ??
    purposes[listAbove(path)]?.one ??
    capital(operation.summary.replace(/^Read (?:the state of )?(?:an? )?/, ''))
  );
}

/** Title of the page that makes an entry. */
export function makingOf({ path, operation }: Entry): string {
  const one = oneOf(path);
  return one === undefined ? operation.summary : `New ${one}`;
}

/** Name of an entry of a list inside of a sentence, by the template of the list or of the entry; undefined where the list has no word for it. */
export function oneOf(path: string): string | undefined {
  const one = purposes[listAbove(path)]?.one;
  return one === undefined || /^[A-Z]{2}/.test(one) ? one : inSentence(one);
}

function listAbove(path: string): string {
  return withoutTree(path).replace(/\/\{[^}]+\}$/, '');
}
