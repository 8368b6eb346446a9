// Options of the pkcs11 commands that choose the keys and describe the token.
import type { Command } from 'commander';
import { type ConnectionOptions, connectionOptions } from '../connection-options.ts';
import { usageError } from '../terminal/failure.ts';
import type { Choice } from './key-source.ts';
import { patternOf } from './patterns.ts';

export type KeyOptions = ConnectionOptions & {
  readonly key?: readonly string[];
  readonly selector: string;
  readonly certificate?: readonly string[];
  readonly allVersions?: boolean;
  readonly label: string;
  readonly timeout: string;
};

/** Begins a source of certificates that is a CA of the appliance; a file of such a name is written `./ca:…`. */
export const caPrefix = 'ca:';

/** Octets of a label of a token (CK_TOKEN_INFO). */
const labelOctets = 32;

/** Adds what chooses keys, and the connection. */
export function keyOptions(command: Command): Command {
  command
    .option('--key <NAME>', 'key to show, or a pattern such as web-*; may be given again', repeated)
    .option('--selector <LABELS>', 'without --key: show the keys with these labels', 'pkcs11=true')
    .option(
      '--certificate <NAME=FILE>',
      'certificate of a key or a pattern, with those above it, or ca:CA for what this CA of the appliance has issued; may be given again',
      repeated,
    )
    .option('--all-versions', 'show every version of a key, older ones as NAME:VERSION')
    .option('--label <TEXT>', 'label of the token', 'keystored')
    .option('--timeout <TIME>', 'longest time of a signature', '10s');
  for (const option of connectionOptions()) command.addOption(option);
  return command;
}

/** The keys that options choose. Throws a usage error. */
export function choiceOf({ key = [], selector, certificate = [], allVersions = false }: KeyOptions): Choice {
  const certificates = certificate.map((one) => {
    const [, name, from] = /^([^=]+)=(.+)$/s.exec(one) ?? [];
    if (name === undefined || from === undefined || from === caPrefix)
      throw usageError(`--certificate must be NAME=FILE, or NAME=ca:CA for a CA of the appliance; this is ${one}`);
    return { keys: patternOf(name), ...(from.startsWith(caPrefix) ? { ca: from.slice(caPrefix.length) } : { file: from }) };
  });
  return { names: key, selector, certificates, allVersions };
}

/** Throws a usage error for a label that a token cannot have. */
export function requireLabel(label: string): void {
  if (Buffer.byteLength(label) > labelOctets || label === '') throw usageError(`--label must have 1 to ${labelOctets} octets`);
}

/** An option of commander that may be given again: a list of its values. */
function repeated(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text];
}
