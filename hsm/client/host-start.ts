// Starts a host, which then opens its token.
import { HsmError, type HsmConfig, type TokenConfig } from '../api.ts';
import { decodeError } from '../protocol/error-coding.ts';
import { readDescription, type Description } from '../protocol/host-answers.ts';
import { operations, type OperationName } from '../protocol/operations.ts';
import { encodeWithPins } from '../protocol/pins.ts';
import { resultOk, type Message } from '../protocol/wire.ts';
import { inlineHost, spawnHost, type Link, type LinkListener } from './link.ts';
import type { HsmOptions } from './options.ts';

/** Id of messages that are not jobs; job ids start at 1. */
export const controlId = 0;
const openPatience = 10;

/** A host with its description of its token. */
export type OpenHost = { readonly link: Link; readonly description: Description };

/**
 * Starts a host; `opened` resolves when it has opened the token and rejects with HsmError. The listener gets later messages, and the end of the host
 * in either case. A host that takes more than ten times the limit of a job is killed.
 */
export function startHost(
  token: TokenConfig,
  { jobTimeoutSeconds, cacheKeys, checkAnswers }: HsmConfig,
  { inline }: HsmOptions,
  listener: LinkListener,
): { readonly link: Link; readonly opened: Promise<OpenHost> } {
  const opening = Promise.withResolvers<Description>();
  let isOpen = false;
  const link = (inline === true ? inlineHost : spawnHost)(token.environment ?? {}, {
    onResults: (results) => {
      const [answer] = results;
      if (isOpen || answer === undefined) return listener.onResults(results);
      isOpen = true;
      if (answer.code === resultOk) opening.resolve(readDescription(answer));
      else opening.reject(decodeError(answer.part(0)));
    },
    onExit: (reason) => {
      opening.reject(new HsmError('unavailable', `the host process ${reason} while it opened the token`));
      listener.onExit(reason);
    },
  });
  const options = encodeWithPins({ token, cacheKeys, jobTimeoutSeconds, checkAnswers });
  link.send([control('open', options)]);
  options.fill(0);
  const patience = setTimeout(() => link.kill(), jobTimeoutSeconds * 1_000 * openPatience);
  const opened = opening.promise.then((description) => ({ link, description })).finally(() => clearTimeout(patience));
  return { link, opened };
}

/** A message to the host itself. */
export function control(name: OperationName, ...parts: Buffer[]): Message {
  return { id: controlId, code: operations[name].code, flags: 0, micros: 0, parts };
}
