// Holders of a policy: tokens, applications and roles of sign-in services, as far as the person may see them.
import { useSignal, type ReadonlySignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { requireReadable } from '../../api/may.ts';
import { send } from '../../api/request.ts';

export type Token = { readonly accessor: string; readonly user: string; readonly policies: readonly string[] };

export type Holders = {
  readonly tokens: readonly Token[];
  readonly applications: readonly string[];
  /** `service › role` */
  readonly roles: readonly string[];
  /** true if a list was longer than what is read of it, or may not be read */
  readonly isPart: boolean;
};

const lists = {
  tokens: '/v1/state/keystore/tokens',
  applications: '/v1/config/keystore/authentication/approles',
  services: '/v1/config/keystore/authentication/oidc',
} as const;
/** Entries of a list that are looked at. */
const mostRead = 1_000;
/** Sign-in services whose roles are looked at. */
const mostServices = 10;

type Rows = { readonly rows: readonly Readonly<Record<string, unknown>>[]; readonly isPart: boolean };

/** Asks once, when the page opens; undefined asks for nothing. */
export function useHolders(policy: string | undefined): ReadonlySignal<Holders | undefined> {
  const holders = useSignal<Holders | undefined>(undefined);
  useEffect(() => {
    if (policy === undefined) return undefined;
    const controller = new AbortController();
    find(policy, controller.signal).then(
      (found) => (holders.value = found),
      () => undefined,
    );
    return () => controller.abort();
  }, [policy]);
  return holders;
}

async function find(policy: string, signal: AbortSignal): Promise<Holders> {
  const has = (policies: unknown): boolean => Array.isArray(policies) && policies.includes(policy);
  const [tokens, applications, services] = await Promise.all([
    read(lists.tokens, 'accessor,user,policies', signal),
    read(lists.applications, 'name,token-policies', signal),
    read(lists.services, 'name', signal),
  ]);
  const names = services.rows.map(({ name }) => String(name));
  const roles = await Promise.all(
    names.slice(0, mostServices).map(async (service) => {
      const found = await read(`${lists.services}/${encodeURIComponent(service)}/roles`, 'name,token-policies', signal);
      return {
        ...found,
        held: found.rows.filter((row) => has(row['token-policies'])).map(({ name }) => `${service} › ${String(name)}`),
      };
    }),
  );
  return {
    tokens: tokens.rows.filter(({ policies }) => has(policies)) as readonly unknown[] as readonly Token[],
    applications: applications.rows.filter((row) => has(row['token-policies'])).map(({ name }) => String(name)),
    roles: roles.flatMap(({ held }) => held),
    isPart: [tokens, applications, services, ...roles].some(({ isPart }) => isPart) || names.length > mostServices,
  };
}

async function read(path: string, fields: string, signal: AbortSignal): Promise<Rows> {
  const request = { method: 'GET', path, query: { fields, limit: String(mostRead) } } as const;
  try {
    await requireReadable(request);
    const { body, headers } = await send(request, signal);
    const rows = Array.isArray(body) ? (body as Rows['rows']) : [];
    return { rows, isPart: Number(headers.get('total-count') ?? rows.length) > rows.length };
  } catch {
    signal.throwIfAborted();
    return { rows: [], isPart: true };
  }
}
