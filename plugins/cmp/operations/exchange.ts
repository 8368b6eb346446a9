// A message whose sender is known, and what it is answered with.
import type { CmpCall, CmpContext } from '../context.ts';
import type { Message, SoundHeader } from '../message/message.ts';
import type { Sender } from './sender.ts';

export type Proven = { readonly message: Message; readonly header: SoundHeader; readonly sender: Sender };

/** `nonceKey`: of the transaction that the answer belongs to, if it has one. */
export type Granted = {
  readonly type: number;
  readonly body: Uint8Array;
  readonly info?: readonly Uint8Array[];
  readonly nonceKey?: Uint8Array;
  /** the device waits before it goes on, longer than connections are kept */
  readonly pauses?: true;
};

export type Handler = (context: CmpContext, call: CmpCall, proven: Proven) => Granted | Promise<Granted>;
