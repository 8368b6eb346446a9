// The EST listener of a sealed appliance: without a store there is no CA, and devices try again later.
import type { Listener } from '../../../core/http/listener/listeners.ts';
import { sendAnswer } from './send-answer.ts';
import { type EstServerOptions, openEstListener } from './server.ts';
import { retryAfterSeconds } from '../../../core/enrolment/enrolment-request.ts';
import { answerText } from './transport.ts';

/** Answers 503 to everything until it is closed; rejects with ListenError. */
export function openSealedEstListener(options: Omit<EstServerOptions, 'handler'>): Promise<Listener> {
  return openEstListener({ ...options, handler: (request, response) => void sendAnswer(request, response, sealed) });
}

const sealed = answerText(503, 'The appliance is sealed; try again later.', { 'Retry-After': String(retryAfterSeconds) });
