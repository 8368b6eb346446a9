// The plugin's section of the configuration.
import { z } from 'zod';
import { originField } from '../../../core/plugin/origins.ts';

export const configSchema = z
  .strictObject({
    statusUrl: originField('http')
      .exactOptional()
      .describe(
        'where relying parties reach revocation lists and OCSP over HTTP (enrolment/status-listen, or a cache in front of it): new certificates name it; default: public-url',
      ),
  })
  .prefault({});

export type Config = z.output<typeof configSchema>;
