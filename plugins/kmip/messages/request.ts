// Reads a request message (KMIP 1.4 section 7.2, 2.0 section 8): header and items, before anything is done.
import { enumerationNameOf, type EnumerationWord } from '../ttlv/enumerations.ts';
import type { Structure } from '../ttlv/item.ts';
import { KmipMalformed } from '../ttlv/malformed.ts';
import { tags } from '../ttlv/tags.ts';
import { KmipFailure } from './failure.ts';
import { Fields, hex } from './fields.ts';
import { isSpoken, readVersion, type Version, versions, versionText } from './versions.ts';

/** Most items of a batch: each is a request of its own, which is judged and recorded. */
const mostBatchItems = 128;

export type RequestHeader = {
  readonly version: Version;
  readonly maximumResponseSize: number | undefined;
  readonly onError: EnumerationWord<'BatchErrorContinuationOption'>;
  readonly clientCorrelation: string | undefined;
  readonly password: { readonly username: string; readonly password: string } | undefined;
  /** the client takes no answer but an asynchronous one (2.0) */
  readonly onlyAsynchronous: boolean;
};

export type RequestItem = {
  readonly operation: EnumerationWord<'Operation'> | undefined;
  readonly operationNumber: number;
  readonly id: Uint8Array | undefined;
  readonly payload: Fields;
  /** it has an extension that is not known, and may not be passed over */
  readonly hasCriticalExtension: boolean;
};

export type Request = { readonly header: RequestHeader; readonly items: readonly RequestItem[] };

/** A message that is refused as a whole: `version` and `operation` as far as they could be read. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused';
  readonly version: Version | undefined;
  readonly failure: KmipFailure;

  constructor(version: Version | undefined, failure: KmipFailure) {
    super(failure.message);
    this.version = version;
    this.failure = failure;
  }
}

/** Reads it. Throws RequestRefused, and KmipMalformed for what is not a message of KMIP at all. */
export function readRequest(message: Structure): Request {
  if (message.tag !== tags.RequestMessage) throw new KmipMalformed('is not a Request Message');
  let version: Version | undefined;
  try {
    const fields = new Fields(message.value);
    const header = fields.requiredStructure('RequestHeader');
    version = readVersion(header.required('ProtocolVersion', 'structure'));
    if (!isSpoken(version)) {
      const spoken = versions.map(versionText).join(', ');
      const asked = versionText(version);
      version = undefined;
      throw new KmipFailure('InvalidMessage', `The protocol version ${asked} is not spoken here: use one of ${spoken}.`);
    }
    return { header: readHeader(header, version), items: readItems(header, fields) };
  } catch (error) {
    if (error instanceof KmipFailure) throw new RequestRefused(version, error);
    throw error;
  }
}

function readHeader(header: Fields, version: Version): RequestHeader {
  const asynchronous = header.item('AsynchronousIndicator');
  return {
    version,
    maximumResponseSize: header.value('MaximumResponseSize', 'integer'),
    onError: header.word('BatchErrorContinuationOption') ?? 'Stop',
    clientCorrelation: header.value('ClientCorrelationValue', 'text'),
    password: readPassword(header),
    onlyAsynchronous: asynchronous?.type === 'enumeration' && asynchronous.value === mandatory,
  };
}

/** Asynchronous Indicator of 2.0: Mandatory. */
const mandatory = 1;

/** Username and password, if there are any. Other credentials are not looked at: the certificate is the credential. */
function readPassword(header: Fields): RequestHeader['password'] {
  const authentication = header.structure('Authentication');
  for (const credential of authentication?.values('Credential', 'structure') ?? []) {
    const fields = new Fields(credential);
    if (fields.value('CredentialType', 'enumeration') !== usernameAndPassword) continue;
    const value = fields.structure('CredentialValue');
    return { username: value?.value('Username', 'text') ?? '', password: value?.value('Password', 'text') ?? '' };
  }
  return undefined;
}

const usernameAndPassword = 1;

function readItems(header: Fields, message: Fields): readonly RequestItem[] {
  const count = header.required('BatchCount', 'integer');
  const items = message.values('BatchItem', 'structure');
  if (items.length !== count || count < 1)
    throw new KmipFailure(
      'InvalidMessage',
      `Batch Count is ${count}, and the message has ${items.length} items: they must be as many, and one at least.`,
    );
  if (count > mostBatchItems)
    throw new KmipFailure('InvalidMessage', `The batch has more than ${mostBatchItems} items: send several messages.`);
  return items.map((item) => readBatchItem(new Fields(item)));
}

function readBatchItem(item: Fields): RequestItem {
  const operationNumber = item.required('Operation', 'enumeration');
  const extension = item.structure('MessageExtension');
  return {
    operation: enumerationNameOf('Operation', operationNumber),
    operationNumber,
    id: item.value('UniqueBatchItemID', 'octets'),
    payload: item.requiredStructure('RequestPayload'),
    hasCriticalExtension: extension?.value('CriticalityIndicator', 'boolean') === true,
  };
}

/** The name of an operation for messages. */
export function operationText({ operation, operationNumber }: RequestItem): string {
  return operation ?? hex(operationNumber);
}
