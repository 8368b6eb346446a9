// An invitation: one line that a person carries from a member to the appliance that is to join.
import { hash } from 'node:crypto';
import { z } from 'zod';

export type Invitation = {
  /** base URL of the management API of the member that has invited */
  readonly url: string;
  /** SHA-256 of the DER of a CA certificate of its listeners, hexadecimal */
  readonly authority: string;
  /** 32 octets, base64url */
  readonly secret: string;
};

const prefix = 'keystored-invitation-1.';
const longest = 2_048;

const content = z.strictObject({
  url: z
    .string()
    .max(512)
    .regex(/^https:\/\/[^\s/?#@]+$/),
  authority: z.string().regex(/^[\da-f]{64}$/),
  secret: z.string().regex(/^[\w-]{43}$/),
});

export function formatInvitation(invitation: Invitation): string {
  return prefix + Buffer.from(JSON.stringify(invitation)).toString('base64url');
}

/**
 * Parses an invitation; spaces and line ends around it, and line ends that a terminal inserted, are ignored. Undefined for any other text.
 */
export function parseInvitation(text: string): Invitation | undefined {
  const line = text.replace(/\s+/g, '');
  if (line.length > longest || !line.startsWith(prefix)) return undefined;
  try {
    return content.parse(JSON.parse(Buffer.from(line.slice(prefix.length), 'base64url').toString('utf8')));
  } catch {
    return undefined;
  }
}

/** Hash of a secret, as the store has it. */
export function hashOfSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}
