// A tenant that an administrator of `system` has open: its token is in this page alone, so that a reload, and leaving the page, ends it.
import { signal } from '@preact/signals';

export type Visit = {
  readonly token: string;
  readonly accessor: string;
  readonly tenant: string;
  readonly reason: string;
  readonly expires: string;
};

/** Open tenant; undefined: requests are those of the own session. */
export const visit = signal<Visit | undefined>(undefined);

const ending = '/v1/state/keystore/token/disable';

export function beginVisit(begun: Visit): void {
  visit.value = begun;
  addEventListener('pagehide', () => void endToken(begun).catch(() => undefined), { once: true });
}

/** Ends the token, and loads the console again in the own session: nothing of the tenant is left on the page. */
export async function endVisit(): Promise<void> {
  const open = visit.peek();
  if (open !== undefined) await endToken(open).catch(() => undefined);
  location.assign('/ui');
}

function endToken({ token, accessor }: Visit): Promise<unknown> {
  return fetch(ending, {
    method: 'POST',
    keepalive: true,
    credentials: 'omit',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ accessor }),
  });
}
