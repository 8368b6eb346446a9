// Exports of the package.
export { Client, type ClientOptions } from './client.ts';
export type * from './generated/types.ts';
export type { Answer } from './http/http-sender.ts';
export type { Credentials } from './http/session.ts';
export { jwtFromEnvironment, jwtFromFile, type Workload } from './http/workload.ts';
export type {
  DecryptItem,
  DecryptOptions,
  EncryptItem,
  EncryptOptions,
  HmacItem,
  HmacOptions,
  Octets,
  RewrapItem,
  RewrapOptions,
  SignItem,
  SignOptions,
  VerifyItem,
  VerifyOptions,
} from './keys/actions.ts';
export type { BatchOptions, BatchResult } from './keys/batches.ts';
export type { DataKey, Key } from './keys/key.ts';
export { AskedForApproval, ConnectionError, type ConnectionFailure, Problem, type ProblemItem, TimeLimitError } from './problem.ts';
export { DataKeyCache, type DataKeyCacheOptions } from './sealing/data-keys.ts';
export { headerBytes as sealedHeaderBytes, SealedDataError, type Source } from './sealing/format.ts';
export type { ApiRequest, CallOptions } from './sender.ts';
export { fetchTransport } from './transport/fetch.ts';
export { NotSentError, type Transport, type TransportAnswer, type TransportRequest } from './transport/transport.ts';
