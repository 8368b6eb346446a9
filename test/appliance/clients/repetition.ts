// One table for all clients: what is sent again, and where, is decided by what is known not to have been done.
import { freePort } from '../../harness/daemon.ts';
import { json, problem, type Said, startFakeServer } from './fake-server.ts';

/** What is at an address. `refused`: nobody listens. `cut-kept`: the second request of a connection is cut. `distrusted`: another CA's certificate. */
type Place =
  | 'ok'
  | 'distrusted'
  | 'refused'
  | 'cut'
  | 'cut-kept'
  | 'busy'
  | 'busy-unknown'
  | 'gateway'
  | 'gateway-busy'
  | 'limited'
  | 'refusal';

/** `list` may be repeated without harm, `rotate` may not. */
export type Operation = 'list' | 'rotate';

/** What a client that makes one round over its addresses does; `asked`: requests that arrived at each. */
export type Case = {
  readonly operation: Operation;
  readonly places: readonly Place[];
  readonly outcome: 'done' | 'refused' | 'lost';
  readonly asked: readonly number[];
  /** a harmless request first, on a connection that is kept */
  readonly warm?: true;
};

export const cases: readonly Case[] = [
  { operation: 'rotate', places: ['refused', 'ok'], outcome: 'done', asked: [0, 1] },
  { operation: 'rotate', places: ['cut', 'ok'], outcome: 'lost', asked: [1, 0] },
  { operation: 'list', places: ['cut', 'ok'], outcome: 'done', asked: [1, 1] },
  { operation: 'rotate', places: ['cut-kept', 'ok'], outcome: 'lost', asked: [2, 0], warm: true },
  { operation: 'rotate', places: ['busy', 'ok'], outcome: 'done', asked: [1, 1] },
  { operation: 'rotate', places: ['busy-unknown', 'ok'], outcome: 'refused', asked: [1, 0] },
  { operation: 'list', places: ['busy-unknown', 'ok'], outcome: 'done', asked: [1, 1] },
  { operation: 'rotate', places: ['gateway', 'ok'], outcome: 'refused', asked: [1, 0] },
  { operation: 'list', places: ['gateway', 'ok'], outcome: 'done', asked: [1, 1] },
  { operation: 'rotate', places: ['gateway-busy', 'ok'], outcome: 'refused', asked: [1, 0] },
  { operation: 'list', places: ['gateway-busy', 'ok'], outcome: 'done', asked: [1, 1] },
  { operation: 'rotate', places: ['limited', 'ok'], outcome: 'refused', asked: [1, 0] },
  { operation: 'rotate', places: ['refusal', 'ok'], outcome: 'refused', asked: [1, 0] },
  { operation: 'rotate', places: ['refused'], outcome: 'lost', asked: [0] },
  { operation: 'rotate', places: ['distrusted', 'ok'], outcome: 'lost', asked: [0, 0] },
  { operation: 'list', places: ['distrusted', 'ok'], outcome: 'lost', asked: [0, 0] },
  { operation: 'list', places: ['refused', 'distrusted', 'ok'], outcome: 'lost', asked: [0, 0, 0] },
];

export const nameOf = ({ operation, places, warm }: Case): string =>
  `${operation} at ${places.join(', ')}${warm === true ? ', on a kept connection' : ''}`;

const page = (status: number, headers: Record<string, string> = {}): Said => ({
  status,
  headers: { 'content-type': 'text/html', ...headers },
  body: '<h1>Elsewhere</h1>',
});

const answers: Readonly<Record<Exclude<Place, 'refused' | 'distrusted'>, (index: number) => Said | 'cut'>> = {
  ok: () => json([]),
  cut: () => 'cut',
  'cut-kept': (index) => (index === 0 ? json([]) : 'cut'),
  busy: () => problem(503, 'sealed', { 'retry-after': '1' }),
  'busy-unknown': () => problem(503, 'odd'),
  gateway: () => page(502),
  'gateway-busy': () => page(503, { 'retry-after': '1' }),
  limited: () => problem(429, 'rate-limited', { 'retry-after': '1' }),
  refusal: () => problem(409, 'conflict'),
};

export type Opened = { readonly addresses: readonly string[]; readonly asked: () => readonly number[]; close(): void };

type Identity = { readonly key: string; readonly cert: string };

/** `foreign`: an identity that nobody trusts. `own`: that of the servers, which are reached without TLS otherwise. */
export async function openPlaces(places: readonly Place[], foreign: Identity, own?: Identity): Promise<Opened> {
  const opened = await Promise.all(
    places.map(async (place) => {
      if (place === 'refused')
        return { url: `${own === undefined ? 'http' : 'https'}://127.0.0.1:${await freePort()}`, count: () => 0, close: () => undefined };
      const server =
        place === 'distrusted'
          ? await startFakeServer(() => json([]), foreign)
          : await startFakeServer((index) => answers[place](index), own);
      return { url: server.url, count: () => server.asked.length, close: () => server.close() };
    }),
  );
  return {
    addresses: opened.map(({ url }) => url),
    asked: () => opened.map(({ count }) => count()),
    close: () => opened.forEach((one) => one.close()),
  };
}
