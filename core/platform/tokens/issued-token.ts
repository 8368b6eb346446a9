// The answer with a new token: shown once, with its expiry and when to renew it.
import { z } from 'zod';
import { timestamp } from '../../wire/fields.ts';
import { revealSecret } from '../../base/secret.ts';
import type { IssuedToken } from '../../access/tokens/tokens.ts';

export const issuedTokenOutput = z.object({
  token: z.string().meta({ description: 'The token; shown this once.', example: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6' }),
  accessor: z.uuid().describe('Stands for the token where the token itself must not be seen.'),
  expiresIn: z.int().meta({ description: 'Seconds until it ends.', example: 86400 }),
  expires: timestamp().describe('When it ends, unless it is refreshed.'),
  creationTime: timestamp().describe('When it was made.'),
  renewalTime: timestamp().describe('When to refresh it or to log in again: after two thirds of its life.'),
});

/** The answer for a token that expires. */
export function formatIssuedToken({
  token,
  accessor,
  creationTime,
  expires = creationTime,
}: Omit<IssuedToken, 'record'>): z.output<typeof issuedTokenOutput> {
  const life = creationTime.until(expires).total('milliseconds');
  return {
    token: revealSecret(token),
    accessor,
    expiresIn: Math.round(life / 1_000),
    expires,
    creationTime,
    renewalTime: creationTime.add({ milliseconds: Math.round((life * 2) / 3) }),
  };
}
