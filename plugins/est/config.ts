// The plugin's section of the configuration.
import { z } from 'zod';
import { originField } from '../../core/plugin/origins.ts';

export const configSchema = z
  .strictObject({
    publicUrl: originField('https')
      .exactOptional()
      .describe(
        'where devices reach EST if a proxy or a port forward is in front, for example https://est.example:443; default: the host of public-url and hosts, on the port of est-listen',
      ),
  })
  .prefault({});

export type Config = z.output<typeof configSchema>;
