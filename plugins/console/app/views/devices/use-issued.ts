// The certificates of all authorities that a person may read, page by page, so many at a time that no number stops the page.
import { useSignal, type ReadonlySignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { requireReadable } from '../../api/may.ts';
import { nextAfter, sendAll } from '../../api/pages.ts';
import { send } from '../../api/request.ts';
import { secret } from '../../api/session.ts';
import { isDenied } from '../../parts/loaded.ts';
import { certificatesPath, type AuthorityState } from '../authorities/state.ts';
import type { Device, Issued } from './devices.ts';

/** An authority as far as this page needs it. */
export type Authority = Pick<AuthorityState, 'name' | 'trust-only' | 'scep' | 'cmp'> & {
  readonly 'crl-url'?: string;
  readonly 'crl-next-update'?: string;
  readonly 'ocsp-answers-hold'?: string;
};

export type Everything = {
  readonly state: 'reading' | 'read' | 'failed';
  readonly authorities: readonly Authority[];
  readonly issued: readonly Issued[];
  /** true if there are more than were read so far */
  readonly isCut: boolean;
  /** authorities whose certificates the person may not see */
  readonly hidden: readonly string[];
  readonly error?: unknown;
};

const authoritiesPath = '/v1/state/keystore/tls/ca';
const pageSize = 1_000;
/** Authorities that are looked at; nobody has a picture of more. */
const mostAuthorities = 500;
const fields = 'serial,subject,names,not-before,not-after,via,status,line';
/** Characters of a search that the appliance takes. */
const mostSearched = 256;
const nothing: Everything = { state: 'reading', authorities: [], issued: [], isCut: false, hidden: [] };

/** Reads until there are `goal`; again when `turn` changes, and after another sign-in. `contains` is searched for by the appliance. */
export function useIssued(goal: number, contains: string, turn: number): ReadonlySignal<Everything> {
  const shown = useSignal<Everything>(nothing);
  useEffect(() => {
    if (secret.value === undefined) return undefined;
    const controller = new AbortController();
    const tell = (now: Everything): void => {
      if (!controller.signal.aborted) shown.value = now;
    };
    read(goal, contains, controller.signal, tell).catch((error: unknown) => tell({ ...shown.peek(), state: 'failed', error }));
    return () => controller.abort();
  }, [goal, contains, turn, secret.value]);
  return shown;
}

/** All certificates with the names of a device that its authority has now, also those that a search has left out of the page. */
export async function readAlike({ current }: Device, flow: typeof send): Promise<readonly Issued[]> {
  const { authority, subject, names } = current;
  const contains = (names[0] ?? subject).slice(0, mostSearched);
  // Without names it is known by its line alone.
  if (contains === '') return [current];
  const { body } = await sendAll(
    { method: 'GET', path: certificatesPath(authority), query: { limit: String(pageSize), fields, contains } },
    flow,
  );
  return (body as readonly Omit<Issued, 'authority'>[]).map((one) => ({ ...one, authority }));
}

async function read(goal: number, contains: string, signal: AbortSignal, tell: (now: Everything) => void): Promise<void> {
  const asked = 'name,trust-only,crl-url,crl-next-update,ocsp-answers-hold,scep/enabled,cmp/enabled';
  const list = { method: 'GET', path: authoritiesPath, query: { limit: String(mostAuthorities), fields: asked } };
  await requireReadable(list);
  const { body, headers } = await send(list, signal);
  const authorities = (body as readonly Authority[]).filter((one) => !one['trust-only']);
  let now: Everything = { ...nothing, authorities, isCut: headers.has('link') };
  for (const { name } of authorities) {
    if (now.issued.length >= goal) {
      now = { ...now, isCut: true };
      break;
    }
    try {
      now = await readOf(name, now, { goal, contains }, signal, tell);
    } catch (error) {
      if (!isDenied(error)) throw error;
      now = { ...now, hidden: [...now.hidden, name] };
    }
  }
  tell({ ...now, state: 'read' });
}

type Wanted = { readonly goal: number; readonly contains: string };

async function readOf(
  name: string,
  from: Everything,
  { goal, contains }: Wanted,
  signal: AbortSignal,
  tell: (now: Everything) => void,
): Promise<Everything> {
  let now = from;
  for (let after: string | undefined; ;) {
    const query = {
      limit: String(pageSize),
      fields,
      ...(contains === '' ? {} : { contains }),
      ...(after === undefined ? {} : { after }),
    };
    const request = { method: 'GET', path: certificatesPath(name), query };
    await requireReadable(request);
    const { body, headers } = await send(request, signal);
    const page = (body as readonly Omit<Issued, 'authority'>[]).map((one) => ({ ...one, authority: name }));
    now = { ...now, issued: [...now.issued, ...page] };
    tell(now);
    after = nextAfter(headers);
    if (after === undefined) return now;
    if (now.issued.length >= goal) return { ...now, isCut: true };
  }
}
