// Messages to a program, as JSON by HTTPS, with an HMAC that proves who sends them.
import { createHmac } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { WebhookConfig } from '../../core/config/notices.ts';
import type { Destinations } from '../../core/outbound/destinations.ts';
import { perform } from '../../core/outbound/outbound.ts';
import { defined } from '../../core/base/defined.ts';
import { revealSecret } from '../../core/base/secret.ts';
import { formatOutput } from '../../core/wire/schema.ts';
import { readSecret } from '../../hsm/setup/setup.ts';
import { type Message, MessageRefused, type Sent } from './message.ts';
import { trustedIn } from './trust.ts';

const sendMs = 10_000;
const longestAnswer = 65_536;
/** Answers by which a receiver refuses what it was sent: malformed, too large, not to be processed. */
const ofTheMessage: ReadonlySet<number> = new Set([400, 413, 422]);

/** Posts a message. Rejects unless the answer is a success. `now`: goes into the signature, so that a message cannot be used later. */
export async function postMessage(
  { url, caFile, secret }: WebhookConfig,
  message: Message,
  destinations: Destinations,
  signal: AbortSignal,
  now: Temporal.Instant,
): Promise<Sent> {
  const target = new URL(url);
  const body = JSON.stringify(formatOutput(message));
  const timestamp = String(Math.floor(now.epochMilliseconds / 1_000));
  const key = secret && revealSecret(readSecret(secret, 'secret'));
  const response = await perform(
    target,
    'POST',
    {
      headers: {
        'content-type': 'application/json',
        'user-agent': 'keystored-notices',
        'keystored-id': message.id,
        'keystored-timestamp': timestamp,
        ...defined({ 'keystored-signature': key && `sha256=${signatureOf(key, timestamp, body)}` }),
      },
      body,
    },
    {
      ...destinations.wayTo(target),
      secureContext: createSecureContext({ minVersion: 'TLSv1.2', ...trustedIn(caFile) }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(sendMs)]),
      maxBytes: longestAnswer,
    },
  );
  if (response.ok) return {};
  const reason = `the receiver answers HTTP ${response.status}`;
  throw ofTheMessage.has(response.status) ? new MessageRefused(reason) : new Error(reason);
}

/** Over the time and the body, with a dot between them. */
export function signatureOf(secret: string, timestamp: string, body: string): string {
  return createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
}
