// The plugin's section of the configuration.
import { z } from 'zod';
import { nameField } from '../../../core/wire/fields.ts';

export const configSchema = z
  .strictObject({
    allowDualUse: z
      .array(nameField())
      .max(1_024)
      .default([])
      .describe(
        'tenants that may have one private key for several uses, in a key for each: for keys from elsewhere that sign and decrypt; custody statements say so',
      ),
  })
  .prefault({});

export type Config = z.output<typeof configSchema>;
