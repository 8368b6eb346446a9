// One input for a parser: it is read or refused, and leaves nothing in OpenSSL's queue.
import { BackupError } from '../../../appliance/backup/format/error.ts';
import { CommandFailed } from '../../../appliance/cli/terminal/failure.ts';
import { StartRefused } from '../../../appliance/start-refused.ts';
import { ServiceError } from '../../../core/base/errors.ts';
import { DerError } from '../../../core/der/der.ts';
import { CmpRefusal } from '../../../plugins/cmp/message/refusal.ts';
import { KmipFailure } from '../../../plugins/kmip/messages/failure.ts';
import { RequestRefused } from '../../../plugins/kmip/messages/request.ts';
import { KmipMalformed } from '../../../plugins/kmip/ttlv/malformed.ts';
import { ScepMalformed } from '../../../plugins/scep/message/malformed.ts';
import { takeOpensslErrors } from '../../harness/openssl-queue.ts';
import { Dice } from '../cases.ts';
import { drawInput } from './mutations.ts';
import type { Parser } from './parser.ts';

/** Errors that are refusals: their callers turn them into an answer or a message. */
const refusals = [
  ...[DerError, ScepMalformed, CmpRefusal, KmipMalformed, RequestRefused],
  ...[KmipFailure, StartRefused, CommandFailed, BackupError],
] as const;

/** The input with this number; what was drawn before it does not matter. */
export function inputOf(parser: Parser, seed: number, number: number): Buffer {
  return drawInput(new Dice(seed ^ Math.imul(number, 0x9e37_79b1)), parser);
}

/** Answers whether the input was read. Throws when the parser fails instead of refusing it. */
export async function tryInput(parser: Parser, input: Buffer): Promise<'read' | 'refused'> {
  let outcome: 'read' | 'refused' = 'read';
  try {
    await parser.read(Buffer.from(input));
  } catch (error) {
    if (!isRefusal(error)) throw new Error(`the parser of ${parser.name} fails instead of refusing ${describe(input)}`, { cause: error });
    outcome = 'refused';
  }
  const left = takeOpensslErrors();
  if (left.length === 0) return outcome;
  throw new Error(`the parser of ${parser.name} leaves ${left.join(', ')} in the queue of OpenSSL after ${describe(input)}`);
}

function isRefusal(error: unknown): boolean {
  if (error instanceof ServiceError) return error.status < 500;
  return refusals.some((refusal) => error instanceof refusal);
}

function describe(input: Buffer): string {
  return `${input.length} octets, base64 ${input.toString('base64', 0, 600)}${input.length > 600 ? '…' : ''}`;
}
