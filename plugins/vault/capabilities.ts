// Capabilities of a token, path by path: the decision of the policies about the requests that each path stands for.
import { fail } from '../../core/base/errors.ts';
import type { Alias, Asked } from '../../core/http/alias.ts';
import type { JsonObject } from '../../core/wire/json.ts';
import { type Facade, rightToWrap, writes } from './facade.ts';
import { isName } from '../../core/wire/fields.ts';
import { Fields } from './fields.ts';
import { pkiQuestions } from './pki/capabilities.ts';

/** Most paths of one request: each stands for up to three questions, of which the policy check takes 200. */
const mostPaths = 40;

/** `names`: what fields of the request name. */
type Question = {
  readonly capability: string;
  readonly path: string;
  readonly operation: string;
  readonly names?: Readonly<Record<string, string>>;
  /** another capability without which it counts for nothing */
  readonly beside?: string;
  /** only counts for others */
  readonly isNeeded?: true;
};
type Decision = { readonly allowed: boolean };

export function capabilityAliases(facade: Facade): readonly Alias[] {
  const asked = new WeakMap<Asked, readonly (readonly [string, readonly Question[]])[]>();
  const check = { of: 'POST /v1/state/policy/check-many', target: () => ({ params: {} }) };
  return facade.aliases({
    methods: writes,
    path: '/v1/sys/capabilities-self',
    ...check,
    input: (document, it, caller) => {
      const fields = new Fields(document, ['token', 'accessor']);
      const one = fields.text('path');
      const paths = fields.texts('paths') ?? (one === undefined ? [] : [one]);
      if (paths.length === 0 || paths.length > mostPaths)
        throw fail('invalid-value', { detail: `"paths" must name 1 to ${mostPaths} paths.` });
      const makesKeys = caller !== undefined && facade.settingsOf(caller.tenantName)?.upsert === true;
      const about = paths.map((path) => [path, questionsOf(facade, path, makesKeys)] as const);
      asked.set(it, about);
      const questions = about.flatMap(([, some]) => some);
      // A path that stands for nothing is asked about all the same: the request is answered, and recorded, like any other.
      const all = questions.length === 0 ? [unknownPath] : questions;
      return { questions: all.map(({ path, operation, names }) => ({ path, operation, ...(names === undefined ? {} : { names }) })) };
    },
    answer: ({ requestId, document }, it) => {
      // A policy may hide them: then nothing is known to be allowed.
      const { decisions = [] } = document as { readonly decisions?: readonly Decision[] };
      let at = 0;
      const found = (asked.get(it) ?? []).map(([path, questions]): [string, readonly string[]] => {
        const allowed = questions.filter(() => decisions[at++]?.allowed === true);
        const whole = allowed.filter(({ beside }) => beside === undefined || allowed.some(({ capability }) => capability === beside));
        const shown = whole.filter(({ isNeeded }) => isNeeded !== true).map(({ capability }) => capability);
        return [path, shown.length === 0 ? ['deny'] : shown];
      });
      const data: JsonObject = Object.fromEntries(found);
      const [first] = found;
      const whole = found.length === 1 && first !== undefined ? { ...data, capabilities: first[1] } : data;
      return facade.envelopedTwice(it, requestId, whole);
    },
  });
}

/** Stands for requests that every token may make, of its own or of one that it also needs a right to: the policy `default` allows the request. */
const everyToken = { path: '/v1/state/keystore/token/info', operation: 'execute' } as const;
const ofEveryToken = [
  ...['lookup', 'lookup-accessor', 'revoke', 'revoke-accessor'].map((act) => [`auth/token/${act}`, 'update'] as const),
  ...['lookup', 'unwrap', 'rewrap'].map((act) => [`sys/wrapping/${act}`, 'update'] as const),
  ...['mounts', 'auth', 'internal/ui/mounts', 'health', 'seal-status', 'leader', 'init'].map((path) => [`sys/${path}`, 'read'] as const),
] as const;

const unknownPath: Question = { capability: 'read', path: '/v1/state/none', operation: 'read' };
const state = '/v1/state/keystore/transit-keys';
const config = '/v1/config/keystore/transit-keys';

/** Actions that both APIs call the same. */
const uses = new Set(['encrypt', 'decrypt', 'rewrap', 'sign', 'verify', 'hmac']);

/** The requests that a path stands for, and the capability that each would be. */
function questionsOf(facade: Facade, path: string, makesKeys: boolean): readonly Question[] {
  const execute = (target: string): readonly Question[] => [{ capability: 'update', path: target, operation: 'execute' }];
  const plain = path.replace(/^\/?(?:v1\/)?/, '').replace(/\/$/, '');
  const own: Readonly<Record<string, readonly Question[]>> = {
    'auth/token/lookup-self': [{ capability: 'read', path: '/v1/state/keystore/token/info', operation: 'execute' }],
    'auth/token/renew-self': execute('/v1/state/keystore/token/refresh'),
    'auth/token/revoke-self': execute('/v1/state/keystore/token/disable'),
    'sys/capabilities-self': execute('/v1/state/policy/check-many'),
    'sys/wrapping/wrap': execute(rightToWrap.path),
    ...Object.fromEntries(ofEveryToken.map(([one, capability]) => [one, [{ ...everyToken, capability }]])),
    ...Object.fromEntries(facade.approleMounts.map((mount) => [`auth/${mount}/login`, [{ ...everyToken, capability: 'update' }]])),
  };
  if (Object.hasOwn(own, plain)) return own[plain] ?? [];
  const certificates = Object.entries(facade.pkiMounts).find(([one]) => plain.startsWith(`${one}/`));
  if (certificates !== undefined) {
    const [path, settings] = certificates;
    return pkiQuestions({ path, ...settings }, plain.slice(path.length + 1));
  }
  const role = facade.approleMounts.map((one) => `auth/${one}/role`).find((one) => plain === one || plain.startsWith(`${one}/`));
  if (role !== undefined) return aboutApproles(plain.slice(role.length + 1).split('/'), execute);
  const mount = facade.transitMounts.find((one) => plain.startsWith(`${one}/`));
  if (mount === undefined) return [];
  const [action = '', ...rest] = plain.slice(mount.length + 1).split('/');
  if (action === 'random') return execute('/v1/state/keystore/crypto-functions/random-bytes');
  if (action === 'keys') return aboutKeys(rest, execute);
  if (Object.hasOwn(moves, action)) return aboutMoves(action, rest);
  // A text that cannot be a name is refused, so its path does not exist either.
  const name = rest[action === 'datakey' ? 1 : 0] ?? '';
  if (!isName(name)) return [];
  if (action === 'datakey') return rest.length === 2 ? execute(`${state}/${name}/generate-data-key`) : [];
  if (!uses.has(action) || rest.length > 2) return [];
  // Such an `encrypt` makes a key that does not exist.
  const making = makesKeys && action === 'encrypt' ? [{ ...creationOf(name), beside: 'update' }] : [];
  return [...execute(`${state}/${name}/${action}`), ...making];
}

/** Capability of each way by which keys come and go, and our action. */
const moves: Readonly<Record<string, readonly [capability: string, action: string]>> = {
  wrapping_key: ['read', ''],
  export: ['read', 'export'],
  'byok-export': ['read', 'export'],
  backup: ['read', 'backup'],
  restore: ['update', 'restore'],
};

function aboutMoves(move: string, rest: readonly string[]): readonly Question[] {
  const [capability = '', action = ''] = moves[move] ?? [];
  if (move === 'wrapping_key') return rest.length > 0 ? [] : [{ capability, path: '/v1/state/keystore/wrapping-key', operation: 'read' }];
  const [kind = '', name = '', ...versions] = move === 'backup' || move === 'restore' ? ['', ...rest] : rest;
  if (!isName(name) || versions.length > (move.endsWith('export') ? 1 : 0)) return [];
  if (move === 'export' && kind === 'public-key') return [{ capability, path: `${state}/${name}`, operation: 'read' }];
  if (move === 'export' && kind !== 'encryption-key' && kind !== 'signing-key') return [];
  const use = { capability, path: `${state}/${name}/${action}`, operation: 'execute' };
  if (move !== 'byok-export') return [use];
  // The key of the destination is read, too.
  const destination = { capability: 'read of the destination', path: `${state}/${kind}`, operation: 'read', isNeeded: true } as const;
  return isName(kind) ? [{ ...use, beside: destination.capability }, destination] : [];
}

const approles = '/v1/state/keystore/authentication/approles';

function aboutApproles([name = '', ...act]: readonly string[], execute: (path: string) => readonly Question[]): readonly Question[] {
  if (name === '') return [{ capability: 'list', path: '/v1/config/keystore/authentication/approles', operation: 'read' }];
  if (!isName(name)) return [];
  const entry = `${approles}/${name}`;
  const acts: Readonly<Record<string, readonly Question[]>> = {
    'role-id': [{ capability: 'read', path: entry, operation: 'read' }],
    'secret-id': [...execute(`${entry}/generate-secret-id`), { capability: 'list', path: `${entry}/secret-ids`, operation: 'read' }],
    'secret-id/destroy': execute(`${entry}/disable-secret-id`),
    'secret-id-accessor/destroy': execute(`${entry}/disable-secret-id`),
    'secret-id-accessor/lookup': [{ capability: 'update', path: `${entry}/secret-ids`, operation: 'read' }],
  };
  return acts[act.join('/')] ?? [];
}

function creationOf(name: string): Question {
  return { capability: 'create', path: config, operation: 'create', names: { name } };
}

function aboutKeys([name, act, ...more]: readonly string[], execute: (path: string) => readonly Question[]): readonly Question[] {
  if (name === undefined) return [{ capability: 'list', path: config, operation: 'read' }];
  if (!isName(name)) return [];
  const entry = `${config}/${name}`;
  if (act === undefined)
    return [
      creationOf(name),
      { capability: 'delete', path: entry, operation: 'delete' },
      { capability: 'read', path: `${state}/${name}`, operation: 'read' },
    ];
  if (act === 'config' && more.length === 0) return [{ capability: 'update', path: entry, operation: 'update' }];
  if (act === 'import' && more.length === 0) {
    const creation = { ...creationOf(name), capability: 'creation of the key', isNeeded: true } as const;
    return [{ capability: 'update', path: `${state}/${name}/import`, operation: 'execute', beside: creation.capability }, creation];
  }
  if (act === 'import_version' && more.length === 0) return execute(`${state}/${name}/import`);
  return (act === 'rotate' || act === 'trim') && more.length === 0 ? execute(`${state}/${name}/${act}`) : [];
}
