// Limits the messages of a client that are answered at a time, over all of its connections, closed ones as well, and the memory of their answers.
import { Semaphore } from '../../../core/base/async/semaphore.ts';
import type { Owner } from '../../../core/base/async/shares.ts';
import type { ClientCertificate } from '../../../core/tls/client-certificate.ts';
import type { KmipClient } from '../objects/object-service.ts';
import type { Said } from './connection.ts';
import { MessageRoom, rooms } from './message-room.ts';

/** Messages of one certificate that are answered at a time; others wait in order. */
const mostAtOnce = 16;

/** Reserves memory for an answer that is so long; false: there is too little. */
export type TakeRoom = (octets: number, client: KmipClient) => boolean;

/** The owner of the share of the memory that an answer or a message takes. */
export function ownerOf({ tenantId, name }: Pick<KmipClient, 'tenantId' | 'name'>): Owner {
  return { tenant: tenantId, origin: name };
}

type Line = { readonly places: Semaphore; messages: number };

export class AnswerTurns {
  readonly #lines = new Map<string, Line>();
  readonly #room = new MessageRoom(rooms.answers);

  /** Answers a message in its turn. `takeRoom`: reserves memory for an answer of so many octets. */
  async run(certificate: ClientCertificate, gone: AbortSignal, answer: (takeRoom: TakeRoom) => Promise<Said>): Promise<Said> {
    const owner = certificate.thumbprint('certificate') ?? '';
    const line = this.#lines.get(owner) ?? { places: new Semaphore(mostAtOnce), messages: 0 };
    this.#lines.set(owner, line);
    line.messages += 1;
    const held: (() => void)[] = [];
    let taken = 0;
    const takeRoom: TakeRoom = (octets, client) => {
      if (!MessageRoom.needs(octets) || octets <= taken) return true;
      const release = this.#room.take(ownerOf(client), octets - taken);
      if (release === undefined) return false;
      taken = octets;
      held.push(release);
      return true;
    };
    const release = (): void => held.forEach((one) => one());
    try {
      const said = await line.places.run(async () => (gone.aborted ? nothing : answer(takeRoom)));
      return { ...said, release };
    } finally {
      line.messages -= 1;
      if (line.messages === 0) this.#lines.delete(owner);
    }
  }
}

/** For a peer that has gone. */
const nothing: Said = { octets: Buffer.alloc(0), closes: true };
