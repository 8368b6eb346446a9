// The plugin's section of the configuration.
import { z } from 'zod';
import { providerHostsField } from '../../core/outbound/provider-hosts.ts';

export const configSchema = z
  .strictObject({
    listHosts: providerHostsField('servers of revocation lists, and OCSP responders').describe(
      'where the lists of `crl-urls` of certificate roles may be fetched, and their OCSP responders asked; this machine and private networks only where allow names their addresses',
    ),
  })
  .prefault({});

export type Config = z.output<typeof configSchema>;
