// A message whose content is open, and what it is answered with.
import type { ContentOfReply } from '../message/reply.ts';
import type { ScepRequest } from '../message/request.ts';

export type Opened = { readonly request: ScepRequest; readonly content: Uint8Array };

export type Granted = ContentOfReply | 'pending';
