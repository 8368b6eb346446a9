// Parts shared by all key actions: path, key lookup, audit, and the endpoints for one request and for a batch.
import { z } from 'zod';
import { defined } from '../../../core/base/defined.ts';
import { fail as coreFail, ServiceError } from '../../../core/base/errors.ts';
import { toKebab } from '../../../core/wire/schema.ts';
import { type AnyEndpoint, type EndpointCall, type FieldRight, Reply, defineEndpoint, type Endpoint } from '../../../core/http/endpoint.ts';
import { base64Field, integer } from '../../../core/wire/fields.ts';
import { isJsonObject, type JsonObject } from '../../../core/wire/json.ts';
import { cipherOf } from '../ciphers.ts';
import type { Key } from '../records/keyring.ts';
import type { Transit } from '../context.ts';
import { maxVersion } from '../formats/value-format.ts';
import { pascal } from '../../../core/http/description/named-schemas.ts';
import { exampleOf, wireSchema } from '../../../core/http/description/schema.ts';
import { maxContextBytes } from '../versions/derivation.ts';
import { defaultsOf, type OwnDefaults } from '../formats/signatures.ts';
import { keyActionsTag } from '../tags.ts';
import { batchRunner } from '../uses/batch.ts';
import { hashOfCurve } from '../formats/hash-of-curve.ts';
import { type Plan, explained, runPlan } from '../uses/token-use.ts';
import { UsedKey } from '../uses/used-key.ts';

const maxBatchItems = 1_000;
/** Longest text that a body of 4 MiB can contain. */
const maxPayloadCharacters = 4 * 1024 * 1024;

/** Field `key-version` of a request. */
export const keyVersionField = integer(1, maxVersion).optional().describe('Version to use; default: the version in use.');
/** Field `base64-encoded` of a request. */
export const base64EncodedField = z.boolean().optional().meta({ description: 'false: the text is raw UTF-8.', 'x-default': true });
/** A field with the payload of a request or an answer: base64, or text with `base64-encoded: false`. */
export function payloadField(description: string) {
  return z.string().meta({
    description: `${description}: base64, or raw UTF-8 with base64-encoded false.`,
    'x-payload': true,
    maxLength: maxPayloadCharacters,
  });
}
/** A field with a value in the service's format: `store:v<N>:<base64>`. */
export function valueField(description: string, prefix = 'store:v1:') {
  return z
    .string()
    .meta({ description, example: `${prefix}MZQ5VLMBYpNuLKB+CduuX7O0CHrvSAix2i3KlM2CIvgr`, maxLength: maxPayloadCharacters });
}
/** Context of a request in its two spellings, of which it has one. */
export const contextFields = {
  context: z.string().optional().meta({
    description: 'Required for derived keys: the same text again to decrypt.',
    example: 'customer 4711',
    maxLength: maxContextBytes,
  }),
  contextBase64: base64Field({ minBytes: 1, maxBytes: maxContextBytes }).optional().meta({
    description: 'In place of context: its octets, which need not be text. A text and the octets of its UTF-8 are one context.',
    'x-octets-of': 'context',
  }),
} as const;
/** Field `associated-data` of a request. */
export const associatedDataField = base64Field()
  .optional()
  .describe('Authenticated with the ciphertext, not part of it: the same again to decrypt.');
/** Field `key-version` of an answer. */
export const keyVersionOutput = z.int().describe('Version of the key that was used.');

type Common = 'method' | 'path' | 'tag' | 'access' | 'operation' | 'find' | 'run';

/** An action on one key. The platform has checked token and policy; the key is looked up before the body is validated. */
export function defineKeyAction<Input, Output>(
  transit: Transit,
  action: string,
  spec: Omit<Endpoint<Input, Output, Key>, Common> & {
    run(call: EndpointCall, input: Input, key: Key): Output | Reply | Promise<Output | Reply>;
  },
): AnyEndpoint {
  return defineEndpoint<Input, Output, Key>({
    method: 'POST',
    path: `/v1/state/keystore/transit-keys/{name}/${action}`,
    tag: keyActionsTag,
    named: pascal(action),
    access: 'token',
    operation: 'execute',
    find: (call) => transit.keyring.require(call),
    approvedTarget: withoutExports,
    ...spec,
    run: async (call, input, key) => {
      try {
        return await spec.run(call, input, key);
      } catch (error) {
        throw explained(transit, key, error);
      }
    },
  });
}

/** Another export changes nothing of a key. */
function withoutExports({ record: { history, ...record }, ...key }: Key): unknown {
  const { exportCount: _count, exports: _exports, ...kept } = history ?? {};
  return { ...key, record, history: kept };
}

type AnswerFields = { readonly keyVersion: typeof keyVersionOutput } & z.ZodRawShape;

/** An action that takes one request or a batch of them. */
export type BatchActionSpec<Fields extends z.ZodRawShape, Answer extends AnswerFields> = {
  readonly action: string;
  readonly summary: string;
  readonly description: string;
  /** fields of one request; all but `subject` optional and without defaults, so that fields beside `batch-input` can be refused */
  readonly fields: Fields;
  /** the one required field */
  readonly subject: keyof Fields & string;
  /** absent if the required field alone is a request; wire form */
  readonly exampleInput?: Readonly<Record<string, unknown>>;
  readonly secretInput: readonly (keyof Fields & string)[];
  readonly answer: z.ZodObject<Answer>;
  readonly secretOutput: readonly (keyof Answer & string)[];
  readonly auditFields?: readonly (keyof Fields & string)[];
  readonly errors: readonly string[];
  readonly fieldRights?: readonly FieldRight[];
  readonly commandLine: { readonly output?: keyof Answer & string; readonly verdict?: keyof Answer & string };
  /** for signatures, whose absent options may mean something else for some versions: returns the version that a request names */
  readonly versionOf?: (sent: { readonly keyVersion?: unknown; readonly signature?: unknown }) => unknown;
  /** as BatchOf.plan */
  readonly plan: (
    used: UsedKey,
    item: z.output<z.ZodObject<Fields>>,
    noteSigned: (digest: string) => void,
  ) => Plan<z.output<z.ZodObject<Answer>> & { keyVersion: number }>;
};

type SingleInput = { batchInput?: readonly JsonObject[] | undefined } & Record<string, unknown>;

/** Items are read one by one, so that a wrong one fails alone; here they are taken as they are, which makes no copies. */
const rawItems = z.array(z.custom<JsonObject>(isJsonObject, 'must be an object')).min(1).max(maxBatchItems);

/**
 * Makes the endpoints of an action: for one request, and for a batch. Policies judge the batch as the action itself. The single endpoint
 * takes `batch-input` too, as it always did; there it is not described, because the two bodies and answers have no common type.
 */
export function defineBatchAction<Fields extends z.ZodRawShape, Answer extends AnswerFields>(
  transit: Transit,
  spec: BatchActionSpec<Fields, Answer>,
): AnyEndpoint[] {
  const { action, summary, subject } = spec;
  const single = z.object(spec.fields);
  const described = describedBatch(spec);
  const item = described.item as unknown as typeof single;
  const auditFields = (spec.auditFields ?? []).map(toKebab);
  const run = batchRunner(transit, { item, result: described.result, plan: spec.plan, auditFields });
  const shared = {
    audit: 'required',
    act: 'none',
    idempotent: true,
    whileIsolated: true,
    errors: spec.errors,
    ...defined({ fieldRights: spec.fieldRights }),
  } as const;
  const complete = withOwnDefaults(transit, spec.versionOf);
  return [
    defineKeyAction<SingleInput, object>(transit, action, {
      ...shared,
      ...defined({ complete }),
      summary,
      description: spec.description,
      input: z.object({ ...spec.fields, [subject]: (spec.fields[subject] as z.ZodType).optional(), batchInput: rawItems.optional() }),
      output: described.answer.partial().extend(spec.answer.partial().shape),
      documented: { input: single, output: spec.answer, ...defined({ exampleInput: spec.exampleInput }) },
      secretInput: [...spec.secretInput, 'batchInput'],
      secretOutput: [...spec.secretOutput, 'batchResults'] as never[],
      ...defined({ auditFields: spec.auditFields }),
      commandLine: { input: subject, ...spec.commandLine },
      run: async (call, input, key) => {
        const { batchInput } = input;
        if (batchInput === undefined) {
          if (input[subject] === undefined) throw missing(subject);
          const used = new UsedKey(transit, key, call);
          const noteSigned = (signedDigest: string): void => call.noteAudit({ signedDigest });
          const answer = await runPlan(used, spec.plan(used, input as z.output<typeof single>, noteSigned));
          call.noteAudit({ keyVersion: answer.keyVersion });
          return answer;
        }
        if (Object.entries(input).some(([name, value]) => name !== 'batchInput' && value !== undefined)) throw besideBatch();
        const { answer, failed } = await run(call, batchInput, key);
        // Here alone: an answer with two forms under one status has no type in clients.
        return new Reply(failed === batchInput.length ? 400 : 200, answer);
      },
    }),
    defineKeyAction<{ batchInput: readonly JsonObject[] }, object>(transit, `${action}-batch`, {
      ...shared,
      ...defined({ complete }),
      judgedAs: { action },
      summary: `${summary}: a batch`,
      description:
        `The same for 1 to 1,000 requests, each answered on its own, in order; a failed one has \`code\`. Policies that speak of ` +
        `\`${action}\` decide about batches too. The status is 200 even when every request failed: \`failed\` says how many.`,
      input: z.object({ batchInput: rawItems }),
      output: described.answer,
      documented: {
        input: z.object({ batchInput: z.array(described.item).min(1).max(maxBatchItems).describe('The requests.') }),
        exampleInput: { 'batch-input': [{ ...described.example, reference: 'row 17' }] },
      },
      secretInput: ['batchInput'],
      secretOutput: ['batchResults'] as never[],
      run: async (call, { batchInput }, key) => (await run(call, batchInput, key)).answer,
    }),
  ];
}

type Batch = { batchInput?: readonly JsonObject[] | undefined; keyVersion?: unknown; signature?: unknown; format?: unknown };

/** A request with the defaults that its version has for absent fields, for policies. */
export function withDefaultsOf<Input extends { readonly keyVersion?: unknown }>(transit: Transit) {
  return (call: EndpointCall, input: Input, key: Key): Input => {
    return { ...input, ...absentOf(input, ownDefaults(new UsedKey(transit, key, call), input)) };
  };
}

/** Completes a request of signatures with the defaults for absent fields, for policies. Undefined for other actions. */
function withOwnDefaults(transit: Transit, versionOf: BatchActionSpec<z.ZodRawShape, AnswerFields>['versionOf']) {
  if (versionOf === undefined) return undefined;
  return <Input extends Batch>(call: EndpointCall, input: Input, key: Key): Input => {
    const used = new UsedKey(transit, key, call);
    const { batchInput } = input;
    if (batchInput === undefined) return { ...input, ...absentOf(input, ownDefaults(used, { ...input, keyVersion: versionOf(input) })) };
    const completed = (one: JsonObject): JsonObject => {
      const { signatureAlgorithm, hashAlgorithm } = ownDefaults(used, {
        ...one,
        keyVersion: versionOf({ ...one, keyVersion: one['key-version'] }),
      });
      return { ...one, ...absentOf(one, { 'signature-algorithm': signatureAlgorithm, 'hash-algorithm': hashAlgorithm }) };
    };
    return { ...input, batchInput: batchInput.map(completed) };
  };
}

function absentOf(given: object, defaults: object): object {
  return Object.fromEntries(
    Object.entries(defaults).filter(([name, value]) => value !== undefined && (given as JsonObject)[name] === undefined),
  );
}

/** A version that is not there is refused later. */
function ownDefaults(
  used: UsedKey,
  { keyVersion: version, format }: { readonly keyVersion?: unknown; readonly format?: unknown },
): OwnDefaults {
  if (version !== undefined && !Number.isSafeInteger(version)) return {};
  try {
    const cipher = cipherOf(used.key.record);
    const ofFormat = format === 'jws' && cipher.kind === 'signing' ? defined({ hashAlgorithm: hashOfCurve(cipher) }) : {};
    return { ...ofFormat, ...defaultsOf(used.publicKeyOf(version as number | undefined)) };
  } catch (error) {
    if (error instanceof ServiceError) return {};
    throw error;
  }
}

/** The schemas of a batch: an item, a result, and the answer. */
function describedBatch<Fields extends z.ZodRawShape, Answer extends AnswerFields>(spec: BatchActionSpec<Fields, Answer>) {
  const name = pascal(spec.action);
  const reference = z.string().meta({ description: 'Echoed from the request.', example: 'row 17' });
  const item = z.object({ ...spec.fields, reference: reference.max(256).optional() }).meta({ typeName: `${name}BatchItem` });
  const result = z
    .object({
      ...spec.answer.partial().shape,
      // Whatever was sent: the item may have failed because its reference is too long.
      reference: reference.optional(),
      status: z.int().optional().meta({ description: 'Of a request that failed: the HTTP status it would have had.', example: 400 }),
      code: z.string().optional().meta({ description: 'Of a request that failed: the error code.', example: 'decryption-failed' }),
      errorMessage: z.string().optional().meta({ description: 'Of a request that failed: why.', example: 'The ciphertext does not open.' }),
    })
    .meta({ typeName: `${name}BatchResult` });
  const answer = z.object({
    batchResults: z.array(result).describe('One result for each request, in order.'),
    failed: z.int().min(0).describe('How many failed.'),
  });
  const example = spec.exampleInput ?? (exampleOf(wireSchema(z.object(spec.fields), 'input')) as Readonly<Record<string, unknown>>);
  return { item, result, answer, example };
}

function missing(subject: string): Error {
  return coreFail('missing-field', {
    detail: `"${subject}" or batch-input is required.`,
    items: [{ message: 'is required', info: subject }],
  });
}

function besideBatch(): Error {
  return coreFail('invalid-value', {
    detail: 'With batch-input, every other field belongs in its items.',
    items: [{ message: 'must be the only field', info: 'batch-input' }],
  });
}
