// The message that a channel sends about a notice: when it has begun, and when it is over.
import { createHash } from 'node:crypto';
import type { NoticeRecord } from './records.ts';

export type Message = {
  /** the same when it is sent again, so that a receiver can tell a repetition */
  readonly id: string;
  readonly event: 'begun' | 'over' | 'test';
  readonly tenant: string;
  readonly name: string;
  readonly text: string;
  /** of the API */
  readonly path: string;
  readonly since: string;
  readonly overSince?: string;
  /** base URL of the appliance */
  readonly appliance: string;
};

/** A message that a server took. `refusedReceivers`: addresses that it refused; absent: none. */
export type Sent = { readonly refusedReceivers?: readonly string[] };

/** The server takes messages, but not this one: a later try of it is not worth much, and others may go on. */
export class MessageRefused extends Error {
  override readonly name = 'MessageRefused';
}

type Told = Pick<NoticeRecord, 'name' | 'text' | 'path' | 'since' | 'overSince'>;

export function messageOf(event: Message['event'], tenant: string, appliance: string, notice: Told): Message {
  const { name, text, path, since, overSince } = notice;
  const id = createHash('sha256').update([tenant, name, since, event].join('\0')).digest('hex').slice(0, 32);
  return { id, event, tenant, name, text, path, since, appliance, ...(event === 'over' && overSince !== undefined ? { overSince } : {}) };
}

const begins: Readonly<Record<Message['event'], string>> = { begun: 'Needs a person', over: 'Over', test: 'Test' };

/** Subject and text of a mail. The text of a notice is one line of the appliance's own words. */
export function mailOf({ event, tenant, text, path, since, overSince, appliance }: Message): {
  readonly subject: string;
  readonly text: string;
} {
  const lines = [
    `${begins[event]}: ${text}.`,
    '',
    `Tenant: ${tenant}`,
    `Since: ${since}`,
    ...(overSince === undefined ? [] : [`Over since: ${overSince}`]),
    `Where: ${appliance}/ui${path}`,
  ];
  return { subject: `[keystored] ${begins[event]}: ${text}`.slice(0, 200), text: `${lines.join('\n')}\n` };
}
