// The plugin's section of the configuration.
import { z } from 'zod';
import { providerHostsField } from '../../core/outbound/provider-hosts.ts';

export const configSchema = z
  .strictObject({
    allowHttpLoopback: z
      .boolean()
      .optional()
      .describe('accept issuers at http://localhost; unless given, only while public-url itself is a loopback address'),
    providerHosts: providerHostsField('issuers and their keys', 'beside those of provider-hosts, which hold as well'),
  })
  .prefault({});

export type Config = z.output<typeof configSchema>;
