// Interprets the failure of a call: tells whether its effect is excluded.
import { status } from './status.ts';

/** Error of a call that did not succeed. */
export class EtcdError extends Error {
  override readonly name = 'EtcdError';
  /** true if the server has refused the call: it did not happen and never will; otherwise it may have happened, or happen later */
  readonly isRefused: boolean;
  /** status code of gRPC */
  readonly code: number;

  constructor(code: number, text: string) {
    super(`etcd: ${text} (status ${code})`);
    this.code = code;
    this.isRefused = isRefusal(code, text);
  }

  /** True if the requested revisions are compacted. */
  get isCompacted(): boolean {
    return this.code === status.OUT_OF_RANGE && this.message.includes('compacted');
  }
}

/** Refusals for size. RESOURCE_EXHAUSTED also reports answers that this side found too large, whose transactions may have been committed. */
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
