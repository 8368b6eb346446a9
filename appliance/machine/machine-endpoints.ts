// Endpoints of the appliance as a machine: the running image, reboot, power off, factory reset. For the system tenant only.
import { z } from 'zod';
import { defineEndpoint, type AnyEndpoint } from '../../core/http/endpoint.ts';
import { tags } from '../../core/http/tags.ts';
import { readImage } from './image.ts';
import { operate, operations } from './machine-operations.ts';

const shared = { tag: tags.system, access: 'token', errors: ['not-found'] } as const;

const imageVersion = z.string().meta({ description: 'A version of the image.', example: '0.2.0' });

const imageOutput = z.object({
  isImage: z
    .boolean()
    .describe(
      '`true` if the machine runs the bootable image. Elsewhere there is nothing but this field: packages and containers are updated as such.',
    ),
  version: imageVersion.optional(),
  slots: z
    .array(z.object({ version: imageVersion, running: z.boolean().describe('`true` for the one that runs.') }))
    .optional()
    .describe('What the two slots have. A slot that was never written is left out.'),
  trial: z
    .enum(['pending', 'confirmed', 'none'])
    .optional()
    .describe(
      'State of its trial: `pending` until the daemon serves with it, `confirmed` in the start that accepted it, `none` in later ones.',
    ),
  lastUpdate: z.string().optional().meta({
    description: 'What became of the update that was last offered since the machine started; in the words of its screen.',
    example: 'The update on the medium is refused: its version 0.2.0 is not newer than 0.2.0, which runs.',
  }),
});

/** `operationsSocket`: absent unless the machine is an appliance. */
export function machineEndpoints(operationsSocket: string | undefined): AnyEndpoint[] {
  return [
    defineEndpoint({
      ...shared,
      method: 'GET',
      path: '/v1/state/system/image',
      operation: 'read',
      named: 'Image',
      summary: 'The bootable image: version, slots, trial, last update',
      description: 'An update is taken from a medium, when every key of the running version has signed it.',
      audit: 'reads-go-on',
      output: imageOutput,
      reservedFor: 'system-tenant',
      async run() {
        const image = readImage();
        return image === undefined ? { isImage: false } : { isImage: true, ...image };
      },
    }),
    ...(operationsSocket === undefined ? [] : [operateEndpoint(operationsSocket)]),
  ];
}

/** Registered only where the machine is an appliance. */
function operateEndpoint(socket: string): AnyEndpoint {
  return defineEndpoint({
    ...shared,
    method: 'POST',
    path: '/v1/state/system/operate',
    // A reset ends every embedded key for good, and who lifts the brake must not do that alone.
    act: (_call, { operation }) => (operation === 'factory-reset' ? ['stop', 'destroy'] : ['stop']),
    operation: 'execute',
    summary: 'Reboot, power off or reset the appliance',
    description:
      'A factory reset destroys every key of the embedded token, the store and the audit trail; keys in an HSM of your own stay there.',
    audit: 'required',
    input: z.object({ operation: z.enum(operations).meta({ description: 'What to do.', example: 'reboot' }) }),
    auditFields: ['operation'],
    commandLine: {
      positional: ['operation'],
      ends: 'stops the machine; a factory reset also destroys the embedded keys, the store and the audit trail',
    },
    errors: [...shared.errors, 'operation-refused', 'machine-unavailable'],
    reservedFor: 'system-root',
    async run(_call, { operation }) {
      await operate(socket, operation);
      return undefined;
    },
  });
}
