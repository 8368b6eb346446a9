// Wrapped answers: hand-overs in other words. What a token opens was made by a tenant with this API, or is unknown here.
import { randomUUID } from 'node:crypto';
import { ServiceError, fail } from '../../core/base/errors.ts';
import { formatDuration } from '../../core/base/time.ts';
import type { Alias, Answered, Asked, InvokeFurther, Outcome } from '../../core/http/alias.ts';
import type { Answer } from '../../core/http/response/answer.ts';
import { isJsonObject, parseJsonObject, type JsonObject } from '../../core/wire/json.ts';
import { type Facade, json, rightToWrap, secondsToWrap, tokenOf, unknownWrapping, writes } from './facade.ts';
import { Fields } from './fields.ts';

const base = '/v1/state/keystore/hand-over';
/** Route by which callers wrap what they like, also shown for hand-overs of our own API, whose callers choose purpose and text. */
const wrapPath = 'sys/wrapping/wrap';

export function wrappingAliases(facade: Facade): readonly Alias[] {
  const target = () => ({ params: {} });
  /** A route that asks about a hand-over first, which does not open it: that of a foreign tenant stays whole. */
  const about = (action: string, act: (told: Told, answered: Answered, asked: Asked, invoke: InvokeFurther) => Promise<Answer>) => {
    const sent = new WeakMap<Asked, string>();
    return facade.aliases({
      ...{ methods: writes, missing: 'wrapping', wraps: 'never', target },
      path: `/v1/sys/wrapping/${action}`,
      of: `POST ${base}/info`,
      credentials: () => undefined,
      input: (document, asked) => {
        const token = new Fields(document).word('token') ?? tokenOf(asked.headers) ?? '';
        if (token === '')
          throw fail('missing-field', { detail: 'missing token: send the wrapping token as "token", or as X-Vault-Token.' });
        sent.set(asked, token);
        return { token };
      },
      answer: () => json(500, { errors: [] }),
      reply: async (outcome, asked, invoke) => {
        if (outcome.error !== undefined) return undefined;
        const refusal = refusalOf(facade, outcome, asked);
        if (refusal !== undefined) return refusal;
        const { 'creation-time': created, expires, purpose, via } = outcome.document as Readonly<Record<string, string | undefined>>;
        const madeHere = via === 'vault';
        const path = madeHere ? purpose : wrapPath;
        return act({ token: sent.get(asked) ?? '', created, expires, path, madeHere }, outcome, asked, invoke);
      },
    });
  };
  return [
    ...facade.aliases({
      ...{ methods: writes, wraps: 'itself', target, path: '/v1/sys/wrapping/wrap', of: `POST ${rightToWrap.path}` },
      input: (data, asked) => {
        const seconds = secondsToWrap(asked);
        if (seconds === 0)
          throw fail('invalid-value', { detail: 'endpoint requires response wrapping to be used: send X-Vault-Wrap-TTL.' });
        const envelope = { request_id: randomUUID(), lease_id: '', renewable: false, lease_duration: 0, data, wrap_info: null };
        return {
          text: JSON.stringify({ ...envelope, warnings: null, auth: null }),
          ttl: formatDuration(seconds),
          purpose: wrapPath,
        };
      },
      answer: (answered) => facade.wrapInfo(answered, wrapPath),
    }),
    ...about('lookup', async ({ created = '', expires = created, path = '' }, { document, requestId }, asked) => {
      const { opened, 'opened-from': from } = document as Readonly<Record<string, string | undefined>>;
      if (opened !== undefined)
        return json(400, {
          errors: [
            `${unknownWrapping}: This was opened at ${opened} from ${from}. If that was not you, what it held is known to somebody else.`,
          ],
        });
      const ttl = Temporal.Instant.from(created).until(Temporal.Instant.from(expires)).total('seconds');
      const data = { creation_path: path, creation_time: created, creation_ttl: Math.round(ttl) };
      return facade.enveloped(asked, requestId, { data });
    }),
    ...about('unwrap', async ({ token, madeHere }, _told, asked, invoke) => {
      const opened = await invoke('POST', `${base}/open`, { token });
      return opened.status === 200 ? unwrapped(facade, opened, asked, madeHere) : facade.refused(opened, 'wrapping');
    }),
    ...about('rewrap', async ({ token, path = '' }, _told, _asked, invoke) => {
      const renewed = await invoke('POST', `${base}/renew`, { token });
      return renewed.status === 200 ? facade.wrapInfo(renewed, path) : facade.refused(renewed, 'wrapping');
    }),
  ];
}

type Told = {
  readonly token: string;
  readonly created: string | undefined;
  readonly expires: string | undefined;
  /** route that wrapped it */
  readonly path: string | undefined;
  /** made by this API, not by ours, whose callers choose purpose and text */
  readonly madeHere: boolean;
};

/** The refusal of a hand-over that is not of a tenant with this API, or not of the one that the namespace says. */
function refusalOf(facade: Facade, { document, requestId }: Outcome, asked: Asked): Answer | undefined {
  const { tenant = '' } = document as Readonly<Record<string, string | undefined>>;
  if (facade.settingsOf(tenant) === undefined) return json(400, { errors: [unknownWrapping] });
  try {
    facade.requireNamespace(tenant, asked);
    return undefined;
  } catch (refused) {
    if (!(refused instanceof ServiceError)) throw refused;
    return facade.refusedAs(refused, requestId);
  }
}

/** Answers as it would have been answered unwrapped; a text of our own API becomes the data of an answer, and never an answer of another route. */
function unwrapped(facade: Facade, { requestId, document }: Answered, asked: Asked, madeHere: boolean): Answer {
  const { text } = document as { readonly text: string };
  let held: JsonObject | undefined;
  try {
    held = parseJsonObject(Buffer.from(text));
  } catch {
    held = undefined;
  }
  if (madeHere && held !== undefined && 'request_id' in held && 'wrap_info' in held) return json(200, held);
  return facade.enveloped(asked, requestId, { data: isJsonObject(held) ? held : { text } });
}
