// Callers who all act on the same few objects, at every appliance: what they saw is judged by Porcupine. The objects are replaced by others every
// few seconds, so that a history stays short enough to be judged.
import { setTimeout } from 'node:timers/promises';
import { Dice } from '../../fuzz/cases.ts';
import type { Answer } from '../../harness/client.ts';
import { isOfClockAhead } from '../../harness/kills/things/tokens.ts';
import { microseconds, type Observation, type Observations } from './observations.ts';
import { ask, clockSeconds, type Place } from './places.ts';

export const keys = '/v1/config/keystore/transit-keys';
export const encrypt = (key: string): string => `/v1/state/keystore/transit-keys/${key}/encrypt`;
const policies = '/v1/config/policy/policies';
const approles = 'keystore/authentication/approles';
const tokens = '/v1/state/keystore/token';

const chapterMs = 12_000;
const pauseMs = 30;
const againMs = 300;
const usesOfSecret = 12;
const plaintext = 'aGVsbG8=';
/** What must be there before they begin: the role of all secret-ids, and the key that tokens use. */
export const [roleName, usedKey] = ['drill-role', 'drill-used'];

/** How often callers did what. */
export type Calls = {
  readonly changes: Record<string, number>;
  readonly uses: Record<string, number>;
  refused: number;
  unknown: number;
};

/** The objects of one chapter; what makes them is answered before anybody else knows of them. */
type Chapter = {
  readonly number: number;
  readonly secretId: string;
  readonly roleId: string;
  readonly token: string;
  readonly accessor: string;
};

type Effect = Pick<Observation, 'from' | 'not' | 'above' | 'to' | 'by'>;

/** A request about one object. */
type Act = {
  readonly kind: string;
  readonly object: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly token?: string | null;
  /** what an answer says; undefined: nothing, null: it cannot be */
  readonly meaning: (answer: Answer) => Effect | undefined | null;
  /** what may have happened without an answer; a use has none */
  readonly doubt?: Effect;
};

export class Callers {
  readonly calls: Calls = { changes: {}, uses: {}, refused: 0, unknown: 0 };
  /** answers that no state explains */
  readonly losses: string[];
  /** the longest time in which no change was acknowledged, and when it ended, in ms */
  longest = { ms: 0, atMs: 0 };
  readonly #observations: Observations;
  readonly #places: readonly Place[];
  readonly #over = new AbortController();
  readonly #running: Promise<void>[];
  #chapter: Chapter | undefined;
  #values = 0;
  #changedMs = performance.now();

  /** Begins at once. */
  constructor(places: readonly Place[], observations: Observations, seed: number, losses: string[]) {
    [this.#places, this.#observations, this.losses] = [places, observations, losses];
    const dice = new Dice(seed);
    const callers = places.flatMap((place) => [place, place]).map((place) => this.#call(place, new Dice(dice.below(2 ** 32))));
    // At once, and not at the end in place of what ends the storm.
    this.#running = [this.#write(), ...callers].map((one) =>
      one.catch((error: unknown) => void losses.push(`a caller failed: ${String(error)}`)),
    );
  }

  async end(): Promise<void> {
    this.#over.abort();
    await Promise.all(this.#running);
  }

  /** What every appliance has now of everything, as further observations. */
  async look(): Promise<void> {
    for (const place of this.#places) {
      const call = microseconds();
      const answer = await ask(place, 'GET', keys);
      const found = answer?.body as readonly { readonly name: string; readonly labels?: { readonly value?: string } }[];
      for (const { name, labels } of found.filter(({ name: one }) => one.startsWith('register-')))
        this.#observations.add({
          ...{ object: name, text: `listed at ${place.name}`, call, return: microseconds(), from: Number(labels?.value) },
        });
    }
  }

  /** Makes one chapter after another, at any appliance. */
  async #write(): Promise<void> {
    for (let number = 1; !this.#over.signal.aborted; number++) {
      const place = this.#places[number % this.#places.length] as Place;
      const chapter = await this.#begin(place, number);
      if (chapter !== undefined) this.#chapter = chapter;
      await setTimeout(chapter === undefined ? againMs : chapterMs, undefined, { signal: this.#over.signal }).catch(() => undefined);
    }
  }

  async #begin(place: Place, number: number): Promise<Chapter | undefined> {
    const call = microseconds();
    const made = async (path: string, body?: unknown): Promise<Answer | undefined> => {
      const answer = await ask(place, 'POST', path, body);
      return answer !== undefined && answer.status < 300 ? answer : undefined;
    };
    if ((await made(keys, { name: `register-${number}`, labels: { value: '0' } })) === undefined) return undefined;
    if ((await made(keys, { name: `versions-${number}` })) === undefined) return undefined;
    const role = await ask(place, 'GET', `/v1/state/${approles}/${roleName}`);
    const secret = await made(`/v1/state/${approles}/${roleName}/generate-secret-id`, { 'num-uses': usesOfSecret });
    const token = await made(`${tokens}/create`, { policies: ['user'], ttl: '10d' });
    if (role?.status !== 200 || secret === undefined || token === undefined) return undefined;
    // The others refuse it as not begun.
    if (isOfClockAhead(token.body['creation-time'], clockSeconds)) return undefined;
    const seen = { call, return: microseconds(), text: `made at ${place.name}` };
    this.#observations.add({ object: `versions-${number}`, ...seen, to: 1 });
    this.#observations.add({ object: `secret-${number}`, ...seen, to: usesOfSecret });
    this.#observations.add({ object: `token-${number}`, ...seen, to: 1 });
    const { token: text, accessor } = token.body;
    return { number, secretId: secret.body['secret-id'], roleId: role.body['role-id'], token: text, accessor };
  }

  async #call(place: Place, dice: Dice): Promise<void> {
    while (!this.#over.signal.aborted) {
      await setTimeout(pauseMs);
      const chapter = this.#chapter;
      if (chapter === undefined || place.daemon === undefined) {
        await setTimeout(againMs);
        continue;
      }
      const drawn = dice.next();
      if (drawn < 0.4) await this.#register(place, chapter);
      else await this.#see(place, drawAct(chapter, dice));
    }
  }

  /** Reads it and, from what was read, gives it a value that nothing else has. */
  async #register(place: Place, { number }: Chapter): Promise<void> {
    const object = `register-${number}`;
    const path = `${keys}/${object}`;
    // NaN of a refusal, which is told as one.
    const valueOf = ({ body }: Answer): number => Number(body.labels?.value);
    const read = await this.#see(place, {
      kind: 'read',
      object,
      method: 'GET',
      path,
      meaning: (answer) => whenDone(answer, { from: valueOf(answer) }),
    });
    if (read?.status !== 200) return;
    const [from, to] = [valueOf(read), ++this.#values];
    await this.#see(place, {
      ...{ kind: 'change', object, method: 'PATCH', path, doubt: { from, to } },
      ...{ body: { labels: { value: String(to) } }, headers: { 'if-match': String(read.headers['etag']) } },
      meaning: (answer) => (answer.status === 412 ? { not: from } : whenDone(answer, { from, to })),
    });
  }

  async #see(place: Place, act: Act): Promise<Answer | undefined> {
    const { kind, object, method, path, body, headers, token, meaning, doubt } = act;
    const by = place.name;
    const call = microseconds();
    const answer = await ask(place, method, path, body, headers, token);
    const said = [answer?.status ?? 'no answer', JSON.stringify(body), answer?.text.slice(0, 200)].filter((one) => one !== undefined);
    const text = `${kind} at ${by}, ${call} to ${microseconds()}: ${said.join(' ')}`;
    const isRefused =
      answer !== undefined && (answer.status === 429 || (answer.status === 503 && answer.headers['retry-after'] !== undefined));
    if (isRefused || (doubt === undefined && (answer === undefined || answer.status === 503))) {
      this.calls.refused++;
      await setTimeout(againMs);
      return answer;
    }
    if (answer === undefined || answer.status === 503) {
      this.calls.unknown++;
      if (doubt !== undefined) this.#observations.add({ object, text, call, ...doubt, maybe: true });
      await setTimeout(againMs);
      return answer;
    }
    const effect = meaning(answer);
    if (effect === null) this.losses.push(`${method} ${path} at ${by} was answered ${answer.status} ${answer.text}`);
    if (effect === undefined || effect === null) return answer;
    this.#observations.add({ object, text, call, return: microseconds(), ...effect });
    const counted = doubt === undefined ? this.calls.uses : this.calls.changes;
    counted[kind] = (counted[kind] ?? 0) + 1;
    if (doubt !== undefined && answer.status < 300) this.#changed();
    return answer;
  }

  #changed(): void {
    const now = performance.now();
    if (now - this.#changedMs > this.longest.ms) this.longest = { ms: now - this.#changedMs, atMs: now };
    this.#changedMs = now;
  }
}

/** Refused as overtaken, it says nothing. Other refusals cannot be. */
function whenDone(answer: Answer, effect: Effect): Effect | undefined | null {
  if (answer.status < 300) return effect;
  return answer.status === 409 && answer.body.code === 'conflict' ? undefined : null;
}

function drawAct({ number, secretId, roleId, token, accessor }: Chapter, dice: Dice): Act {
  const policy = { object: `policy-${number}`, path: `${policies}/drill-${number}` };
  const versions = { object: `versions-${number}` };
  const key = `/v1/state/keystore/transit-keys/versions-${number}`;
  const acts: readonly Act[] = [
    {
      ...policy,
      ...{ kind: 'create policy', method: 'POST', path: policies, doubt: { from: 0, to: 1 } },
      body: { name: `drill-${number}`, 'rest-api': { rules: [] } },
      meaning: (answer) => (answer.status === 409 && answer.body.code !== 'conflict' ? { from: 1 } : whenDone(answer, { from: 0, to: 1 })),
    },
    {
      ...{ ...policy, kind: 'delete policy', method: 'DELETE', doubt: { from: 1, to: 0 } },
      meaning: (answer) => (answer.status === 404 ? { from: 0 } : whenDone(answer, { from: 1, to: 0 })),
    },
    {
      ...{ ...policy, kind: 'read policy', method: 'GET' },
      meaning: (answer) => (answer.status === 404 ? { from: 0 } : whenDone(answer, { from: 1 })),
    },
    {
      ...{ ...versions, kind: 'rotate', method: 'POST', path: `${key}/rotate`, doubt: { by: 1 } },
      meaning: (answer) => whenDone(answer, { by: 1 }),
    },
    {
      ...{ ...versions, kind: 'encrypt', method: 'POST', path: `${key}/encrypt`, body: { plaintext } },
      meaning: (answer) => whenDone(answer, { from: Number(answer.body['key-version']) }),
    },
    {
      ...{ object: `secret-${number}`, kind: 'log in', method: 'POST', path: '/v1/approle-login', token: null },
      ...{ body: { 'role-id': roleId, 'secret-id': secretId }, doubt: { above: 0, by: -1 } },
      meaning: (answer) => (answer.status === 401 ? { from: 0 } : whenDone(answer, { above: 0, by: -1 })),
    },
    {
      ...{ object: `token-${number}`, kind: 'use token', method: 'POST', path: encrypt(usedKey), body: { plaintext }, token },
      meaning: (answer) => (answer.status === 401 ? { from: 0 } : whenDone(answer, { from: 1 })),
    },
    {
      ...{ object: `token-${number}`, kind: 'end token', method: 'POST', path: `${tokens}/disable`, body: { accessor }, doubt: { to: 0 } },
      meaning: (answer) => (answer.status === 404 ? { from: 0 } : whenDone(answer, { to: 0 })),
    },
  ];
  // A token is used some time before it is ended.
  return dice.pick(dice.chance(0.2) ? acts : acts.slice(0, -1));
}
