// Facts about each platform: where its issuer is, how long its tokens live, which claims identify a workload and which only seem to.
import { topLevelName } from '../../../core/identity/claims.ts';
import type { IssuerKind } from './issuer-record.ts';
import { type Binding, prefixOf } from '../token/bindings.ts';

type Platform = {
  /** the issuer, where there is one for all */
  readonly issuer?: string;
  /** keys are found by the metadata at the issuer */
  readonly hasDiscovery: boolean;
  readonly maxAgeSeconds: number;
  /** a new token is made for each request, so that one is taken once; others are cached by the platform */
  readonly once: boolean;
  /** sets of claims (JSON pointers), each of which identifies a workload if all its members are bound to exact values */
  readonly identifies: readonly (readonly string[])[];
};

const hour = 3_600;
const serviceAccount = '/kubernetes.io/serviceaccount';

export const platforms: Readonly<Record<IssuerKind, Platform>> = {
  github: {
    issuer: 'https://token.actions.githubusercontent.com',
    hasDiscovery: true,
    maxAgeSeconds: hour,
    once: true,
    identifies: [['/repository_id'], ['/repository'], ['/sub'], ['/repository_owner_id']],
  },
  gitlab: {
    issuer: 'https://gitlab.com',
    hasDiscovery: true,
    maxAgeSeconds: hour,
    once: true,
    identifies: [['/project_id'], ['/project_path'], ['/sub'], ['/namespace_id']],
  },
  kubernetes: { hasDiscovery: false, maxAgeSeconds: 24 * hour, once: false, identifies: [['/sub'], [`${serviceAccount}/uid`]] },
  spiffe: { hasDiscovery: false, maxAgeSeconds: hour, once: false, identifies: [['/sub']] },
  entra: { hasDiscovery: true, maxAgeSeconds: 24 * hour, once: false, identifies: [['/oid'], ['/sub']] },
  google: {
    issuer: 'https://accounts.google.com',
    hasDiscovery: true,
    maxAgeSeconds: hour,
    once: false,
    identifies: [['/sub'], ['/email', '/email_verified'], ['/google/compute_engine/project_number', '/google/compute_engine/instance_id']],
  },
  aws: { hasDiscovery: true, maxAgeSeconds: hour, once: true, identifies: [['/sub']] },
  generic: { hasDiscovery: true, maxAgeSeconds: hour, once: false, identifies: [] },
};

/** Claims at the top that say nothing about who it is, nor does a part of them: they are in every token, or the caller chooses them. */
const impersonal: ReadonlySet<string> = new Set([
  ...['iss', 'aud', 'exp', 'iat', 'nbf', 'jti', 'azp', 'typ', 'ver', 'nonce', 'scope', 'scp'],
  ...['token_use', 'token_type', 'auth_time', 'acr', 'amr', 'at_hash', 'c_hash', 'sid'],
]);

/** The pointer of a claim, for names at the top as well. */
function pointerOf(claim: string): string {
  return claim.startsWith('/') ? claim : `/${claim.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Tells whether bindings have a claim, or a set of claims, that identifies a workload of the platform. */
export function identify(kind: IssuerKind, bindings: readonly Binding[]): boolean {
  const exact = new Set(bindings.filter((binding) => isExact(kind, binding)).map(({ claim }) => pointerOf(claim)));
  if (kind === 'generic') return [...exact].some((pointer) => !impersonal.has(pointer.split('/')[1] ?? ''));
  return platforms[kind].identifies.some((set) => set.every((pointer) => exact.has(pointer)));
}

/** Exact values identify; of a trust domain also all ids below a path, and of unknown platforms an entry of a list, but no yes or no. */
function isExact(kind: IssuerKind, { value, contains, claim }: Binding): boolean {
  if (kind === 'generic' && typeof value === 'boolean') return false;
  if (contains !== undefined) return kind === 'generic';
  if (pointerOf(claim) === '/email_verified') return value === true;
  if (typeof value !== 'string' || prefixOf(value) === undefined) return true;
  return kind === 'spiffe' && pointerOf(claim) === '/sub' && /^spiffe:\/\/[^/*]+\//.test(value);
}

/** The claims of which one must be bound, in words, to follow "bind". */
export function identifyingClaims(kind: IssuerKind): string {
  if (kind === 'generic') return 'sub or another claim that only the workload has';
  return platforms[kind].identifies.map((set) => set.map((pointer) => topLevelName(pointer) ?? pointer).join(' with ')).join(', or ');
}

/** A binding by a name that can be given to others, and what to bind in its place or besides. */
const names: readonly { readonly pointer: string; readonly unless: readonly string[]; readonly advice: string }[] = [
  {
    pointer: '/repository',
    unless: ['/repository_id'],
    advice: 'A freed name of a repository can be taken by others: bind repository_id too.',
  },
  {
    pointer: '/repository_owner',
    unless: ['/repository_owner_id'],
    advice: 'A freed name of an owner can be taken by others: bind repository_owner_id too.',
  },
  { pointer: '/project_path', unless: ['/project_id'], advice: 'A freed path of a project can be taken by others: bind project_id too.' },
  {
    pointer: '/namespace_path',
    unless: ['/namespace_id'],
    advice: 'A freed path of a group can be taken by others: bind namespace_id too.',
  },
  { pointer: '/email', unless: ['/sub'], advice: 'An address can be given to another account: bind sub too.' },
  { pointer: '/actor', unless: ['/actor_id'], advice: 'A freed name of an account can be taken by others: bind actor_id.' },
  { pointer: '/ref', unless: ['/ref_type'], advice: 'A tag can have the name of a branch: bind ref_type too.' },
  {
    pointer: '/environment',
    unless: ['/repository_id', '/repository', '/project_id', '/project_path', '/sub'],
    advice: 'Every repository can have an environment of this name.',
  },
];

const ownsMany: Readonly<Record<string, string>> = {
  '/repository_owner_id': 'repository_id',
  '/namespace_id': 'project_id',
};

/** Warnings about bindings that let more in than is meant as a rule. They follow from the names of claims, which differ between platforms. */
export function warningsOf(bindings: readonly Binding[]): readonly string[] {
  const bound = new Map(bindings.map((binding) => [pointerOf(binding.claim), binding]));
  const has = (pointer: string): boolean => bound.has(pointer);
  const subject = bound.get('/sub')?.value;
  const isOfGithub = has('/repository_id') || has('/repository') || (typeof subject === 'string' && subject.startsWith('repo:'));
  const isOfGitlab = has('/project_id') || has('/project_path') || (typeof subject === 'string' && subject.startsWith('project_path:'));
  return [
    ...names.flatMap(({ pointer, unless, advice }) => (has(pointer) && !unless.some(has) ? [advice] : [])),
    ...Object.entries(ownsMany).flatMap(([pointer, one]) =>
      has(pointer) && !has(`/${one}`) && !has('/sub') && !has('/repository') && !has('/project_path')
        ? [`${pointer.slice(1)} is that of many: whatever its owner makes later can log in. Bind ${one} too.`]
        : [],
    ),
    ...(typeof subject === 'string' && /^repo:[^@]*$/.test(subject) && !has('/repository_id')
      ? ['sub has names of GitHub, which can be taken by others, and another form for new repositories: bind repository_id too.']
      : []),
    ...(typeof subject === 'string' && subject.startsWith('project_path:') && !has('/project_id')
      ? ['sub has the path of a project, which can be taken by others: bind project_id too.']
      : []),
    ...(isOfGithub && !has('/ref') && !has('/environment') && !has('/job_workflow_ref') && !has('/sub')
      ? [
          'Every branch and pull request of the repository can log in: bind ref with ref_type and event_name, or an environment with reviewers.',
        ]
      : []),
    ...(isOfGithub && has('/ref') && !has('/event_name')
      ? ['Workflows of pull_request_target and issue_comment run with the ref of the default branch: bind event_name too.']
      : []),
    ...(isOfGitlab && !has('/ref_protected') && !has('/environment_protected')
      ? ['Every developer of the project can run a pipeline: bind ref_protected to the text "true", with ref and ref_type.']
      : []),
    ...(typeof subject === 'string' && subject.startsWith('system:serviceaccount:') && !has(`${serviceAccount}/uid`)
      ? ['A service account that is made again has the same sub: bind /kubernetes.io/serviceaccount/uid too.']
      : []),
    ...bindings.flatMap(({ claim, value }) =>
      typeof value === 'string' && prefixOf(value) !== undefined
        ? [`The * of ${claim} stands for all that follows: whatever is made below it later can log in.`]
        : [],
    ),
  ];
}
