// An operation of KMIP: reads its payload, calls a service, and writes the payload of the answer.
import type { Fields } from '../messages/fields.ts';
import { KmipFailure } from '../messages/failure.ts';
import type { Version } from '../messages/versions.ts';
import type { KmipCall, ObjectService } from '../objects/object-service.ts';
import type { Item } from '../ttlv/item.ts';

/** One item of a batch, as its operation sees it. */
export type OperationCall = {
  readonly objects: ObjectService;
  readonly call: KmipCall;
  readonly version: Version;
  /** identifier that the last operation of the batch has left; undefined: none has */
  readonly placeholder: string | undefined;
};

export type Done = {
  readonly payload: readonly Item[];
  /** identifier for the operations behind it in the batch that give none; absent: they have none */
  readonly placeholder?: string;
  /** Takes back what was done, for a batch that must be done as a whole; absent: nothing was changed. */
  undo?(): Promise<unknown>;
  /** Notes that it is answered, once its answer is known to fit; a failure of it is the answer instead. */
  beforeAnswer?(): Promise<unknown>;
};

export type Operation = {
  /** the first minor version of 1.x that has it; 5: 2.0. Default: 0 */
  readonly since?: number;
  /** its change cannot be taken back, so that it may only come last in a batch that must be done as a whole */
  readonly isFinal?: true | ((payload: Fields, version: Version) => boolean);
  /** it is about no object: the identifier that an operation before it has left stays */
  readonly keepsPlaceholder?: true;
  run(asked: OperationCall, payload: Fields): Done | Promise<Done>;
};

/** The object that a payload is about: named, or that of the operation before it. */
export function identifierIn(payload: Fields, { placeholder }: Pick<OperationCall, 'placeholder'>): string {
  const item = payload.item('UniqueIdentifier');
  // 2.0 has an enumeration for those of operations before it.
  if (item?.type === 'text') return item.value;
  if (item !== undefined && item.type !== 'enumeration') throw new KmipFailure('InvalidField', 'Unique Identifier must be a text.');
  if (placeholder === undefined)
    throw new KmipFailure('MissingData', 'Unique Identifier is missing, and no operation before this one of the batch has left one.');
  return placeholder;
}
