// The object service: each operation is a request of the API as the client, with its certificate, and its answer is read back.
import { hash, timingSafeEqual } from 'node:crypto';
import { decodeBase64, encodeBase64 } from '../../../core/base/bytes.ts';
import { defined } from '../../../core/base/defined.ts';
import { type ErrorTable, fail as coreFail, ServiceError } from '../../../core/base/errors.ts';
import { readDer } from '../../../core/base/texts/pem.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import type { JsonObject } from '../../../core/wire/json.ts';
import { recognise } from '../clients/recognise.ts';
import { clientFor, type KmipCallers, via } from '../clients/scheme.ts';
import type { Kmip } from '../context.ts';
import { fail, hidden } from '../errors.ts';
import type { Tie } from '../records/object-record.ts';
import type { Attribute, ObjectType } from '../records/object-values.ts';
import { noteLeft } from '../objects/read.ts';
import { attributeFromJson, attributeToJson } from '../objects/attribute-json.ts';
import type { GivenAttributes, KmipCall, ManagedObject, ObjectService } from '../objects/object-service.ts';

type Read = Readonly<Record<string, unknown>>;

/** `errors`: the rows of every code that a refusal of the API can have. `revocationReasons`: as the endpoint names them, from number 1 on. Long because each member of the interface is a row. */
export function objectRequests(kmip: Kmip, callers: KmipCallers, errors: ErrorTable, revocationReasons: readonly string[]): ObjectService {
  const request = async (
    { client, certificate, clientIp, userAgent }: KmipCall,
    path: string,
    document: JsonObject,
    signal?: AbortSignal,
  ): Promise<Read> => {
    const body = Buffer.from(JSON.stringify(document));
    const answer = await kmip.invoke({
      ...{ via, method: 'POST', clientIp, certificate, body },
      target: `/v1/state/keystore/${path}`,
      headers: { authorization: callers.authorizationOf(client), 'content-type': 'application/json', 'user-agent': userAgent },
      ...defined({ signal }),
    });
    const text = await textOf(answer.body);
    const read = (text === '' ? {} : JSON.parse(text)) as Read;
    if (answer.status >= 200 && answer.status < 300 && answer.status !== 202) return read;
    throw refusalOf(errors, answer.status, read);
  };
  const send = (call: KmipCall, path: string, document: JsonObject, signal?: AbortSignal): Promise<Read> =>
    request(call, `kmip-spaces/${encodeURIComponent(call.client.space)}/${path}`, document, signal);
  const atKey = (call: KmipCall, { transitKey }: SeenTie, action: string, document: JsonObject): Promise<Read> =>
    request(call, `transit-keys/${encodeURIComponent(transitKey)}/${action}`, document);
  /** Octets of a version of a transit key: leaving is its action `export`, which a policy allows there and its history has. */
  const exported = async (call: KmipCall, tie: SeenTie): Promise<string> => {
    const keys = shown(await atKey(call, tie, 'export', { version: tie.version, format: 'clear' }), 'keys');
    const material = (keys as Readonly<Record<string, string>>)[tie.version] ?? '';
    const [der] = readDer(material, 'PRIVATE KEY') ?? [];
    return der === undefined ? material : encodeBase64(der);
  };
  const onObject = (call: KmipCall, id: string, operation: string, document: JsonObject): Promise<Read> => {
    // Text of a client must not become a part of a path.
    if (!uuid.test(id)) throw coreFail('not-found', { detail: 'There is no such object in this space.' });
    return send(call, `objects/${id}/${operation}`, document);
  };
  const attributesIn = (read: Read): readonly Attribute[] => (shown(read, 'attributes') as readonly unknown[]).map(attributeFromJson);
  const read = async (call: KmipCall, id: string, names: readonly string[] | undefined) =>
    attributesIn(await onObject(call, id, 'attributes', names === undefined ? {} : { names: [...names] }));
  const idIn = (answer: Read): { readonly id: string } => ({ id: shown(answer, 'id') as string });
  return {
    clientOf(certificate) {
      kmip.store.refresh();
      const found = recognise(kmip, certificate);
      return found === undefined ? undefined : clientFor(found.tenantId, found.record);
    },
    async judgeCredentials({ tenantId, name, entryId }, given, clientIp) {
      const { username = '', password } = kmip.tables.clients.get([tenantId, name]) ?? {};
      if (password === undefined) return undefined;
      try {
        kmip.wrongPasswords.requireComparable(password, entryId, clientIp);
        if (isSame([username, password], [given?.username ?? '', given?.password ?? ''])) return undefined;
        await kmip.wrongPasswords.count(entryId, clientIp, 'wrong passwords');
        return 'kmip-credentials-wrong';
      } catch (error) {
        if (error instanceof ServiceError && error.code === 'rate-limited') return 'rate-limited';
        throw error;
      }
    },
    create: async (call, given) => idIn(await send(call, 'create', documentOf(given))),
    async createPair(call, { common, private: ofPrivate, public: ofPublic }) {
      const document = { common: documentOf(common), private: documentOf(ofPrivate), public: documentOf(ofPublic) };
      const answer = await send(call, 'create-key-pair', document);
      return { privateId: shown(answer, 'privateId') as string, publicId: shown(answer, 'publicId') as string };
    },
    registerTemplate: async (call, attributes) => idIn(await send(call, 'register-template', documentOf({ attributes }))),
    async register(call, objectType, { octets, keyFormat, subtype, wrapping }, given) {
      const document = { 'object-type': objectType, octets: encodeBase64(octets), ...documentOf(given) };
      const wrapped = wrapping === undefined ? {} : { wrapping: encodeBase64(wrapping.data), 'wrapping-is-whole': wrapping.isWhole };
      return idIn(await send(call, 'register', { ...document, ...wrapped, ...defined({ 'key-format': keyFormat, subtype }) }));
    },
    async get(call, { id, keyFormat, wrap }) {
      const answer = await onObject(call, id, 'get', defined({ 'wrapped-under': wrap?.keyId, 'key-format': keyFormat }));
      const tie = tieIn(answer);
      const found = objectIn(id, tie === undefined ? answer : { ...answer, octets: await exported(call, tie) });
      if (wrap === undefined) return found;
      const { material } = found;
      const wrapped = await onObject(call, wrap.keyId, 'wrap', { octets: encodeBase64(wrap.encode(found)) });
      return { ...found, material: { ...material, octets: octetsIn(wrapped) } };
    },
    attributeNames: async (call, id) => [...new Set((await read(call, id, undefined)).map(({ name }) => name))],
    attributes: (call, id, names) => read(call, id, names),
    addAttribute: async (call, id, attribute) =>
      attributeFromJson(shown(await onObject(call, id, 'add-attribute', { attribute: attributeToJson(attribute) }), 'attribute')),
    modifyAttribute: async (call, id, attribute) =>
      attributeFromJson(shown(await onObject(call, id, 'modify-attribute', { attribute: attributeToJson(attribute) }), 'attribute')),
    deleteAttribute: async (call, id, { name, index, all }) =>
      attributesIn(await onObject(call, id, 'delete-attribute', { name, ...defined({ index, all }) })),
    async locate(call, { attributes, maximumItems, offsetItems, storageStatusMask }) {
      const limits = defined({ 'maximum-items': maximumItems, 'offset-items': offsetItems, 'storage-status-mask': storageStatusMask });
      const answer = await send(call, 'locate', { attributes: attributes.map(attributeToJson), ...limits }, call.signal);
      const { located } = answer;
      return { ids: shown(answer, 'ids') as readonly string[], ...(typeof located === 'number' ? { located } : {}) };
    },
    activate: async (call, id) => void (await onObject(call, id, 'activate', {})),
    async revoke(call, id, { reason, message, compromiseOccurrence }) {
      const name = revocationReasons[reason - 1];
      if (name === undefined) throw fail('kmip-attribute-invalid', { detail: '"Revocation Reason Code" is unknown.' });
      const time =
        compromiseOccurrence === undefined
          ? undefined
          : formatTimestamp(Temporal.Instant.fromEpochMilliseconds(compromiseOccurrence * 1_000));
      await onObject(call, id, 'revoke', { reason: name, ...defined({ message, 'compromise-time': time }) });
    },
    destroy: async (call, id) => void (await onObject(call, id, 'destroy', {})),
    async reKey(call, { id, offsetSeconds, attributes }) {
      const document = { attributes: attributes.map(attributeToJson), ...defined({ 'offset-seconds': offsetSeconds }) };
      return idIn(await onObject(call, id, 're-key', document));
    },
    async check(call, { id, usageMask }) {
      const answer = await onObject(call, id, 'check', defined({ 'usage-mask': usageMask }));
      return typeof answer['usageMask'] === 'number' ? { usageMask: answer['usageMask'] } : {};
    },
    async useKey(call, using) {
      const { id, bit } = using;
      const tie = tieIn(await onObject(call, id, 'require-use', { bit }));
      if (tie === undefined) throw fail('kmip-not-tied');
      const { action, document } = using.request(tie);
      return atKey(call, tie, action, document);
    },
    async noteLeft({ client }, id) {
      const space = kmip.tables.spaces.get([client.tenantId, client.space]);
      if (space === undefined) throw coreFail('not-found');
      await noteLeft(kmip, { tenantId: client.tenantId, spaceName: client.space, space }, id, kmip.clock.now());
    },
  };
}

type SeenTie = Omit<Tie, 'keyId'>;

/** The tie in an answer of the endpoints of this plugin. */
function tieIn(answer: Read): SeenTie | undefined {
  const [transitKey, cipher, use] = ['transitKey', 'cipher', 'use'].map((name) => textIn(answer, name));
  if (transitKey === undefined || cipher === undefined || use === undefined) return undefined;
  return { transitKey, cipher, use: use as Tie['use'], version: Number(answer['version']) };
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

function documentOf({ attributes, templates = [] }: GivenAttributes): JsonObject {
  return { attributes: attributes.map(attributeToJson), ...(templates.length === 0 ? {} : { templates: [...templates] }) };
}

/** Compares texts without telling by its time where they differ. */
function isSame(expected: readonly string[], given: readonly string[]): boolean {
  const [one, other] = [expected, given].map((texts) => hash('sha256', JSON.stringify(texts), 'buffer')) as [Buffer, Buffer];
  return timingSafeEqual(one, other);
}

function objectIn(id: string, { objectType, keyFormat, subtype, algorithm, length, ...rest }: Read): ManagedObject {
  const numbers = (values: Readonly<Record<string, unknown>>) => defined(values) as Readonly<Record<string, number>>;
  const data = decodeBase64(textIn(rest, 'wrapping') ?? '');
  const wrapping = data === undefined || data.length === 0 ? {} : { wrapping: { data, isWhole: rest['wrappingIsWhole'] === true } };
  return {
    ...{ id, objectType: objectType as ObjectType },
    material: { octets: octetsIn(rest), ...numbers({ keyFormat, subtype }), ...wrapping },
    ...numbers({ algorithm, length }),
  };
}

function octetsIn(read: Read): Uint8Array {
  const octets = decodeBase64(shown(read, 'octets') as string);
  if (octets === undefined) throw new Error('an answer of the API without octets');
  return octets;
}

/** The refusal of the API as the error that it was. */
function refusalOf(errors: ErrorTable, status: number, problem: Read): ServiceError {
  const code = textIn(problem, 'code') ?? (status === 202 ? 'approval-needed' : 'internal-error');
  const row = errors[code] ?? { status, title: textIn(problem, 'title') ?? code, when: '', detail: '' };
  // Its detail names the record by its place in the store.
  const detail = code === 'record-unreadable' ? undefined : textIn(problem, 'detail');
  return new ServiceError(code, row, { detail: detail ?? row.detail });
}

/** A member that every answer of its kind has. Throws policy-denied where a policy hides it. */
function shown(answer: Read, name: string): unknown {
  const value = answer[name];
  if (value === undefined) throw hidden(name);
  return value;
}

function textIn(read: Read, name: string): string | undefined {
  const text = read[name];
  return typeof text === 'string' ? text : undefined;
}

async function textOf(body: unknown): Promise<string> {
  if (body === undefined) return '';
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array) return Buffer.from(body).toString('utf8');
  const pieces: (string | Uint8Array)[] = [];
  for await (const piece of body as AsyncIterable<string | Uint8Array>) pieces.push(piece);
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece))).toString('utf8');
}
