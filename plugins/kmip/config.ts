// The plugin's section of the configuration.
import { z } from 'zod';
import { address } from '../../core/config/schema.ts';
import { durationField } from '../../core/wire/fields.ts';

export const configSchema = z
  .strictObject({
    listen: address.exactOptional().describe('KMIP (TLS with client certificates, no HTTP), for example 0.0.0.0:5696; absent: no listener'),
    certificate: z
      .enum(['ecdsa', 'rsa'])
      .default('ecdsa')
      .describe(
        'what certificates the listener shows: ecdsa, those of the other listeners; rsa, also one with an RSA key, as tls-rsa-certificate gives to all of them, for storage arrays whose TLS 1.2 knows RSA suites only',
      ),
    idleTimeout: durationField({ minSeconds: 10, maxSeconds: 7 * 86_400 })
      .prefault('1h')
      .describe('a connection on which no request comes for so long is closed'),
  })
  .prefault({});

export type Config = z.output<typeof configSchema>;
