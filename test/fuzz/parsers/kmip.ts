// Parsers of KMIP: messages with their batches, attributes of both kinds, and objects.
import {
  readAttribute,
  readAttributes,
  readGiven,
  readNames,
  readSearched,
  readTemplate,
  writeAttributes,
} from '../../../plugins/kmip/messages/attributes.ts';
import { KmipFailure } from '../../../plugins/kmip/messages/failure.ts';
import type { Fields } from '../../../plugins/kmip/messages/fields.ts';
import { readFormat, readObject, readObjectType, readWrapping } from '../../../plugins/kmip/messages/managed-object.ts';
import { readRequest } from '../../../plugins/kmip/messages/request.ts';
import { responseItem, writeResponse } from '../../../plugins/kmip/messages/response.ts';
import type { Version } from '../../../plugins/kmip/messages/versions.ts';
import { readItem } from '../../../plugins/kmip/ttlv/read.ts';
import { writeItem } from '../../../plugins/kmip/ttlv/write.ts';
import { enumerated, enumeration, integer, type Item, octets, structure, text } from '../../../plugins/kmip/ttlv/item.ts';
import { itemOf } from '../../harness/kmip/case-items.ts';
import { kmipCases } from '../../vectors/kmip.ts';
import type { Parser } from './parser.ts';

/** One message of each kind: the first request of the cases with these operations. */
function requests(): readonly Buffer[] {
  const seen = new Map<string, Buffer>();
  for (const { messages } of kmipCases())
    for (const message of messages) {
      if (message[0] !== 'RequestMessage') continue;
      const operations =
        JSON.stringify(message)
          .match(/\["Operation","Enumeration","\w+"\]/g)
          ?.join() ?? '';
      if (!seen.has(operations)) seen.set(operations, writeItem(itemOf(message, new Map(), 1_700_000_000)));
    }
  return [...seen.values()];
}

/** A request of 2.0 with typed attributes, those of a vendor, and references. */
function typedRequest(): Buffer {
  const item = structure(
    'RequestMessage',
    structure(
      'RequestHeader',
      structure('ProtocolVersion', integer('ProtocolVersionMajor', 2), integer('ProtocolVersionMinor', 0)),
      integer('MaximumResponseSize', 65_536),
      structure(
        'Authentication',
        structure(
          'Credential',
          enumeration('CredentialType', 'UsernameAndPassword'),
          structure('CredentialValue', text('Username', ''), text('Password', '')),
        ),
      ),
      integer('BatchCount', 2),
    ),
    structure(
      'BatchItem',
      enumeration('Operation', 'Register'),
      octets('UniqueBatchItemID', Buffer.of(1)),
      structure(
        'RequestPayload',
        enumeration('ObjectType', 'SymmetricKey'),
        structure(
          'Attributes',
          integer('CryptographicUsageMask', 12),
          structure('Name', text('NameValue', 'key'), enumeration('NameType', 'UninterpretedTextString')),
          structure('Attribute', text('VendorIdentification', 'x'), text('AttributeName', 'ID'), integer('AttributeValue', 1)),
        ),
        structure(
          'SymmetricKey',
          structure(
            'KeyBlock',
            enumeration('KeyFormatType', 'TransparentSymmetricKey'),
            structure('KeyValue', structure('KeyMaterial', octets('Key', Buffer.alloc(32)))),
            enumeration('CryptographicAlgorithm', 'AES'),
            integer('CryptographicLength', 256),
          ),
        ),
      ),
    ),
    structure(
      'BatchItem',
      enumeration('Operation', 'GetAttributes'),
      octets('UniqueBatchItemID', Buffer.of(2)),
      structure(
        'RequestPayload',
        enumerated('AttributeReference', 0x42_00_8d),
        structure('AttributeReference', text('VendorIdentification', 'x'), text('AttributeName', 'ID')),
      ),
    ),
  );
  return writeItem(item);
}

/** Changes that keep a message well-formed: three octets each choose an item, what is changed of it, and how. */
function changed(message: Item, changes: Buffer): Item {
  let result = message;
  for (let at = 0; at + 2 < changes.length; at += 3) {
    const [place = 0, what = 0, how = 0] = changes.subarray(at, at + 3);
    let left = place;
    const change = (item: Item): Item => {
      if (left-- === 0) return changedItem(item, what % 5, how);
      return item.type === 'structure' ? { ...item, value: item.value.map(change) } : item;
    };
    result = change(result);
  }
  return result;
}

function changedItem(item: Item, what: number, how: number): Item {
  if (what === 0) return { ...item, tag: 0x42_00_00 + how };
  if (what === 1) return { tag: item.tag, type: 'integer', value: how - 128 };
  if (what === 2) return { tag: item.tag, type: 'text', value: String.fromCodePoint(how).repeat(how) };
  if (item.type === 'structure')
    return { ...item, value: what === 3 ? item.value.slice(how % 4) : [...item.value, ...item.value.slice(0, 8)] };
  if (item.type === 'octets') return { ...item, value: item.value.subarray(how % 8) };
  if (item.type === 'enumeration') return { ...item, value: how };
  return { tag: item.tag, type: 'octets', value: Buffer.alloc(how) };
}

export function kmipParsers(): readonly Parser[] {
  const messages = [...requests(), typedRequest()].map((message) => readItem(message));
  return [
    {
      ...{ name: 'KMIP fields', samples: messages.map((_message, number) => Buffer.of(number, 255, 0, 0)), words: [] },
      read([number = 0, ...changes]) {
        const message = messages[number % messages.length];
        return message === undefined ? undefined : readMessage(writeItem(changed(message, Buffer.from(changes.slice(0, 90)))));
      },
    },
    {
      ...{
        name: 'KMIP message',
        samples: [...requests(), typedRequest()],
        words: ['x-ID', 'Cryptographic Usage Mask', 'Digest'],
        share: 5,
      },
      read: readMessage,
    },
  ];
}

function readMessage(input: Uint8Array): Buffer {
  const { header, items } = readRequest(readItem(input));
  const read = items.map((item) => ({ item, found: readPayload(item.payload, header.version) }));
  return writeResponse(
    { ...header, now: Temporal.Instant.fromEpochMilliseconds(0) },
    read.map(({ item, found }) => writeItem(responseItem(item, { status: 'Success', payload: found }))),
  );
}

/** Reads whatever a payload may have, each reader by itself: which operation it is of is not looked at. */
function readPayload(payload: Fields, version: Version): ReturnType<typeof writeAttributes> {
  const readers: readonly (() => unknown)[] = [
    () => readObject(payload, readObjectType(payload, version)),
    () => readGiven(payload, version, ['CommonTemplateAttribute', 'CommonAttributes']),
    () => readTemplate(payload),
    () => readWrapping(payload),
    () => readFormat(payload),
    () => readNames(payload, version),
    () => readSearched(payload, version),
    () => readAttribute(payload, version, 'NewAttribute'),
    () => readAttribute(payload, version, 'CurrentAttribute'),
  ];
  for (const read of readers) {
    try {
      read();
    } catch (error) {
      if (!(error instanceof KmipFailure)) throw error;
    }
  }
  return writeAttributes(readAttributes(payload, version), version);
}
