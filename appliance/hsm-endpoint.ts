// GET /v1/state/system/hsm: what the configured tokens are, offer and how quick they have been; for the system tenant.
import { z } from 'zod';
import { fail } from '../core/errors.ts';
import { defineEndpoint, type AnyEndpoint } from '../core/http/endpoint.ts';
import { systemTenantName } from '../core/tenants.ts';
import type { Hsm } from '../hsm/api.ts';

const tokenState = z.object({
  name: z.string().meta({ description: 'Name of the token in the configuration.', example: 'default' }),
  module: z.string().meta({ description: 'Path of the PKCS#11 module.', example: '/usr/lib/softhsm/libsofthsm2.so' }),
  label: z.string().meta({ description: 'Label of the token.', example: 'keystored' }),
  serial: z.string().meta({ description: 'Serial number of the token.', example: '1e0f6a2b9c4d8e7f' }),
  manufacturer: z.string().meta({ description: 'Who made the token.', example: 'SoftHSM project' }),
  model: z.string().meta({ description: 'Model of the token.', example: 'SoftHSM v2' }),
  state: z.enum(['up', 'down', 'pin-refused']).describe('Whether it works; a refused PIN is not tried again.'),
  reason: z.string().optional().meta({ description: 'Why it is not up, and how to mend it.', example: 'the PIN was refused' }),
  keyTypes: z.array(z.string()).describe('Types of keys the token can hold for us.'),
  mechanisms: z.array(z.string()).describe('Mechanisms it offers.'),
  loadedKeys: z.int().min(0).describe('Keys loaded at the moment.'),
  sessions: z
    .object({
      size: z.int().min(0).describe('Sessions that may be open.'),
      busy: z.int().min(0).describe('Sessions at work.'),
      waiting: z.int().min(0).describe('Calls that wait for a session.'),
    })
    .describe('Sessions of the answering worker, as counted a moment ago.'),
  latencies: z
    .record(
      z.string(),
      z.object({
        count: z.int().min(0).describe('Calls the numbers are from.'),
        p50: z.number().meta({ description: 'Half of them took at most so many microseconds.', example: 41.5 }),
        p99: z.number().meta({ description: '99 of 100 took at most so many microseconds.', example: 163 }),
      }),
    )
    .describe('Time of recent calls by operation.'),
});

/** Refused with 404 for every tenant but `system`. */
export function hsmEndpoint(hsm: Hsm): AnyEndpoint {
  return defineEndpoint({
    method: 'GET',
    path: '/v1/state/system/hsm',
    access: 'token',
    operation: 'read',
    tag: 'system',
    summary: 'Tokens, mechanisms and latencies',
    description: 'The configured PKCS#11 tokens as last seen by the answering worker. Latencies are in microseconds.',
    audit: 'reads-go-on',
    output: z.object({ tokens: z.array(tokenState).describe('The configured tokens.') }),
    find(call) {
      if (call.caller.tenantName !== systemTenantName) throw fail('not-found');
    },
    run: () => ({ tokens: hsm.status().map((token) => ({ ...token, keyTypes: [...token.keyTypes], mechanisms: [...token.mechanisms] })) }),
  });
}
