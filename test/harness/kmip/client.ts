// A client of KMIP: messages over TLS with a client certificate, and short ways to make them.
import { once } from 'node:events';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { Fields } from '../../../plugins/kmip/messages/fields.ts';
import { enumerationNameOf, enumerations, type EnumerationWord } from '../../../plugins/kmip/ttlv/enumerations.ts';
import { enumerated, enumeration, integer, type Item, octets, structure, text } from '../../../plugins/kmip/ttlv/item.ts';
import { headerOctets, lengthOf, readItem } from '../../../plugins/kmip/ttlv/read.ts';
import { writeItem } from '../../../plugins/kmip/ttlv/write.ts';

export type Operation = EnumerationWord<'Operation'>;
/** An operation with the items of its payload. */
export type Asked = readonly [operation: Operation, ...payload: readonly Item[]];

/** An item of an answer. */
export type Answer = {
  readonly operation: Operation | undefined;
  readonly status: EnumerationWord<'ResultStatus'>;
  readonly reason: EnumerationWord<'ResultReason'> | number | undefined;
  readonly message: string | undefined;
  readonly payload: Fields;
};

export class KmipClient {
  readonly socket: TLSSocket;
  /** of the messages that it sends */
  version: string;
  #received: Buffer = Buffer.alloc(0);
  #more: () => void = () => undefined;

  constructor(socket: TLSSocket, version: string) {
    this.socket = socket;
    this.version = version;
    socket.on('data', (piece: Buffer) => {
      this.#received = Buffer.concat([this.#received, piece]);
      this.#more();
    });
    socket.on('error', () => this.#more());
    socket.on('close', () => this.#more());
  }

  /** Sends operations as a batch, and reads the answers. */
  async ask(asked: readonly Asked[], header: readonly Item[] = []): Promise<readonly Answer[]> {
    return answersIn(await this.exchange(this.message(asked, header)));
  }

  /** As ask, of one operation that is done: returns its payload. Throws otherwise. */
  async done(...asked: Asked): Promise<Fields> {
    const [answer] = await this.ask([asked]);
    if (answer?.status !== 'Success') throw new Error(`${asked[0]} is refused: ${String(answer?.reason)}, ${answer?.message}`);
    return answer.payload;
  }

  /** As ask, of one operation that is refused: returns the reason. */
  async refused(...asked: Asked): Promise<Answer['reason']> {
    const [answer] = await this.ask([asked]);
    return answer?.reason;
  }

  /** Makes the message of a batch. */
  message(asked: readonly Asked[], header: readonly Item[] = []): Item {
    const [major = 1, minor = 0] = this.version.split('.').map(Number);
    return structure(
      'RequestMessage',
      structure(
        'RequestHeader',
        structure('ProtocolVersion', integer('ProtocolVersionMajor', major), integer('ProtocolVersionMinor', minor)),
        ...header,
        integer('BatchCount', asked.length),
      ),
      ...asked.map(([operation, ...payload], place) =>
        structure(
          'BatchItem',
          enumeration('Operation', operation),
          asked.length > 1 ? octets('UniqueBatchItemID', Buffer.of(place)) : undefined,
          structure('RequestPayload', ...payload),
        ),
      ),
    );
  }

  async exchange(message: Item): Promise<Item> {
    return readItem(await this.exchangeOctets(writeItem(message)));
  }

  /** Sends octets, and reads one message. Throws when the connection ends before. */
  async exchangeOctets(message: Uint8Array): Promise<Buffer> {
    this.socket.write(message);
    return this.receive();
  }

  async receive(): Promise<Buffer> {
    for (;;) {
      const length = this.#received.length < headerOctets ? undefined : lengthOf(this.#received);
      if (length !== undefined && this.#received.length >= length) {
        const message = this.#received.subarray(0, length);
        this.#received = this.#received.subarray(length);
        return message;
      }
      if (this.socket.destroyed) throw new Error('the connection ended without an answer');
      await new Promise<void>((resolve) => (this.#more = resolve));
    }
  }

  close(): void {
    this.socket.destroy();
  }
}

/** Connects with a certificate. */
export async function connectKmip(options: ConnectionOptions & { readonly version?: string }): Promise<KmipClient> {
  const socket = connect({ host: '127.0.0.1', servername: 'localhost', ...options });
  await once(socket, 'secureConnect');
  return new KmipClient(socket, options.version ?? '1.4');
}

/** The items of an answer. */
export function answersIn(message: Item): readonly Answer[] {
  if (message.type !== 'structure') throw new Error('the answer is no structure');
  return new Fields(message.value).values('BatchItem', 'structure').map((items) => {
    const fields = new Fields(items);
    const reason = fields.value('ResultReason', 'enumeration');
    return {
      operation: fields.word('Operation'),
      status: fields.requiredWord('ResultStatus'),
      reason: reason === undefined ? undefined : (enumerationNameOf('ResultReason', reason) ?? reason),
      message: fields.value('ResultMessage', 'text'),
      payload: fields.structure('ResponsePayload') ?? new Fields([]),
    };
  });
}

/** Attribute of 1.x. */
export function attribute(name: string, value: (tag: 'AttributeValue') => Item, index?: number): Item {
  return structure(
    'Attribute',
    text('AttributeName', name),
    index === undefined ? undefined : integer('AttributeIndex', index),
    value('AttributeValue'),
  );
}

/** The attributes of an AES key of 256 bits for encryption, with a name if there is one. */
export function keyAttributes(name?: string, ...more: readonly Item[]): Item {
  return structure(
    'TemplateAttribute',
    attribute('Cryptographic Algorithm', (tag) => enumerated(tag, enumerations.CryptographicAlgorithm.AES)),
    attribute('Cryptographic Length', (tag) => integer(tag, 256)),
    attribute('Cryptographic Usage Mask', (tag) => integer(tag, 12)),
    name === undefined ? undefined : nameAttribute(name),
    ...more,
  );
}

export function nameAttribute(name: string): Item {
  return attribute('Name', (tag) => structure(tag, text('NameValue', name), enumeration('NameType', 'UninterpretedTextString')));
}

export function uid(id: string): Item {
  return text('UniqueIdentifier', id);
}
