// A request to the management port of a sealed process: health, the CA of the appliance, unseal, and 503 for everything else.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { fail, type ServiceError } from '../../core/base/errors.ts';
import { Secret } from '../../core/base/secret.ts';
import { systemClock } from '../../core/base/time.ts';
import { RequestContext, type Answered, type RequestServer } from '../../core/http/context/request-context.ts';
import { refusalPage } from '../../core/http/pages/refusal.ts';
import { preferenceOf } from '../../core/http/request/accept.ts';
import { readBody } from '../../core/http/request/body.ts';
import { readInput, requireMediaType } from '../../core/http/request/input.ts';
import { readRequestPath } from '../../core/http/request/path.ts';
import { sendAnswer, type Answer } from '../../core/http/response/answer.ts';
import { createProblems, problemAnswer } from '../../core/http/response/problem.ts';
import { unsealEndpoint, type UnsealInput } from '../operations/system-endpoints.ts';
import type { SupervisorChannel } from '../processes/messages.ts';
import { readApplianceCa } from '../provisioning/first-boot.ts';

const mostBytes = 64 * 1024;

/** A sealed process keeps no log and no audit trail: the supervisor records attempts to unseal. */
const server: RequestServer = { clock: systemClock, problems: createProblems([]), sealed: () => false };

export class SealedRequest extends RequestContext<Answer> {
  /** normalised, without the slash in front; undefined for what is no path */
  readonly #path: string | undefined;

  constructor(request: IncomingMessage, response: ServerResponse) {
    super(server, request, response);
    this.#path = readRequestPath(request.url ?? '')?.segments.join('/');
  }

  /** Answers from the data directory and, for unseal, from the supervisor. Throws `sealed` for everything else. */
  run(data: string, channel: SupervisorChannel): Answer | Promise<Answer> {
    const { method } = this.request;
    const isRead = method === 'GET' || method === 'HEAD';
    if (this.#path === 'v1/state/system/health' && isRead) return health;
    // A person who sends a PIN has to authenticate the appliance first.
    if (this.#path === 'v1/ca/system/appliance/ca.pem' && isRead)
      return { status: 200, mediaType: 'application/x-pem-file', body: readApplianceCa(data) };
    if (this.#path === 'v1/state/keystore/system/unseal' && method === 'POST') return this.#unseal(channel);
    throw fail('sealed');
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
    const takesPage = !isProgramPath && preferenceOf(this.request.headers.accept) === 'html';
    return takesPage ? refusalPage(error, this.requestId, systemClock.now()) : problemAnswer(error, this.requestId);
  }

  protected record(): undefined {
    return undefined;
  }

  protected mayGoUnrecorded(): boolean {
    return true;
  }

  protected send(answer: Answer): Promise<void> | undefined {
    return sendAnswer(this.response, this.requestId, answer);
  }

  async #unseal(channel: SupervisorChannel): Promise<Answer> {
    const body = await this.#readBody();
    requireMediaType(unsealEndpoint, this.request.headers, body);
    const { pin, pins } = readInput(unsealEndpoint, body) as UnsealInput;
    if (pin === undefined && pins === undefined) throw fail('missing-field', { detail: 'Give "pin" or "pins".' });
    await channel.request('unseal', {
      ...(pin === undefined ? {} : { pin: new Secret(pin) }),
      ...(pins === undefined ? {} : { pins: Object.fromEntries(Object.entries(pins).map(([token, text]) => [token, new Secret(text)])) }),
      requestId: this.requestId,
      clientIp: this.clientIp,
      userAgent: this.userAgent,
    });
    return { status: 204 };
  }

  #readBody(): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      readBody(
        this.request,
        mostBytes,
        (_, decide) => decide(undefined),
        (body) => {
          if (body instanceof Uint8Array) resolve(body);
          else reject(fail('payload-too-large', { detail: 'A PIN is shorter.' }));
        },
      );
    });
  }
}

const health: Answer = {
  status: 503,
  mediaType: 'application/json',
  headers: { 'retry-after': '30' },
  body: JSON.stringify({
    status: 'sealed',
    hsm: { tokens: [] },
    reason: 'the appliance waits for a person to give the PIN: keystorectl do system unseal',
  }),
};
