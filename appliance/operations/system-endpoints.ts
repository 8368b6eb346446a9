// What the appliance does for those who run it, beside its service: metrics, backup, sealing, the clock. For the system tenant only.
import { z } from 'zod';
import { fail } from '../../core/base/errors.ts';
import { defineEndpoint, definePublicEndpoint, Reply, type AnyEndpoint } from '../../core/http/endpoint.ts';
import { Secret } from '../../core/base/secret.ts';
import type { ClockWatch } from './clock-watch.ts';
import { operate, operations } from './machine-operations.ts';
import { readApplianceCa } from '../provisioning/first-boot.ts';
import { formatMetrics, type ProcessMetrics, type Snapshot } from './metrics.ts';

/** What the composition root brings for it. */
export type SystemParts = {
  readonly directory: string;
  /** So long a call may take from reading a record until the token has opened its keys. */
  readonly settleMs: number;
  readonly clockWatch: ClockWatch;
  readonly metrics: ProcessMetrics;
  /** snapshots of every process that serves, this one included */
  snapshots(): Promise<readonly Snapshot[]>;
  /** Resolves when no process holds a key any more; sealed ones take their place afterwards. */
  seal(): Promise<void>;
  /** An encrypted backup, piece by piece. Begins when everything in it has been copied aside. */
  backUp(passphrase: Secret<string>): Promise<AsyncIterable<Uint8Array>>;
  /** Where the machine's own operations go; absent on machines that are somebody else's. */
  readonly operationsSocket?: string | undefined;
};

const shared = { tag: 'system', access: 'token', errors: ['not-found'] } as const;

/** The endpoints. Those that change something, and the backup, need the root policy in the system tenant. */
export function systemEndpoints(system: SystemParts, measureState: () => Promise<Snapshot>): AnyEndpoint[] {
  return [
    defineEndpoint({
      ...shared,
      method: 'GET',
      path: '/v1/state/system/metrics',
      operation: 'read',
      summary: 'Metrics for Prometheus',
      description:
        'Text format 0.0.4. Counters are sums over all worker processes since the start; gauges are of those that answer within two seconds.',
      audit: 'reads-go-on',
      produces: 'text/plain',
      reservedFor: 'system-tenant',
      async run() {
        const [own, others] = await Promise.all([measureState(), system.snapshots()]);
        const { mediaType, text } = await formatMetrics([own, ...others]);
        return new Reply(200, text, { 'content-type': mediaType });
      },
    }),
    defineEndpoint({
      ...shared,
      method: 'POST',
      path: '/v1/state/system/backup',
      operation: 'execute',
      summary: 'Take an encrypted backup of the whole appliance',
      description:
        'The answer is the backup, encrypted under the passphrase. It is whole only if the connection was not cut. Keep the passphrase apart: nothing else opens it.',
      audit: 'required',
      produces: 'application/octet-stream',
      input: z.object({
        passphrase: z
          .string()
          .min(12)
          .max(1024)
          .meta({ description: 'What opens the backup again; 12 characters or more.', example: 'correct horse battery staple' }),
      }),
      secretInput: ['passphrase'],
      reservedFor: 'system-root',
      async run(_call, { passphrase }) {
        return new Reply(200, await system.backUp(new Secret(passphrase)), { 'content-type': 'application/octet-stream' });
      },
    }),
    defineEndpoint({
      ...shared,
      method: 'POST',
      path: '/v1/state/system/accept-clock',
      operation: 'execute',
      summary: 'Say that the clock is right',
      description: 'For a clock that went back on purpose, or that was wrongly in the future before: what was held goes on.',
      audit: 'required',
      reservedFor: 'system-root',
      async run() {
        await system.clockWatch.accept();
        return undefined;
      },
    }),
    defineEndpoint({
      ...shared,
      method: 'POST',
      path: '/v1/state/keystore/system/seal',
      operation: 'execute',
      summary: 'Seal the appliance until a person gives the PIN',
      description:
        'No use of a key begins any more, those that run end, and the keys leave the memory of every process; then comes the answer, the last on its connection. From then on only health and unseal are answered.',
      audit: 'required',
      reservedFor: 'system-root',
      async run() {
        await system.seal();
        return new Reply(204, undefined, { connection: 'close' });
      },
    }),
    unsealEndpoint,
    definePublicEndpoint({
      tag: 'system',
      access: 'public',
      method: 'GET',
      path: '/v1/ca/system/appliance/ca.pem',
      summary: 'The CA certificates of this appliance, for who knows only its address',
      description: 'Whoever fetches them without trusting them yet compares the fingerprint with one that came another way.',
      audit: 'none',
      produces: 'application/x-pem-file',
      run: () => new Reply(200, readApplianceCa(system.directory), { 'content-type': 'application/x-pem-file' }),
    }),
    ...(system.operationsSocket === undefined ? [] : [operateEndpoint(system.operationsSocket)]),
  ];
}

/** Only where the machine is an appliance; elsewhere the path is not there. */
function operateEndpoint(socket: string): AnyEndpoint {
  return defineEndpoint({
    ...shared,
    method: 'POST',
    path: '/v1/state/system/operate',
    operation: 'execute',
    summary: 'Reboot, power off or reset the appliance',
    description:
      'A factory reset destroys every key of the embedded token, the store and the audit trail; keys in an HSM of your own stay there.',
    audit: 'required',
    input: z.object({ operation: z.enum(operations).meta({ description: 'What to do.', example: 'reboot' }) }),
    auditFields: ['operation'],
    errors: [...shared.errors, 'operation-refused', 'machine-unavailable'],
    reservedFor: 'system-root',
    async run(_call, { operation }) {
      await operate(socket, operation);
      return undefined;
    },
  });
}

/** One PIN for all tokens, or one for each by name. */
const unsealInput = z.object({
  pin: z.string().min(1).max(256).optional().meta({ description: 'The user PIN of every configured token.', example: '12345678' }),
  pins: z
    .record(z.string().max(64), z.string().min(1).max(256))
    .optional()
    .meta({ description: 'PINs by name of the token, where they differ.', example: { default: '12345678' } }),
});

export type UnsealInput = z.output<typeof unsealInput>;

/** The answer of a process that serves. While the appliance is sealed, seal/sealed-server.ts answers, from the same description. */
export const unsealEndpoint = definePublicEndpoint<UnsealInput, undefined>({
  tag: 'system',
  access: 'public',
  method: 'POST',
  path: '/v1/state/keystore/system/unseal',
  summary: 'Give the PIN of the tokens to a sealed appliance',
  description:
    'A PIN is tried once. After a refused one the next attempt has to wait; after three the daemon must be started again, because tokens lock themselves.',
  audit: 'none',
  whileSealed: true,
  input: unsealInput,
  secretInput: ['pin', 'pins'],
  errors: ['not-sealed', 'pin-refused', 'rate-limited', 'hsm-unavailable'],
  run() {
    throw fail('not-sealed', { detail: 'The appliance is not sealed; the PIN was not looked at.' });
  },
});
