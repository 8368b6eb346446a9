// The operations of the appliance, found by the paths of its description: what a page shows and offers is decided here.
import type { Command } from '../../../../core/http/description/command.ts';
import type { OpenApiDocument, Operation } from '../../../../core/http/description/document.ts';
import { matchPath, withoutTree } from '../address/path.ts';
import { fieldNames } from './field-names.ts';

/** Operation that a person can do. */
export type Entry = {
  readonly method: string;
  /** template of its path */
  readonly path: string;
  readonly operation: Operation;
  readonly command: Command;
  /** names in the path, in their order */
  readonly names: readonly string[];
};

/** Subject of an address. */
export type Place = {
  /** the operations of the path and of the same path in the other tree */
  readonly entries: readonly Entry[];
  /** values of the names in the path */
  readonly names: readonly string[];
};

/** A group of the navigation: the lists and pages of one tag. */
export type Group = { readonly tag: string; readonly description: string; readonly entries: readonly Entry[] };

export class Catalog {
  readonly document: OpenApiDocument;
  readonly entries: readonly Entry[];

  constructor(document: OpenApiDocument) {
    this.document = document;
    this.entries = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, operation]): Entry[] => {
        const command = operation['x-command'];
        if (command === undefined || command.verb === 'login' || command.verb === 'logout') return [];
        const names = [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1] ?? '');
        return [{ method: method.toUpperCase(), path, operation, command, names }];
      }),
    );
  }

  /** The operations at a path. Those of the state and of the configuration of one thing belong together. */
  at(path: string): Place | undefined {
    for (const { path: template } of this.entries) {
      const names = matchPath(template, path);
      if (names === undefined) continue;
      const below = withoutTree(template);
      return { names, entries: this.entries.filter((entry) => withoutTree(entry.path) === below) };
    }
    return undefined;
  }

  /** Lists the operations with an entry, and below it: its actions, lists and pages. */
  below({ entries, names }: Place): readonly Entry[] {
    const templates = new Set(entries.map(({ path }) => shapeOf(path)));
    return this.entries.filter((entry) => {
      const segments = shapeOf(entry.path).split('/');
      return (
        entry.names.length === names.length &&
        (entry.command.verb === 'do' || entry.command.verb === 'list' || entry.command.verb === 'show') &&
        [1, 2].some(
          (count) => templates.has(segments.slice(0, -count).join('/')) && segments.slice(-count).every((one) => !one.startsWith('{')),
        )
      );
    });
  }

  /** Lists, pages and actions that need no name, by tag in the order of the description. One for each path of the two trees. */
  groups(): readonly Group[] {
    const seen = new Set<string>();
    const open = this.entries.filter(({ names, command, path }) => {
      if (names.length > 0 || !['list', 'show', 'do'].includes(command.verb)) return false;
      const key = withoutTree(path);
      if (command.verb !== 'do' && seen.has(key)) return false;
      seen.add(key);
      return true;
    });
    return this.document.tags.flatMap(({ name, description }) => {
      const entries = open.filter(({ operation }) => operation.tags[0] === name);
      return entries.length === 0 ? [] : [{ tag: name, description, entries }];
    });
  }
}

/** A template without its tree and without the words that it has for names: what is below a path may have another word for the same name. */
function shapeOf(template: string): string {
  return withoutTree(template).replaceAll(/\{[^}]+\}/g, '{}');
}

/** Words that are not written as they are spelled in paths. */
const spelled: Readonly<Record<string, string>> = {
  openpgp: 'OpenPGP',
  // Members of tokens and of keys (RFC 7517, RFC 7519), which their names abbreviate.
  iss: 'issuer',
  aud: 'audience',
  sub: 'subject',
  crv: 'curve',
  iv: 'IV',
  num: 'number of',
  min: 'minimum',
  max: 'maximum',
  mgf1: 'MGF1',
  p50: 'median',
  p99: '99th percentile',
  azp: 'authorized party',
  nbf: 'not before',
  kty: 'key type',
  kid: 'key ID',
  alg: 'algorithm',
  sha256: 'SHA-256',
  uris: 'URIs',
  ids: 'IDs',
  cidrs: 'CIDRs',
  sans: 'SANs',
  urls: 'URLs',
  certs: 'certificates',
  cert: 'certificate',
};
const inCapitals =
  /^(?:api|rest|ca|csr|crl|hsm|oidc|est|pin|url|uri|tls|ocsp|hmac|ttl|dns|ip|uuid|jwt|jwk|jwks|pkce|json|pem|rsa|aes|mac|scep|acme|cmp|cmac|eab|sms|smtp|http|https|id|qr|cn|dn|san|kms|siem|ldap|kmip|kdf|hkdf|ra|caa|jws|aead)$/;

/** Names of lists, pages and actions that would say little as they are spelled in paths. */
const inFull: Readonly<Record<string, string>> = {
  ca: 'Certificate authorities',
  approles: 'Applications',
  oidc: 'Sign-in services',
  jwt: 'Workloads',
  'certificate/roles': 'Certificate logins',
  'transit-keys': 'Keys',
  'keystore/tokens': 'Sessions and tokens',
  'system/audit': 'Signed heads',
  image: 'Updates',
  'approval/rules': 'Approval rules',
  'backup-status': 'Backups',
  init: 'Make a cluster',
  invite: 'Invite an appliance',
  join: 'Join a cluster',
  admit: 'Admit an appliance',
  'remove-member': 'Remove an appliance',
};

/** `transit-keys` as people write it. */
export function titleOf(text: string): string {
  const name = fieldNames[text];
  if (name !== undefined) return name;
  const words = text.split('-').map((word) => spelled[word] ?? (inCapitals.test(word) ? word.toUpperCase() : word));
  return capital(words.join(' '));
}

/** Groups of the description as the pages are called. */
const groups: Readonly<Record<string, string>> = {
  approles: 'Applications',
  oidc: 'Sign-in services',
  jwt: 'Workloads',
  'hand-overs': 'Hand-overs',
  'tls-authorities': 'Certificate authorities',
  'transit-keys': 'Keys',
  'key-actions': 'Uses of keys',
};

/** Name of a group of the description. */
export function groupName(tag: string): string {
  return groups[tag] ?? titleOf(tag);
}

/** A text as the beginning of a sentence. */
export function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Name of an operation on a button or in the navigation. */
export function nameOf({ command, path }: Entry): string {
  if (command.verb === 'do') return inFull[command.action ?? ''] ?? titleOf(command.action ?? '');
  const [last = '', above] = path
    .split('/')
    .filter((segment) => !segment.startsWith('{'))
    .toReversed();
  return inFull[`${above}/${last}`] ?? inFull[last] ?? titleOf(last);
}
