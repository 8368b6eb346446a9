// The plugin's section of the configuration.
import { z } from 'zod';
import { address } from '../../core/config/schema.ts';
import { originField } from '../../core/plugin/origins.ts';

export const configSchema = z
  .strictObject({
    listen: address
      .exactOptional()
      .describe('enrolment protocols beside EST (HTTPS), for example 0.0.0.0:4666; absent: no listener, and no CA enrols by them'),
    plainListen: address
      .exactOptional()
      .describe('the same over HTTP without TLS, for devices that have none: SCEP protects its messages itself; absent: none'),
    statusListen: address
      .exactOptional()
      .describe(
        'revocation lists, OCSP and certificates of CAs over HTTP without TLS, and nothing else, for example 0.0.0.0:4668; absent: none. See ca/status-url',
      ),
    publicUrl: originField('https')
      .exactOptional()
      .describe(
        'where devices reach listen if a proxy or a port forward is in front; default: the host of public-url and hosts, on its port',
      ),
    plainPublicUrl: originField('http').exactOptional().describe('where devices reach plain-listen, likewise'),
  })
  .prefault({});

export type Config = z.output<typeof configSchema>;
