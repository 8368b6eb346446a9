// The plugin's section of the configuration.
import { z } from 'zod';
import { durationText } from '../../core/wire/fields.ts';

export const configSchema = z
  .strictObject({
    sessionIdle: durationText({ minSeconds: 60, maxSeconds: 86_400 })
      .default('30m')
      .describe('a session of the console ends when unused this long'),
    sessionTtl: durationText({ minSeconds: 300, maxSeconds: 7 * 86_400 })
      .default('8h')
      .describe('a session that was signed in with a token ends after this time, and with the token at the latest'),
  })
  .prefault({});

export type Config = z.output<typeof configSchema>;
