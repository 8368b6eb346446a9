// Steps of giving access at the appliance: a step that was done is not done again when another one was refused.
import { fillPath } from '../../address/path.ts';
import { Refusal, type Answer, type Request, type send } from '../../api/request.ts';
import type { Catalog, Entry } from '../../description/catalog.ts';
import { rulesFor } from './uses.ts';

export type Wish = {
  readonly key: string;
  readonly actions: readonly string[];
  readonly application: string;
  /** true if the application is there already */
  readonly isThere: boolean;
  /** time for which the link waits */
  readonly openWithin: string;
};

export type Step = { readonly text: string; readonly entry: Entry; readonly names: readonly string[]; readonly request: Request };

const policies = '/v1/config/policy/policies';
const applications = '/v1/config/keystore/authentication/approles';
const handOver = '/v1/state/keystore/authentication/approles/{name}/hand-over-secret-id';

const mostCharacters = 128;
/** Policies of one name that are looked at. */
const mostPolicies = 20;

/** Name of the policy for a pair of application and key: the first, and further ones where that is another policy. */
export function policyNameOf({ application, key }: Pick<Wish, 'application' | 'key'>, at = 1): string {
  const ending = at === 1 ? '' : `-${at}`;
  const name = `${application}-${key}`.slice(0, mostCharacters - ending.length).replace(/-+$/, '');
  return `${name}${ending}`;
}

/**
 * Looks before anything is made: rejects if the application is not there, or is there and should be new, and answers the name of the policy
 * and whether it is there with these very rules. What may not be read is not judged.
 */
export async function prepare(wish: Wish, flow: typeof send): Promise<{ readonly policy: string; readonly isMade: boolean }> {
  const { application, isThere } = wish;
  const known = await find(fillPath(`${applications}/{name}`, [application]), flow);
  if (known === 'absent' && isThere) throw new Refusal(404, absent, undefined);
  if (typeof known === 'object' && !isThere) throw new Refusal(409, taken, undefined);
  for (let at = 1; at <= mostPolicies; at++) {
    const policy = policyNameOf(wish, at);
    const found = await find(fillPath(`${policies}/{name}`, [policy]), flow);
    if (typeof found !== 'object') return { policy, isMade: false };
    if (hasRules(found, wish)) return { policy, isMade: true };
  }
  throw new Refusal(409, tooMany, undefined);
}

const absent = { title: 'No such application', code: 'not-found', detail: 'There is no application of this name. Nothing was made.' };
const taken = {
  title: 'The application is there already',
  code: 'already-exists',
  detail: 'An application of this name exists: choose “one that is there”. Nothing was made.',
};
const tooMany = {
  title: 'Too many policies of this name',
  code: 'already-exists',
  detail: 'The policies for this application and key are other ones: delete those that are not used. Nothing was made.',
};

type Body = Readonly<Record<string, unknown>>;

async function find(path: string, flow: typeof send): Promise<Body | 'absent' | 'hidden'> {
  try {
    return (await flow({ method: 'GET', path })).body as Body;
  } catch (error) {
    if (!(error instanceof Refusal) || (error.status !== 403 && error.status !== 404)) throw error;
    return error.status === 404 ? 'absent' : 'hidden';
  }
}

/** Tells whether a policy allows what is wished, and nothing else. */
export function hasRules(policy: Body, { key, actions }: Pick<Wish, 'key' | 'actions'>): boolean {
  const { rules } = (policy['rest-api'] ?? {}) as { readonly rules?: readonly Body[] };
  const told = rules?.map(({ path, operations, 'allowed-values': values = {}, 'hide-fields': fields = [] }) =>
    JSON.stringify([path, operations, values, fields]),
  );
  const wished = rulesFor(key, actions).map(({ path, operations }) => JSON.stringify([path, operations, {}, []]));
  return told !== undefined && told.length === wished.length && wished.every((one) => told.includes(one));
}

/** The requests in their order; empty if the description has not all of them. */
export function stepsOf(catalog: Catalog, wish: Wish, policy: string): readonly Step[] {
  const { key, actions, application, isThere, openWithin } = wish;
  const entryOf = (verb: string, path: string): Entry | undefined =>
    catalog.entries.find(({ command, path: template }) => command.verb === verb && template === path);
  const step = (text: string, entry: Entry | undefined, names: readonly string[], body: object): readonly Step[] =>
    entry === undefined ? [] : [{ text, entry, names, request: { method: entry.method, path: fillPath(entry.path, names), body } }];
  return [
    ...step(`Policy ${policy}`, entryOf('create', policies), [], {
      name: policy,
      description: `Uses of the key ${key} by the application ${application}.`,
      'rest-api': { rules: rulesFor(key, actions) },
    }),
    ...(isThere
      ? step(`Application ${application} gets it`, entryOf('merge', `${applications}/{name}`), [application], {
          'token-policies': [policy],
        })
      : step(`Application ${application}`, entryOf('create', applications), [], { name: application, 'token-policies': [policy] })),
    ...step('A secret-id, to be opened by a link', entryOf('do', handOver), [application], { 'open-within': openWithin }),
  ];
}

/**
 * Sends the steps that are not done, and reports each answer. Rejects with the refusal of one; called again, it goes on there. A creation
 * without an answer may have been made: then it is when it is there, and is what was to be made.
 */
export async function takeSteps(
  steps: readonly Step[],
  done: readonly Answer[],
  before: unknown,
  onDone: (answer: Answer) => void,
  flow: typeof send,
): Promise<void> {
  let isUnsure = before instanceof Refusal && before.status === 0;
  for (const { request } of steps.slice(done.length)) {
    try {
      onDone(await flow(request));
    } catch (error) {
      const isThere = isUnsure && error instanceof Refusal && error.code === 'already-exists';
      if (!isThere || !(await isMadeBy(request, flow))) throw error;
      onDone({ status: 200, headers: new Headers(), body: undefined });
    }
    isUnsure = false;
  }
}

/** Tells whether what is there under the name of a creation has the policies that it was to be made with; `prepare` has looked at policies. */
async function isMadeBy({ path, body }: Request, flow: typeof send): Promise<boolean> {
  const { name = '', 'token-policies': wished } = body as { readonly name?: string; readonly 'token-policies'?: readonly string[] };
  const found = await find(fillPath(`${path}/{name}`, [name]), flow);
  return typeof found === 'object' && JSON.stringify(found['token-policies']) === JSON.stringify(wished);
}
