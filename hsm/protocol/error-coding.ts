// Encodes errors of the host for the pipe and decodes them to HsmError.
import { HsmError } from '../api.ts';
import { kindOf, TokenError } from '../pkcs11/return-values.ts';

/** An error as a part of a result. */
export function encodeError(error: unknown): Buffer {
  const { kind, message, rv, fn } = asHsmError(error);
  return Buffer.from(JSON.stringify({ kind, message, rv, fn }), 'utf8');
}

/** The reverse of encodeError. Throws SyntaxError or TypeError for anything else. */
export function decodeError(part: Buffer): HsmError {
  const { kind, message, rv, fn } = JSON.parse(part.toString('utf8')) as HsmError;
  if (typeof kind !== 'string' || typeof message !== 'string') throw new TypeError('the error of the host is malformed');
  return new HsmError(kind, message, { ...(rv === undefined ? {} : { rv }), ...(fn === undefined ? {} : { fn }) });
}

/** Turns anything thrown into an HsmError. */
export function asHsmError(error: unknown): HsmError {
  if (error instanceof HsmError) return error;
  if (error instanceof TokenError) return new HsmError(kindOf(error), error.message, { rv: error.rv, fn: error.fn, cause: error });
  const message = error instanceof Error ? error.message : String(error);
  const remedy = (error as Partial<NodeJS.ErrnoException>)?.syscall === undefined ? '' : ': examine the disk, and the rights of its files';
  return new HsmError('refused', `the request could not be run: ${message}${remedy}`, { cause: error });
}
