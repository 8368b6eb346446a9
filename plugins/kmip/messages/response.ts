// Writes a response message (KMIP 1.4 section 7.2, 2.0 section 8).
import { type Item, date, enumerated, enumeration, integer, octets, structure, text } from '../ttlv/item.ts';
import type { RequestItem } from './request.ts';
import { isFrom, type Version, writeVersion } from './versions.ts';
import { writeItem, writeStructure } from '../ttlv/write.ts';

/** Outcome of an item: its payload, or the refusal. */
export type Outcome =
  | { readonly status: 'Success'; readonly payload: readonly Item[] }
  /** the number of a Result Reason */
  | { readonly status: 'OperationFailed'; readonly reason: number; readonly message: string }
  | { readonly status: 'OperationUndone' };

/** Writes one item of the batch. `asked`: undefined for a message that is refused as a whole. */
export function responseItem(asked: Pick<RequestItem, 'operationNumber' | 'id'> | undefined, outcome: Outcome): Item {
  const { operationNumber, id } = asked ?? {};
  const head = [
    operationNumber === undefined ? undefined : enumerated('Operation', operationNumber),
    id === undefined ? undefined : octets('UniqueBatchItemID', id),
    enumeration('ResultStatus', outcome.status),
  ];
  if (outcome.status === 'Success') return structure('BatchItem', ...head, structure('ResponsePayload', ...outcome.payload));
  if (outcome.status === 'OperationUndone') return structure('BatchItem', ...head);
  return structure('BatchItem', ...head, enumerated('ResultReason', outcome.reason), text('ResultMessage', outcome.message));
}

export type ResponseHeader = { readonly version: Version; readonly now: Temporal.Instant; readonly clientCorrelation?: string | undefined };

/** Writes the message around items that are written. */
export function writeResponse({ version, now, clientCorrelation }: ResponseHeader, items: readonly Uint8Array[]): Buffer {
  const header = structure(
    'ResponseHeader',
    writeVersion(version),
    date('TimeStamp', Math.floor(now.epochMilliseconds / 1_000)),
    clientCorrelation !== undefined && isFrom(version, 4) ? text('ClientCorrelationValue', clientCorrelation) : undefined,
    integer('BatchCount', items.length),
  );
  return writeStructure('ResponseMessage', [writeItem(header), ...items]);
}
