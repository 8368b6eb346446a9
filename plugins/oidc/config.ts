// The plugin's section of the configuration.
import { z } from 'zod';
import { durationText, integer } from '../../core/fields.ts';

export const configSchema = z
  .strictObject({
    allowHttpLoopback: z
      .boolean()
      .optional()
      .describe('accept identity providers at http://localhost; unless given, only while public-url itself is a loopback address'),
    sessionIdle: durationText({ minSeconds: 60, maxSeconds: 86_400 })
      .default('30m')
      .describe('a browser session ends when unused this long'),
    pendingLoginsPerTenant: integer(10, 100_000).default(1_000).describe('logins under way per tenant; the oldest gives way'),
    pendingLogins: integer(10, 1_000_000).default(10_000).describe('logins under way in all; beyond it new ones are refused'),
    startsPerMinute: integer(1, 100_000).default(120).describe('logins one address may start per minute and worker process'),
  })
  .prefault({});

export type Config = z.output<typeof configSchema>;
