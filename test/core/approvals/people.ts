// People of a tenant for tests of approvals: each with an approle, one who asks and three who approve.
import { type Answer, startTestAppliance, type TestAppliance, type TestApplianceOptions } from '../../harness/appliance.ts';

export const approvers = ['anna', 'bert', 'cleo'] as const;
const approlePath = 'keystore/authentication/approles';

export type People = {
  readonly appliance: TestAppliance;
  /** tokens by name; `asker` and the approvers */
  readonly tokens: Readonly<Record<string, string>>;
  /** Sends a request as a person. */
  as(name: string, method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Gives a person another secret-id, made by `maker` and approved by these people where a rule asks for it, and logs in with it. */
  renew(name: string, maker: string, by?: readonly string[]): Promise<void>;
  /** Logs a person in once more. */
  logIn(name: string): Promise<string>;
  /** Asks for approval of a request; the answer has the id. */
  ask(name: string, method: string, path: string, body?: unknown, reason?: string): Promise<Answer>;
  approve(name: string, id: string): Promise<Answer>;
};

export const rulePath = '/v1/config/approval/rules';

/** Starts an appliance with these people; without rules. */
export async function startPeople(directory: string, options: Partial<TestApplianceOptions> = {}): Promise<People> {
  const appliance = await startTestAppliance({ directory, ...options });
  const secrets: Record<string, object> = {};
  const tokens: Record<string, string> = {};
  const logIn = async (name: string): Promise<string> => {
    const { body } = await appliance.request('POST', '/v1/approle-login', secrets[name], { token: undefined });
    return (tokens[name] = String(body.token));
  };
  const as: People['as'] = (name, method, path, body, headers = {}) =>
    appliance.request(method, path, body, { token: name === 'root' ? appliance.rootToken : tokens[name], headers });
  const ask: People['ask'] = (name, method, path, body, reason = 'for the new partner bank') =>
    as(name, method, path, body, { 'approval-reason': encodeURIComponent(reason) });
  const approve: People['approve'] = async (name, id) => {
    const { body } = await as(name, 'GET', `/v1/state/approvals/${id}`);
    return as(name, 'POST', `/v1/state/approvals/${id}/approve`, { digest: body.digest ?? 'none' });
  };
  const renew: People['renew'] = async (name, maker, by = []) => {
    const making = `/v1/state/${approlePath}/${name}/generate-secret-id`;
    const { body: state } = await appliance.request('GET', `/v1/state/${approlePath}/${name}`);
    const asked = by.length === 0 ? undefined : await ask(maker, 'POST', making, {});
    const id = String(asked?.body.id);
    for (const one of by) await approve(one, id);
    const { body: made } = await as(maker, 'POST', making, {}, asked === undefined ? {} : { approval: id });
    secrets[name] = { 'role-id': state['role-id'], 'secret-id': made['secret-id'] };
    await logIn(name);
  };
  for (const name of ['asker', 'other', ...approvers]) {
    await appliance.request('POST', `/v1/config/${approlePath}`, { name, 'token-policies': ['root'] });
    await renew(name, 'root');
  }
  return {
    appliance,
    tokens,
    as,
    logIn,
    renew,
    ask,
    approve,
  };
}

/** A rule by which all approvers approve. */
export function rule(name: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { name, acts: ['take-keys-out', 'destroy', 'bring-keys-in'], needed: 2, approvers: { approles: [...approvers] }, ...fields };
}
