// Changes a PIN file of the appliance: a second file holds the new PIN until the token has accepted it, so that after a crash one file is valid.
import { randomUUID } from 'node:crypto';
import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type PinSource, revealSecret, type Secret } from '../api.ts';
import { replaceFile, syncPath } from './durable-files.ts';

/** A source whose file `next` exists only during a change of the PIN, or after an interrupted one. */
export type OwnPinFile = { readonly file: string; readonly next: string };

/** Tells whether the appliance may write the PIN of a source. */
export function isOwnPinFile(source: PinSource): source is OwnPinFile {
  return 'file' in source && source.next !== undefined;
}

/** Finds the new PIN of an interrupted change; undefined if there was no such change. */
export function findNextPin(source: PinSource): PinSource | undefined {
  return isOwnPinFile(source) && existsSync(source.next) ? { file: source.next } : undefined;
}

/** Stores the new PIN before the token gets it. Written atomically: an empty file left by a crash would block the next start. */
export function writeNextPin({ file, next }: OwnPinFile, pin: Secret<string>): void {
  replaceFile(next, revealSecret(pin), `${next}.${randomUUID()}.tmp`, statSync(file));
}

/** Makes the new PIN the present one, after the token has accepted it. */
export function acceptNextPin({ file, next }: OwnPinFile): void {
  renameSync(next, file);
  syncPath(dirname(file));
}

/** Discards the new PIN, after the token has refused it. */
export function dropNextPin({ next }: OwnPinFile): void {
  rmSync(next, { force: true });
  syncPath(dirname(next));
}
