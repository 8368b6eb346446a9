// What the package offers.
export { Operations } from './generated/operations.ts';
export type * from './generated/types.ts';
export type { ApiRequest, CallOptions, Sender } from './sender.ts';
