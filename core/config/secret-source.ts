// Source of a secret of the configuration: a file, an environment variable or a systemd credential; never the configuration file itself.
import { z } from 'zod';
import type { PinSource } from '../../hsm/api.ts';

/** Fields that name one source. `what` is the secret in their descriptions, with its article. */
export function secretSource(what: string) {
  return z
    .strictObject({
      file: z.string().min(1).exactOptional().describe(`path of a file that holds ${what}`),
      environment: z.string().min(1).exactOptional().describe(`name of an environment variable that holds ${what}`),
      credential: z.string().min(1).exactOptional().describe(`name of a systemd credential that holds ${what}`),
    })
    .refine((sources) => Object.keys(sources).length === 1, 'must name exactly one of file, environment and credential')
    .transform((sources) => sources as PinSource);
}
