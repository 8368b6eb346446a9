// Endpoints of the tokens: description, mechanisms, latencies, and rotation of their wrapping keys; for the system tenant.
import { z } from 'zod';
import { reservedRefusal } from '../../core/access/reserved.ts';
import { defined } from '../../core/base/defined.ts';
import { fail } from '../../core/base/errors.ts';
import { defineEndpoint, type AnyEndpoint } from '../../core/http/endpoint.ts';
import { naming } from '../../core/http/named-entries.ts';
import type { Hsm, OwnObject } from '../../hsm/api.ts';
import { wrappingState } from './record.ts';
import type { WrappingRotation } from './rotation.ts';
import type { OwnPins } from '../tokens/own-pins.ts';
import { type PinOrigin, pinOriginKinds } from '../tokens/pin-origin.ts';
import { tags } from '../../core/http/tags.ts';

/** Keys in token custody may be many; the appliance's own are among the first. */
const mostObjects = 200;

const tokenState = z.object({
  name: z.string().meta({ description: 'Name of the token in the configuration.', example: 'default' }),
  group: z
    .object({
      name: z.string().meta({ description: 'Name of the group, which stored keys have.', example: 'main' }),
      opensKeys: z.boolean().describe('`true` if the token is up and has the wrapping key in use.'),
    })
    .optional()
    .describe('The tokens with which it shares its keys; absent for a token by itself.'),
  module: z.string().meta({ description: 'Path of the PKCS#11 module.', example: '/usr/lib/softhsm/libsofthsm2.so' }),
  label: z.string().meta({ description: 'Label of the token.', example: 'keystored' }),
  serial: z.string().meta({ description: 'Serial number of the token.', example: '1e0f6a2b9c4d8e7f' }),
  manufacturer: z.string().meta({ description: 'Manufacturer of the token.', example: 'SoftHSM project' }),
  model: z.string().meta({ description: 'Model of the token.', example: 'SoftHSM v2' }),
  state: z
    .enum(['up', 'damaged', 'down', 'pin-refused'])
    .describe('`up`: it works. `damaged`: its own keys are missing. A refused PIN is not tried again.'),
  reason: z.string().optional().meta({ description: 'Why it is not up, and how to correct it.', example: 'the PIN was refused' }),
  keyTypes: z.array(z.string()).describe('Key types that the token supports.'),
  ivSource: z
    .enum(['own', 'returned', 'appended'])
    .meta({ typeName: 'IvSource' })
    .describe(
      'Maker of the IVs of AES-GCM: the appliance, or the token, which returns or appends them. Then there is no convergent encryption.',
    ),
  signatureVariants: z
    .array(z.enum(['ed25519ctx', 'ed25519ph', 'ml-dsa-context', 'ml-dsa-deterministic']).meta({ typeName: 'SignatureVariant' }))
    .describe('Ways of signing that were proven beside the plain ones: with a context, over a hash, without random octets.'),
  mechanisms: z.array(z.string()).describe('Mechanisms of the token.'),
  wrappingKey: wrappingState.describe('The key that wraps all others, and its last rotation.'),
  ownPin: z.boolean().describe('`true` if the appliance chose its user PIN and keeps it; then `change-pin` replaces it.'),
  loadedKeys: z.int().min(0).describe('Keys loaded now.'),
  sessions: z
    .object({
      size: z.int().min(0).describe('Sessions that may be open.'),
      busy: z.int().min(0).describe('Sessions in use.'),
      waiting: z.int().min(0).describe('Calls that wait for a session.'),
    })
    .describe('Sessions of the answering worker, counted recently.'),
  latencies: z
    .record(
      z.string(),
      z.object({
        count: z.int().min(0).describe('Calls that were measured.'),
        p50: z.number().meta({ description: 'Median in microseconds.', example: 41.5 }),
        p99: z.number().meta({ description: '99th percentile in microseconds.', example: 163 }),
        unit: z.literal('microseconds').describe('Of both.'),
      }),
    )
    .describe('Time of recent calls by operation.'),
});

const pinOfToken = z.object({
  token: z.string().meta({ description: 'Name of the token in the configuration.', example: 'default' }),
  source: z
    .enum(pinOriginKinds)
    .meta({ typeName: 'PinSource' })
    .describe(
      'Where a start gets the PIN: a file that the appliance made and keeps, a file, an environment variable or a systemd credential of the configuration, a person, or custodians.',
    ),
  place: z
    .string()
    .optional()
    .meta({ description: 'Path of the file, or name of the variable or credential.', example: '/var/lib/keystored/pin' }),
});

const startState = z.object({
  opensByItself: z.boolean().describe('`true` if a restart opens the tokens without a person, also after a seal.'),
  pins: z.array(pinOfToken.meta({ typeName: 'PinOfToken' })).describe('Where the PIN of each token comes from.'),
  pinFiles: z.array(z.string()).describe('Files of the machine that have a user PIN or an SO PIN now.'),
});

export type HsmEndpointParts = {
  readonly hsm: Hsm;
  readonly rotation: WrappingRotation;
  readonly pins: OwnPins;
  /** absent in tools that open the tokens in another way than a start */
  readonly pinOrigin?: (() => PinOrigin) | undefined;
};

/** Refused with 404 for every tenant but `system`; rotation needs the root policy there. */
export function hsmEndpoints({ hsm, rotation, pins, pinOrigin }: HsmEndpointParts): AnyEndpoint[] {
  return [
    defineEndpoint({
      method: 'GET',
      path: '/v1/state/system/hsm',
      access: 'token',
      operation: 'read',
      tag: tags.system,
      summary: 'Tokens, mechanisms and latencies',
      named: 'Hsm',
      description: 'The configured PKCS#11 tokens as last seen by the answering worker. Latencies are in microseconds.',
      audit: 'reads-go-on',
      output: z.object({
        tokens: z.array(tokenState).describe('The configured tokens.'),
        start: startState.optional().describe('What opens the tokens at a start. Absent for callers who may not seal the appliance.'),
      }),
      reservedFor: 'system-tenant',
      run: ({ caller }) => ({
        ...(reservedRefusal('system-root', caller) === undefined ? defined({ start: startOf(pinOrigin?.()) }) : {}),
        tokens: hsm.status().map(({ keyTypes, signatureVariants, mechanisms, latencies, ...token }) => ({
          ...token,
          latencies: Object.fromEntries(
            Object.entries(latencies).map(([name, { count, p50, p99 }]) => [name, { count, p50, p99, unit: 'microseconds' as const }]),
          ),
          keyTypes: [...keyTypes],
          signatureVariants: [...signatureVariants],
          mechanisms: [...mechanisms],
          wrappingKey: rotation.state(token.group?.name ?? token.name),
          ownPin: pins.keeps(token.name),
        })),
      }),
    }),
    testEndpoint(hsm),
    changePinEndpoint(hsm, pins),
    defineEndpoint({
      method: 'POST',
      path: '/v1/state/system/rotate-wrapping-key',
      act: 'none',
      access: 'token',
      operation: 'execute',
      tag: tags.system,
      summary: 'Rotate the key that wraps all others',
      named: 'RotateWrappingKey',
      description:
        'New keys are wrapped under the new one at once. Every stored key is rewrapped in the background, inside the token; the old wrapping key is destroyed when nothing needs it. Progress is in the answer of `GET /v1/state/system/hsm`.',
      audit: 'required',
      input: z.object({ token: tokenField() }),
      auditFields: ['token'],
      commandLine: {
        ends: 'destroys the present wrapping key once every key is rewrapped; with an HSM of your own, older backups then need its own backup',
      },
      errors: ['not-found', 'missing-field', 'conflict', 'operation-refused', 'cluster-unavailable', 'hsm-unavailable'],
      output: wrappingState,
      reservedFor: 'system-root',
      run: (_call, { token }) => rotation.begin(chosenHolder(hsm, token)),
    }),
  ];
}

function startOf(origin: PinOrigin | undefined): z.output<typeof startState> | undefined {
  return origin && { ...origin, pins: [...origin.pins], pinFiles: [...origin.pinFiles] };
}

const ownObject = z.object({
  label: z.string().meta({ description: 'Label of the object.', example: 'keystored-wrapping-key' }),
  kind: z.enum(['secret', 'private']).meta({ typeName: 'HsmObjectKind' }).describe('Its class in PKCS#11.'),
  sensitive: z.boolean().describe('`true` if its value is never shown in clear.'),
  extractable: z.boolean().describe('`true` if it can leave the token wrapped.'),
  modifiable: z.boolean().describe('`true` if its attributes can be changed.'),
  uses: z.array(z.string()).describe('What the token allows it.'),
  needless: z.array(z.string()).describe('Those of them that its job does not need: of an earlier version, or changed since.'),
});

const trial = z.object({
  name: z.string().meta({ description: 'Name of the token in the configuration.', example: 'default' }),
  works: z.boolean().describe('`true` if it drew random octets, and encrypted and decrypted with a key of its own.'),
  milliseconds: z.number().meta({ description: 'How long that took.', example: 1.4 }),
  problem: z.string().optional().meta({ description: 'What went wrong.', example: 'the token does not answer' }),
  objects: z
    .array(ownObject.meta({ typeName: 'HsmObject' }))
    .describe(`The first ${mostObjects} persistent objects of this service, as they are in the token now.`),
});

function changePinEndpoint(hsm: Hsm, pins: OwnPins): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: '/v1/state/system/change-pin',
    act: 'change-trust',
    access: 'token',
    operation: 'execute',
    tag: tags.system,
    summary: 'Replace the user PIN of a token by a new random one',
    named: 'ChangePin',
    description:
      'For a token whose PIN the appliance chose itself and keeps in its own file, as that of the embedded token: nobody sees the new one. Processes that run stay logged in.',
    audit: 'required',
    input: z.object({ token: tokenField() }),
    auditFields: ['token'],
    errors: ['not-found', 'missing-field', 'operation-refused', 'hsm-unavailable'],
    reservedFor: 'system-root',
    async run(_call, { token }) {
      await pins.change(chosenToken(hsm, token));
      return undefined;
    },
  });
}

function tokenField() {
  return naming(z.string().max(64), {
    resource: 'tokens of the configuration',
    needs: [],
    because: 'They are the appliance itself, of which only the policy "root" in the tenant "system" disposes.',
  })
    .optional()
    .meta({ description: 'Name of the token in the configuration; needed where there are several.', example: 'default' });
}

function testEndpoint(hsm: Hsm): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    idempotent: true,
    path: '/v1/state/system/test-hsm',
    act: 'none',
    access: 'token',
    operation: 'execute',
    tag: tags.system,
    summary: 'Test every token, and look at its objects',
    named: 'TestHsm',
    description:
      'A quick test of what the service needs always; `keystorectl hsm test` tries every operation. The attributes are read from the token, not from the store.',
    audit: 'required',
    output: z.object({ tokens: z.array(trial.meta({ typeName: 'HsmTrial' })).describe('What came of it, for each token.') }),
    reservedFor: 'system-tenant',
    run: async () => ({ tokens: await Promise.all(hsm.status().map(({ name }) => tryToken(hsm, name))) }),
  });
}

async function tryToken(hsm: Hsm, name: string): Promise<z.output<typeof trial>> {
  const startedMs = performance.now();
  const problem = await hsm.selfTest(name).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  const milliseconds = Math.round((performance.now() - startedMs) * 10) / 10;
  if (problem !== undefined) return { name, works: false, milliseconds, problem, objects: [] };
  const objects = await hsm.ownObjects(name, mostObjects);
  return { name, works: true, milliseconds, objects: objects.map(shownObject) };
}

/** A token by itself, or a group: an owner of wrapping keys. */
function chosenHolder(hsm: Hsm, name: string | undefined): string {
  return chosenOf([...new Set(hsm.status().map((token) => token.group?.name ?? token.name))], name);
}

function chosenToken(hsm: Hsm, name: string | undefined): string {
  return chosenOf(
    hsm.status().map((token) => token.name),
    name,
  );
}

function chosenOf(names: readonly string[], name: string | undefined): string {
  if (name === undefined && names.length > 1) throw fail('missing-field', { detail: `"token" must name one of ${names.join(', ')}.` });
  const found = name ?? names[0];
  if (found === undefined || !names.includes(found)) throw fail('not-found', { detail: `The tokens are ${names.join(', ')}.` });
  return found;
}

function shownObject({ label, kind, isSensitive, isExtractable, isModifiable, uses, needless }: OwnObject): z.output<typeof ownObject> {
  return {
    label,
    kind,
    sensitive: isSensitive,
    extractable: isExtractable,
    modifiable: isModifiable,
    uses: [...uses],
    needless: [...needless],
  };
}
