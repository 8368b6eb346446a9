// A sealed process: no token, no store, no key in memory. It answers health, its own CA and unseal, and everything else, EST too, with 503.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Configuration } from '../../core/config/config.ts';
import { fail, ServiceError } from '../../core/base/errors.ts';
import { preferenceOf } from '../../core/http/request/accept.ts';
import { sendAnswer, type Answer } from '../../core/http/response/answer.ts';
import { readBody } from '../../core/http/request/body.ts';
import { clientAddressOf, userAgentOf } from '../../core/http/context/request-context.ts';
import { readInput, requireMediaType } from '../../core/http/request/input.ts';
import { type Listener, listenManagement, ListenError } from '../../core/http/listener/listeners.ts';
import { refusalPage } from '../../core/http/pages/refusal.ts';
import { problemAnswer } from '../../core/http/response/problem.ts';
import { readRequestPath } from '../../core/http/request/path.ts';
import { Secret } from '../../core/base/secret.ts';
import { systemClock } from '../../core/base/time.ts';
import { plugins } from '../plugins.ts';
import { readApplianceCa } from '../provisioning/first-boot.ts';
import type { SupervisorChannel } from '../processes/messages.ts';
import { readSealedIdentity } from '../state/sealed-identity.ts';
import type { Serving } from '../processes/serving.ts';
import { StartRefused } from '../state/start-refused.ts';
import { unsealEndpoint, type UnsealInput } from '../operations/system-endpoints.ts';

const stopGraceMs = 10_000;
const mostBytes = 64 * 1024;

/** Serves as a sealed process. Throws StartRefused. */
export async function serveSealed(configuration: Configuration, channel: SupervisorChannel): Promise<Serving> {
  const identity = readSealedIdentity(configuration.data);
  const listeners: Listener[] = [];
  const close = async (): Promise<void> => void (await Promise.all(listeners.map((listener) => listener.close(stopGraceMs))));
  try {
    listeners.push(await listenManagement({ ...configuration.listen, identity, handler: sealedHandler(configuration.data, channel) }));
    for (const plugin of plugins) {
      const listener = await plugin.serveSealed?.({ est: configuration.estListen, identity });
      if (listener !== undefined) listeners.push(listener);
    }
  } catch (error) {
    await close();
    throw error instanceof ListenError ? new StartRefused(error.message) : error;
  }
  return {
    metrics: async () => [],
    seal: async () => undefined,
    retire: async () => void close(),
    examine: async () => undefined,
    stop: close,
  };
}

/** What a sealed process answers on the management port. */
export function sealedHandler(data: string, channel: SupervisorChannel): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const requestId = randomUUID();
    const path = readRequestPath(request.url ?? '')?.segments.join('/');
    const send = (answer: Answer): void => void sendAnswer(response, requestId, answer);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (path === 'v1/state/system/health' && isRead) return send(health);
    // A person who sends a PIN has to authenticate the appliance first.
    if (path === 'v1/ca/system/appliance/ca.pem' && isRead) return send(applianceCa(data, requestId));
    if (path !== 'v1/state/keystore/system/unseal' || request.method !== 'POST') {
      const takesPage = !isCalledByPrograms(path) && preferenceOf(request.headers.accept) === 'html';
      return send(takesPage ? refusalPage(fail('sealed'), requestId, systemClock.now()) : problemAnswer(fail('sealed'), requestId));
    }
    const refuse = (error: unknown): void => send(problemAnswer(error instanceof ServiceError ? error : fail('internal-error'), requestId));
    readBody(
      request,
      mostBytes,
      () => true,
      (body) => {
        if (!(body instanceof Uint8Array)) return refuse(fail('payload-too-large', { detail: 'A PIN is shorter.' }));
        unseal(request, body, requestId, channel).then(() => send({ status: 204 }), refuse);
      },
    );
  };
}

/** A public request: a file that cannot be read must not end the process. */
function applianceCa(data: string, requestId: string): Answer {
  try {
    return { status: 200, mediaType: 'application/x-pem-file', body: readApplianceCa(data) };
  } catch {
    return problemAnswer(fail('internal-error'), requestId);
  }
}

/** Routes are known only to an unsealed process. Of the API only the description is a page. */
function isCalledByPrograms(path = ''): boolean {
  return path.startsWith('v1/') && path !== 'v1/docs';
}

async function unseal(request: IncomingMessage, body: Uint8Array, requestId: string, channel: SupervisorChannel): Promise<void> {
  requireMediaType(unsealEndpoint, request.headers, body);
  const { pin, pins } = readInput(unsealEndpoint, body) as UnsealInput;
  if (pin === undefined && pins === undefined) throw fail('missing-field', { detail: 'Give "pin" or "pins".' });
  await channel.request('unseal', {
    ...(pin === undefined ? {} : { pin: new Secret(pin) }),
    ...(pins === undefined ? {} : { pins: Object.fromEntries(Object.entries(pins).map(([token, text]) => [token, new Secret(text)])) }),
    requestId,
    clientIp: clientAddressOf(request),
    userAgent: userAgentOf(request),
  });
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
