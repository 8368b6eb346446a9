// The client of `apply --ask-approval`: changes that rules let other people approve are sent with their approval, or approval is asked for.
import { counted } from '../../../core/base/texts/counted.ts';
import { z } from 'zod';
import { Client, Refused, type Answer, type Request } from '../client.ts';
import type { Connection } from '../connection-options.ts';
import { CommandFailed, exitCodes } from '../terminal/failure.ts';

/** A change that waits for the approval of others. */
export class AskedForApproval extends CommandFailed {
  constructor({ id, needed, 'digest-words': words }: z.output<typeof askedAnswer>) {
    super(exitCodes.denied, `waits for ${counted(needed, 'approval')}: ${id} (${words})`);
  }
}

const askedAnswer = z.object({ id: z.string(), needed: z.number(), 'digest-words': z.string() });
const ownRequest = z.object({ id: z.string(), state: z.string(), 'is-own': z.boolean(), method: z.string(), path: z.string() });

/** The approval is for another request, or it has become void meanwhile. */
const doesNotFit: ReadonlySet<string> = new Set(['approval-void', 'approval-missing']);

export class ApprovingClient extends Client {
  readonly #reason: string;

  constructor(connection: Connection, reason: string) {
    super(connection);
    this.#reason = reason;
  }

  /** As `Client.exchange`; throws AskedForApproval when the request is now one for approval. */
  override async exchange(request: Request): Promise<Answer> {
    try {
      return await super.exchange(request);
    } catch (error) {
      if (!(error instanceof Refused) || error.code !== 'approval-needed') throw error;
      return (await this.#sendApproved(request)) ?? (await this.#ask(request));
    }
  }

  /** Only the appliance knows which approval is for which request: each that is granted for this path is tried. */
  async #sendApproved(request: Request): Promise<Answer | undefined> {
    for (const { id } of await this.#grantedFor(request)) {
      try {
        return await super.exchange({ ...request, headers: { ...request.headers, approval: id } });
      } catch (error) {
        if (!(error instanceof Refused) || !doesNotFit.has(error.code)) throw error;
      }
    }
    return undefined;
  }

  async #grantedFor({ method, path }: Request): Promise<readonly z.output<typeof ownRequest>[]> {
    const { body } = await super.exchange({ method: 'GET', path: '/v1/state/approvals' });
    const all = z.array(ownRequest).parse(JSON.parse(body.toString()));
    return all.filter((one) => one['is-own'] && one.state === 'granted' && one.method === method && one.path === path);
  }

  async #ask(request: Request): Promise<Answer> {
    const headers = { ...request.headers, 'approval-reason': encodeURIComponent(this.#reason) };
    const answer = await super.exchange({ ...request, headers });
    // The rule may have gone meanwhile: then it is done.
    if (answer.status !== 202) return answer;
    throw new AskedForApproval(askedAnswer.parse(JSON.parse(answer.body.toString())));
  }
}
