// Random octets from the token: the smallest plugin, and an example for others.
import { z } from 'zod';
import { encodeBase64, encodeHex } from '../../core/base/bytes.ts';
import { integer } from '../../core/wire/fields.ts';
import { defineEndpoint } from '../../core/http/endpoint.ts';
import { definePlugin } from '../../core/plugin/plugin.ts';

const randomTag = { name: 'random', description: 'Random octets from the generator of the token.' } as const;

const inputSchema = z.object({
  bytes: integer(1, 131_072).default(32).describe('How many octets.'),
  format: z.enum(['base64', 'hex']).default('base64').describe('How they are written.'),
});

const outputSchema = z.object({ bytes: z.string().meta({ description: 'The octets in the format asked for.', example: 'q83vEjRWeJA=' }) });

/** POST /v1/state/keystore/crypto-functions/random-bytes: from C_GenerateRandom, never from this process. */
export default definePlugin({
  name: 'random',
  contract: 1,
  config: z.strictObject({}).prefault({}),
  provision: ({ hsm }) => ({
    endpoints: [
      defineEndpoint<z.output<typeof inputSchema>, z.output<typeof outputSchema>>({
        method: 'POST',
        named: 'RandomBytes',
        idempotent: true,
        whileIsolated: true,
        path: '/v1/state/keystore/crypto-functions/random-bytes',
        act: 'none',
        summary: 'Generate random bytes',
        description: 'From the generator of the token, never from that of a process.',
        tag: randomTag,
        access: 'token',
        operation: 'execute',
        audit: 'required',
        auditFields: ['bytes', 'format'],
        input: inputSchema,
        output: outputSchema,
        secretOutput: ['bytes'],
        commandLine: { positional: ['bytes'], output: 'bytes' },
        run: async (_call, { bytes, format }) => ({ bytes: (format === 'hex' ? encodeHex : encodeBase64)(await hsm.random(bytes)) }),
      }),
    ],
  }),
});
