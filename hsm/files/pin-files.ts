// A PIN file that is ours to change: the new PIN lies beside the old one while the token is told, so that a crash at any line leaves one that is right.
import { randomUUID } from 'node:crypto';
import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type PinSource, revealSecret, type Secret } from '../api.ts';
import { replaceFile, syncPath } from './durable-files.ts';

/** A source whose `next` is there only while its PIN is being changed, or after that was cut. */
export type OwnPinFile = { readonly file: string; readonly next: string };

/** Whether the PIN of a source is ours to change. */
export function isOwnPinFile(source: PinSource): source is OwnPinFile {
  return 'file' in source && source.next !== undefined;
}

/** The source of the PIN that a change was about to set; undefined when none was cut. */
export function findNextPin(source: PinSource): PinSource | undefined {
  return isOwnPinFile(source) && existsSync(source.next) ? { file: source.next } : undefined;
}

/** Before the token is told. It takes its place whole: an empty file beside, left by a crash, would be no PIN and no start. */
export function layNextPin({ file, next }: OwnPinFile, pin: Secret<string>): void {
  replaceFile(next, revealSecret(pin), `${next}.${randomUUID()}.tmp`, statSync(file));
}

/** The token has taken the next PIN. */
export function takeNextPin({ file, next }: OwnPinFile): void {
  renameSync(next, file);
  syncPath(dirname(file));
}

/** The token has not: the old one is right. */
export function dropNextPin({ next }: OwnPinFile): void {
  rmSync(next, { force: true });
  syncPath(dirname(next));
}
