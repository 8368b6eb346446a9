// Sources of the search in the head: pages, lists of what has a name, certificates, and ids.
import { fillPath } from '../address/path.ts';
import { hrefOf } from '../address/router.ts';
import { may } from '../api/may.ts';
import { sendAll } from '../api/pages.ts';
import { send, type Answer, type Request } from '../api/request.ts';
import { nameOf, groupName, type Catalog } from '../description/catalog.ts';
import { said } from '../language/language.ts';
import { hrefOfPage, mainGroups } from './main-pages.ts';

export type Hit = { readonly kind: string; readonly label: string; readonly href: string };

const certificateAuthorities = '/v1/config/keystore/tls/ca';
const certificates = '/v1/state/keystore/tls/ca/{name}/certificates';
const trail = '/v1/state/topics/system:audit-trail-log';
const check = '/v1/state/policy/check';

/** Lists, and what one of their entries is called. */
const lists: readonly (readonly [kind: string, path: string])[] = [
  [said('key'), '/v1/config/keystore/transit-keys'],
  [said('authority'), certificateAuthorities],
  [said('application'), '/v1/config/keystore/authentication/approles'],
  [said('policy'), '/v1/config/policy/policies'],
  [said('tenant'), '/v1/config/tenants'],
  ['sign-in service', '/v1/config/keystore/authentication/oidc'],
  ['workload issuer', '/v1/config/keystore/authentication/jwt'],
  ['certificate login', '/v1/config/keystore/authentication/certificate/roles'],
];

/** Hits of one source. */
const mostHits = 6;
/** Names in an answer, of a list which the appliance does not search: all of its pages are read. */
const namesAtOnce = 1_000;
/** Authorities whose certificates are searched at once: those behind them while there are too few hits. */
const authoritiesAtOnce = 8;
const id = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Pages whose names have the text, those that people come for first. */
export function pagesFor(catalog: Catalog, text: string): readonly Hit[] {
  const wanted = text.toLowerCase();
  const isOffered = (operation: string | undefined, path: string): boolean =>
    catalog.at(path) !== undefined && typeof may(operation, path).value !== 'object';
  const main = mainGroups.flatMap(({ title, pages }) =>
    pages
      .filter(({ path, operation }) => isOffered(operation, path))
      .map((page) => ({ kind: 'page', label: page.label === title ? title : `${title} › ${page.label}`, href: hrefOfPage(page) })),
  );
  const others = catalog
    .groups()
    .flatMap(({ tag, entries }) =>
      entries
        .filter(({ operation, path }) => isOffered(operation['x-operation'], path))
        .map((entry) => ({ kind: 'page', label: `${groupName(tag)} › ${nameOf(entry)}`, href: hrefOf(entry.path) })),
    );
  const all = [{ kind: 'page', label: 'Overview', href: hrefOf('') }, ...main, ...others];
  const found = all.filter(({ label }) => label.toLowerCase().includes(wanted));
  return [...new Map(found.toReversed().map((one) => [one.href, one])).values()].toReversed().slice(0, mostHits);
}

/** Hits for an id, which may be that of a token or of a request. */
export function idsFor(catalog: Catalog, text: string): readonly Hit[] {
  if (!id.test(text)) return [];
  return [
    ...(catalog.at(check) === undefined
      ? []
      : [{ kind: 'token', label: `What the token ${text} may do`, href: hrefOf(check, { accessor: text }) }]),
    ...(catalog.at(trail) === undefined
      ? []
      : [
          {
            kind: 'request',
            label: `The request ${text} in the audit trail`,
            href: hrefOf(trail, { what: text, since: '7d', only: 'all' }),
          },
          { kind: 'token', label: `What the token ${text} did`, href: hrefOf(trail, { who: text, since: '7d', only: 'all' }) },
        ]),
  ];
}

/** Asks every list that this person may read, and reports the hits of each as they come. Rejects after `signal` only. */
export async function searchLists(
  catalog: Catalog,
  text: string,
  signal: AbortSignal,
  onHits: (source: string, hits: readonly Hit[]) => void,
): Promise<void> {
  const known = lists.filter(([, path]) => catalog.at(path) !== undefined && may('read', path).value === 'yes');
  await Promise.all([
    ...known.map(async ([kind, path]) => {
      const report = (names: readonly string[]): void =>
        onHits(
          kind,
          names.map((name): Hit => ({ kind, label: name, href: hrefOf(`${path}/${encodeURIComponent(name)}`) })),
        );
      await searchNames(catalog, path, text, signal, report);
    }),
    searchCertificates(catalog, text, signal, onHits),
  ]);
  signal.throwIfAborted();
}

/**
 * Reports names that have the text, those that begin with it first: the appliance finds these at once, and looks at every name for the
 * others, which are asked for only while there is room. An exact name is so never crowded out by others that have it somewhere.
 */
async function searchNames(
  catalog: Catalog,
  path: string,
  text: string,
  signal: AbortSignal,
  report: (names: readonly string[]) => void,
): Promise<void> {
  const list = catalog.at(path)?.entries.find(({ command }) => command.verb === 'list' && command.tree === 'config');
  if (list?.operation.parameters.some(({ name }) => name === 'contains') !== true) {
    const wanted = text.toLowerCase();
    const all = await allNamesOf(path, { keys: 'true', limit: String(namesAtOnce) }, signal);
    report(all.filter((name) => name.toLowerCase().includes(wanted)).slice(0, mostHits));
    return;
  }
  const query = { keys: 'true', limit: String(mostHits) };
  const begin = (await namesOf(path, { ...query, after: justBefore(text) }, signal)).filter((name) => name.startsWith(text));
  report(begin);
  if (begin.length === mostHits || signal.aborted) return;
  const others = await namesOf(path, { ...query, contains: text }, signal);
  report([...new Set([...begin, ...others])].slice(0, mostHits));
}

/** A text that sorts before those that begin with `text`, and behind every name before them: the last letter is one less, and much follows. */
function justBefore(text: string): string {
  const last = text.codePointAt(text.length - 1) ?? 0;
  return `${text.slice(0, -1)}${String.fromCodePoint(Math.max(last - 1, 2))}~~~~`;
}

async function searchCertificates(
  catalog: Catalog,
  text: string,
  signal: AbortSignal,
  onHits: (source: string, hits: readonly Hit[]) => void,
): Promise<void> {
  if (catalog.at(certificateAuthorities) === undefined || may('read', certificateAuthorities).value !== 'yes') return;
  const names = await allNamesOf(certificateAuthorities, { keys: 'true', limit: String(namesAtOnce) }, signal);
  const searchOne = async (name: string): Promise<number> => {
    const path = fillPath(certificates, [name]);
    if (may('read', path).value !== 'yes') return 0;
    const hits = await certificatesIn(path, name, text, signal);
    onHits(`certificates of ${name}`, hits);
    return hits.length;
  };
  let missing = mostHits;
  for (let at = 0; at < names.length && missing > 0 && !signal.aborted; at += authoritiesAtOnce) {
    const counts = await Promise.all(names.slice(at, at + authoritiesAtOnce).map(searchOne));
    missing -= counts.reduce((sum, one) => sum + one, 0);
  }
}

async function certificatesIn(path: string, ca: string, text: string, signal: AbortSignal): Promise<readonly Hit[]> {
  const query = { contains: text, limit: String(mostHits), fields: 'serial,subject' };
  const rows = (await answerOf(path, query, signal)) as readonly { readonly serial?: string; readonly subject?: string }[];
  return rows.flatMap(({ serial, subject }) =>
    serial === undefined
      ? []
      : [{ kind: `certificate of ${ca}`, label: subject ?? serial, href: hrefOf(`${path}/${encodeURIComponent(serial)}`) }],
  );
}

async function allNamesOf(path: string, query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<readonly string[]> {
  return (await answerOf(path, query, signal, (request) => sendAll(request, send, signal))).map(String);
}

async function namesOf(path: string, query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<readonly string[]> {
  return (await answerOf(path, query, signal)).map(String);
}

/** The entries of a list; none where the appliance refuses them, which the other sources do not wait for. */
async function answerOf(
  path: string,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
  ask: (request: Request, signal: AbortSignal) => Promise<Answer> = send,
): Promise<readonly unknown[]> {
  try {
    const { body } = await ask({ method: 'GET', path, query }, signal);
    return Array.isArray(body) ? (body as readonly unknown[]) : [];
  } catch {
    return [];
  }
}
