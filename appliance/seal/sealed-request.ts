// A request to the management port of a sealed process: health, the CA of the appliance, unseal, its page, and 503 for everything else.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { decodeUtf8 } from '../../core/base/bytes.ts';
import { fail, reasonOf, ServiceError } from '../../core/base/errors.ts';
import { Secret } from '../../core/base/secret.ts';
import { systemClock } from '../../core/base/time.ts';
import { HttpExchange } from '../../core/http/context/exchange.ts';
import { RequestContext, type Answered, type RequestServer } from '../../core/http/context/request-context.ts';
import { refusalPage } from '../../core/http/pages/refusal.ts';
import { html } from '../../core/http/pages/html.ts';
import { preferenceOf } from '../../core/http/request/accept.ts';
import { repeatedHeader, unmetHeader } from '../../core/http/request/header-rules.ts';
import { admitAny, readBody } from '../../core/http/request/body.ts';
import { readInput, requireMediaType } from '../../core/http/request/input.ts';
import { readRequestPath } from '../../core/http/request/path.ts';
import type { Answer } from '../../core/http/response/answer.ts';
import { createProblems, problemAnswer, problemHeaders } from '../../core/http/response/problem.ts';
import { unsealEndpoint, unsealInput, type UnsealInput } from './endpoints.ts';
import { hasCustodians, isCutOff, readCeremonies } from '../custodians/ceremony.ts';
import type { Progress } from '../custodians/gathering.ts';
import type { SealedAnswer } from '../../core/plugin/plugin.ts';
import { parseInput } from '../../core/wire/schema.ts';
import type { SupervisorChannel } from '../processes/messages.ts';
import { readApplianceCa } from '../tls/sealed-identity.ts';
import { missingParts, type NeededParts } from '../data-directory/traces.ts';
import { isOfAdministrator } from './administrator.ts';
import { type Awaited, type FailedAttempt, unsealedPage, unsealFormOf, unsealPage, unsealPagePath } from './unseal-page.ts';

const mostBytes = 64 * 1024;

/** A sealed process keeps no log and no audit trail: the supervisor records attempts to unseal. */
const server: RequestServer = { clock: systemClock, problems: createProblems([]), sealed: () => false };

/** Parts from which a sealed process answers. */
export type SealedParts = {
  /** the data directory */
  readonly data: string;
  /** names of the configured tokens; none for the embedded one */
  readonly tokens: readonly string[];
  /** without which an unseal cannot succeed */
  readonly needed: NeededParts;
  /** answers of plugins to clients of other APIs, by path */
  readonly foreign: ReadonlyMap<string, SealedAnswer>;
  readonly channel: SupervisorChannel;
};

export class SealedRequest extends RequestContext<Answer, HttpExchange> {
  /** normalised, without the slash in front; undefined for an invalid path */
  readonly #path: string | undefined;

  constructor(request: IncomingMessage, response: ServerResponse) {
    super(server, new HttpExchange(request, response));
    this.#path = readRequestPath(request.url ?? '')?.segments.join('/');
  }

  /** Answers from the data directory and, for unseal, from the supervisor. Throws `sealed` for everything else. */
  run({ data, tokens, needed, foreign, channel }: SealedParts): Answer | Promise<Answer> {
    const wrong = repeatedHeader(this.exchange.request) ?? unmetHeader(this.exchange.request);
    if (wrong !== undefined) throw wrong;
    const { method } = this.exchange.request;
    const isRead = method === 'GET' || method === 'HEAD';
    if (this.#path === 'v1/state/system/health' && isRead) return this.#health(missingParts(data, needed), data, channel);
    // A person who sends a PIN has to authenticate the appliance first.
    if (this.#path === 'v1/ca/system/appliance/ca.pem' && isRead)
      return { status: 200, mediaType: 'application/x-pem-file', body: readApplianceCa(data) };
    if (this.#path === 'v1/state/keystore/system/unseal' && method === 'POST') return this.#unseal(channel);
    if (this.#path === unsealPagePath.slice(1)) {
      if (isRead) return this.#page(tokens, data, channel);
      if (method === 'POST') return this.#unsealByForm(tokens, data, channel);
    }
    const answered = isRead ? foreign.get(`/${this.#path}`) : undefined;
    if (answered !== undefined) return this.#foreign(answered);
    throw fail('sealed');
  }

  #foreign(answered: SealedAnswer): Answer {
    const query = new URLSearchParams(this.exchange.request.url?.split('?')[1]);
    const { status, document } = answered.answer(query, systemClock.now());
    return { status, mediaType: 'application/json', body: JSON.stringify(document) };
  }

  protected get series(): Pick<Answered, 'method' | 'route'> {
    return { method: 'any', route: undefined };
  }

  protected get place(): string {
    return 'a sealed process';
  }

  protected formatAnswer(value: unknown): Answer {
    return value as Answer;
  }

  /** Routes are known only to an unsealed process. Of the API only the description is a page. */
  protected answerOf(error: ServiceError): Answer {
    const isProgramPath = this.#path?.startsWith('v1/') === true && !/^v1\/docs(?:\/|$)/.test(this.#path);
    const takesPage = !isProgramPath && preferenceOf(this.exchange.request.headers.accept) === 'html';
    if (!takesPage) return problemAnswer(error, this.requestId);
    // Users who sign in there have no PIN. Users of the console may have it.
    const isOfConsole = this.#path === '' || this.#path === 'ui' || this.#path?.startsWith('ui/') === true;
    const more = isOfConsole ? html`<p><a href="${unsealPagePath}">Unseal it, with the PIN</a></p>` : undefined;
    return refusalPage(error, this.requestId, systemClock.now(), more);
  }

  protected record(): undefined {
    return undefined;
  }

  protected mayGoUnrecorded(): boolean {
    return true;
  }

  protected send(answer: Answer): Promise<void> | undefined {
    return this.exchange.send(this.requestId, answer);
  }

  async #unseal(channel: SupervisorChannel): Promise<Answer> {
    const body = await this.#readBody();
    requireMediaType(unsealEndpoint, this.exchange.request.headers, body);
    const progress = await this.#try(readInput(unsealEndpoint, body) as UnsealInput, channel);
    return progress === undefined ? { status: 204 } : { status: 200, mediaType: 'application/json', body: JSON.stringify(progress) };
  }

  /** Another site must not use up the attempts that a browser has: it has to say that the form is ours. */
  async #unsealByForm(tokens: readonly string[], data: string, channel: SupervisorChannel): Promise<Answer> {
    const again = (failed: FailedAttempt): Promise<Answer> => this.#page(tokens, data, channel, failed);
    if (this.exchange.request.headers['sec-fetch-site'] !== 'same-origin')
      return again({
        status: 403,
        text: 'This form did not come from this page, or the browser is too old to say so. Try again here.',
      });
    try {
      const form = new URLSearchParams(decodeUtf8(await this.#readBody()) ?? '');
      const progress = await this.#try(parseInput(unsealInput, unsealFormOf(form)), channel);
      if (progress === undefined || progress.have >= progress.needed) return unsealedPage();
      return again({ status: 200, text: 'The share was taken.' });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (error.code === 'not-sealed') return unsealedPage();
      return again({ status: error.status, text: error.message, headers: problemHeaders(error) });
    }
  }

  async #try({ pin, pins, share, unsealCode }: UnsealInput, channel: SupervisorChannel): Promise<Progress | undefined> {
    if (pin === undefined && pins === undefined && share === undefined)
      throw fail('missing-field', { detail: 'Give "pin", "pins" or "share".' });
    return channel.request('unseal', {
      ...(share === undefined ? {} : { share: new Secret(share) }),
      ...(unsealCode === undefined ? {} : { code: new Secret(unsealCode) }),
      isOfAdministrator: unsealCode === undefined && (await isOfAdministrator(this.exchange.request)),
      ...(pin === undefined ? {} : { pin: new Secret(pin) }),
      ...(pins === undefined ? {} : { pins: Object.fromEntries(Object.entries(pins).map(([token, text]) => [token, new Secret(text)])) }),
      requestId: this.requestId,
      clientIp: this.clientIp,
      userAgent: this.userAgent,
    });
  }

  async #page(tokens: readonly string[], data: string, channel: SupervisorChannel, failed?: FailedAttempt): Promise<Answer> {
    const damage = damageOf(data);
    const shown = failed ?? (damage === undefined ? undefined : { status: 200, text: damage });
    return unsealPage(tokens, shown, await awaitedOf(data, channel));
  }

  async #health(missing: readonly string[], data: string, channel: SupervisorChannel): Promise<Answer> {
    return healthOf(missing, damageOf(data), await awaitedOf(data, channel));
  }

  #readBody(): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      readBody(this.exchange.request, mostBytes, admitAny, (body) => {
        if (body instanceof Uint8Array) resolve(body);
        else reject(fail('payload-too-large', { detail: 'A PIN is shorter.' }));
      });
    });
  }
}

/** The sentence about a damaged file of the custodians. */
function damageOf(data: string): string | undefined {
  try {
    readCeremonies(data);
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

/** Progress of the custodians; undefined without them, and while the supervisor does not say. */
async function awaitedOf(data: string, channel: SupervisorChannel): Promise<Awaited | undefined> {
  if (!hasCustodians(data)) return undefined;
  const progress = await channel.request('custodians', undefined, progressWaitMs).catch(() => undefined);
  return progress && { ...progress, orPin: isCutOff(data) };
}

const progressWaitMs = 1_000;

/** Names missing and damaged parts before somebody gives a PIN in vain. */
function healthOf(missing: readonly string[], damage: string | undefined, awaited: Awaited | undefined): Answer {
  const { orPin = damage === undefined, ...custodians } = awaited ?? {};
  const byPin = 'a person to give the PIN: keystorectl do system unseal';
  const byShares =
    damage !== undefined
      ? 'custodians'
      : awaited && `custodians, ${awaited.have} of ${awaited.needed} shares are here: keystorectl custodians give`;
  const waits = `the appliance waits for ${[byShares, orPin && byPin].filter(Boolean).join('; or, because their ceremony was cut off, for ')}`;
  const lacks = `${missing.join(' and ')} of the data directory ${missing.length === 1 ? 'is' : 'are'} missing, so that no unseal succeeds: see that every disk is mounted, or put back what is missing from your backup`;
  const problems = [...(missing.length === 0 ? [] : [lacks]), ...(damage === undefined ? [] : [damage])];
  return {
    status: 503,
    mediaType: 'application/json',
    headers: { 'retry-after': '30' },
    body: JSON.stringify({
      status: 'sealed',
      hsm: { tokens: [] },
      reason: problems.length === 0 ? waits : `${problems.join('. And ')}. Then ${waits}`,
      ...(awaited === undefined ? {} : { custodians }),
    }),
  };
}
