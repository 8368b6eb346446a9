// The plugin's section of the configuration.
import { z } from 'zod';
import { address } from '../../core/config/schema.ts';
import { providerHostsField } from '../../core/outbound/provider-hosts.ts';
import { integer } from '../../core/wire/fields.ts';

export const configSchema = z
  .strictObject({
    validationHosts: providerHostsField('hosts that prove names').describe(
      'where the proofs of names are fetched (http-01, tls-alpn-01); private and loopback ranges only if they are in allow',
    ),
    resolvers: z
      .array(address)
      .max(8)
      .default([])
      .describe('name servers for the proofs of names, for example 10.1.0.53:53; none: those of the system'),
    httpPort: integer(1, 65_535).default(80).describe('port of http-01; other than 80 only for tests and closed networks'),
    tlsPort: integer(1, 65_535).default(443).describe('port of tls-alpn-01; other than 443 only for tests and closed networks'),
  })
  .prefault({});

export type Config = z.output<typeof configSchema>;
