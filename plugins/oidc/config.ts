// The plugin's section of the configuration.
import { z } from 'zod';
import { durationText, integer } from '../../core/wire/fields.ts';
import { providerHostsField } from '../../core/outbound/provider-hosts.ts';

export const configSchema = z
  .strictObject({
    allowHttpLoopback: z
      .boolean()
      .optional()
      .describe('accept identity providers at http://localhost; unless given, only while public-url itself is a loopback address'),
    providerHosts: providerHostsField('providers and directories', 'former name of provider-hosts: where both are given, both hold'),
    sessionIdle: durationText({ minSeconds: 60, maxSeconds: 86_400 })
      .default('30m')
      .describe('a browser session ends when unused this long'),
    pendingLoginsPerAddress: integer(10, 100_000)
      .default(200)
      .describe('logins under way of one address, and as many requests of command lines; a new one replaces the oldest of the address'),
    pendingLoginsPerTenant: integer(10, 100_000)
      .default(1_000)
      .describe('the same per tenant; a new one replaces the oldest of its address, or of the tenant'),
    pendingLogins: integer(10, 1_000_000)
      .default(10_000)
      .describe('the same in all; a new one replaces the oldest of its address, or of its tenant, or of all'),
    startsPerMinute: integer(1, 100_000)
      .default(120)
      .describe('logins of one tenant that one address may start per minute and worker process'),
  })
  .prefault({});

export type Config = z.output<typeof configSchema>;
