// What the failure of a call says: whether it has certainly not happened.
import { status } from './status.ts';

/** A call that did not succeed. */
export class EtcdError extends Error {
  override readonly name = 'EtcdError';
  /** The server has refused it: it did not happen and never will. Otherwise it may have happened, or happen later. */
  readonly isRefused: boolean;
  /** of gRPC */
  readonly code: number;

  constructor(code: number, text: string) {
    super(`etcd: ${text} (status ${code})`);
    this.code = code;
    this.isRefused = isRefusal(code, text);
  }

  /** The revisions that were asked for are gone. */
  get isCompacted(): boolean {
    return this.code === status.OUT_OF_RANGE && this.message.includes('compacted');
  }
}

/** RESOURCE_EXHAUSTED is also the answer to messages that this side found too large, whose transactions may have been committed. */
const refusedForSize =
  /^(?:.*etcdserver: mvcc: database space exceeded|.*etcdserver: too many requests|.*grpc: received message larger than max)/s;

const alwaysRefused: ReadonlySet<number> = new Set([
  status.INVALID_ARGUMENT,
  status.NOT_FOUND,
  status.FAILED_PRECONDITION,
  status.OUT_OF_RANGE,
  status.UNAUTHENTICATED,
  status.PERMISSION_DENIED,
  status.UNIMPLEMENTED,
]);

function isRefusal(code: number, text: string): boolean {
  return alwaysRefused.has(code) || (code === status.RESOURCE_EXHAUSTED && refusedForSize.test(text));
}
