// A message whose signature holds, how its content is opened, and what it is answered with.
import type { ContentOfReply } from '../message/reply.ts';
import type { ScepRequest } from '../message/request.ts';

/**
 * `open`: decrypts the content, octets that are nothing if it was not encrypted for this CA with the key that it carries. The sender may have
 * changed what another has encrypted: an answer may depend on the content only if the content proves who wrote it, or is exactly the one that is
 * expected. `isQuestion`: refused before the decryption to an address that has sent ten undecryptable ones in a minute.
 */
export type Asked = {
  readonly request: ScepRequest;
  readonly open: (isQuestion?: boolean) => Promise<Uint8Array>;
  /** the key of the content, encrypted for this CA: drawn for each message, and made by nobody who does not know the content */
  readonly encryptedKey: Uint8Array | undefined;
};

export type Granted = ContentOfReply | 'pending';
