// The command line of gpg, as far as programs that sign use it: which words make a signature, and which change nothing about one here.
import { CommandFailed, exitCodes } from '../terminal/failure.ts';

/** A signature that the words ask for. */
export type GpgSigning = {
  readonly form: 'detached' | 'detached-text' | 'cleartext' | 'message';
  readonly armored: boolean;
  /** the key as the words name it */
  readonly key: string | undefined;
  /** file to sign; undefined: standard input */
  readonly file: string | undefined;
  /** `-`: standard output; undefined: as gpg names it */
  readonly output: string | undefined;
  readonly statusFd: number | undefined;
  readonly overwrites: boolean;
};

type Effect = 'sign' | 'detach' | 'clear' | 'armor' | 'binary' | 'text' | 'key' | 'output' | 'status' | 'overwrite' | 'nothing' | 'other';
type Option = { readonly effect: Effect; readonly takesValue?: true };

const flags = (effect: Effect, ...names: readonly string[]): [string, Option][] => names.map((name) => [name, { effect }]);
const values = (effect: Effect, ...names: readonly string[]): [string, Option][] =>
  names.map((name) => [name, { effect, takesValue: true }]);

/**
 * Long options. Those of effect `nothing` say where gpg finds keys and passphrases, what it prints, or which hash it prefers: the appliance
 * has the key, and takes the hash that every verifier accepts of it. An option that is missing here is refused when something is to be signed.
 */
const long = new Map<string, Option>([
  ...flags('sign', 'sign'),
  ...flags('detach', 'detach-sign'),
  ...flags('clear', 'clear-sign', 'clearsign'),
  ...flags('armor', 'armor', 'armour'),
  ...flags('binary', 'no-armor', 'no-armour'),
  ...flags('text', 'textmode'),
  ...values('key', 'local-user', 'default-key'),
  ...values('output', 'output'),
  ...values('status', 'status-fd'),
  ...flags('overwrite', 'yes'),
  ...flags('nothing', 'batch', 'no-batch', 'no', 'no-tty', 'quiet', 'verbose', 'no-verbose', 'no-secmem-warning', 'no-permission-warning'),
  ...flags('nothing', 'no-auto-check-trustdb', 'no-options', 'no-default-keyring', 'no-greeting', 'no-sk-comments', 'no-comments'),
  ...flags(
    'nothing',
    'no-emit-version',
    'emit-version',
    'openpgp',
    'gnupg',
    'rfc4880',
    'utf8-strings',
    'no-utf8-strings',
    'no-random-seed-file',
  ),
  ...flags(
    'nothing',
    'use-agent',
    'no-use-agent',
    'always-trust',
    'expert',
    'no-expert',
    'exit-on-status-write-error',
    'enable-progress-filter',
  ),
  ...values('nothing', 'homedir', 'options', 'keyring', 'secret-keyring', 'primary-keyring', 'trustdb-name', 'trust-model', 'list-options'),
  ...values('nothing', 'verify-options', 'keyid-format', 'charset', 'display-charset', 'comment', 'compress-algo', 'compression-algo'),
  ...values('nothing', 'digest-algo', 'cert-digest-algo', 'personal-digest-preferences', 'passphrase', 'passphrase-fd', 'passphrase-file'),
  ...values('nothing', 'passphrase-repeat', 'pinentry-mode', 'logger-fd', 'logger-file', 'log-file', 'attribute-fd', 'compress-level'),
  ...values('nothing', 'agent-program', 'ttyname', 'ttytype', 'lc-ctype', 'lc-messages', 'display', 'xauthority', 'sender'),
]);

const short = new Map<string, Option>([
  ...flags('sign', 's'),
  ...flags('detach', 'b'),
  ...flags('armor', 'a'),
  ...flags('text', 't'),
  ...values('key', 'u'),
  ...values('output', 'o'),
  ...flags('nothing', 'q', 'v'),
  ...values('nothing', 'z'),
]);

/** The signature that the words ask for; undefined where they ask for something else, which the real gpg does. Throws for a signature of a kind that is not made here. */
export function readGpgWords(words: readonly string[]): GpgSigning | undefined {
  const { found, files } = optionsOf(words);
  const has = (effect: Effect): boolean => found.some((one) => one.effect === effect);
  const last = (effect: Effect): string | undefined => found.findLast((one) => one.effect === effect)?.value;
  if (!has('sign') && !has('detach') && !has('clear')) return undefined;
  const other = found.find(({ effect }) => effect === 'other');
  if (other !== undefined) throw unknown(other.name);
  const named = new Set(found.filter(({ effect, name }) => effect === 'key' && name !== 'default-key').map(({ value }) => value));
  if (named.size > 1) throw refusal(`one key signs at a time, and these are named: ${[...named].join(', ')}`);
  if (files.length > 1) throw refusal(`one file is signed at a time, and these are named: ${files.join(', ')}`);
  const isArmored = found.findLast(({ effect }) => effect === 'armor' || effect === 'binary')?.effect === 'armor';
  const status = last('status');
  if (status !== undefined && !/^\d{1,4}$/.test(status)) throw refusal(`--status-fd ${status} is not the number of a file`);
  return {
    form: has('clear') ? 'cleartext' : has('detach') ? (has('text') ? 'detached-text' : 'detached') : 'message',
    armored: isArmored || has('clear'),
    key: [...named][0] ?? last('key'),
    file: files[0] === '-' ? undefined : files[0],
    output: last('output'),
    statusFd: status === undefined ? undefined : Number(status),
    overwrites: has('overwrite'),
  };
}

type Found = Option & { readonly name: string; readonly value?: string };

function optionsOf(words: readonly string[]): { readonly found: readonly Found[]; readonly files: readonly string[] } {
  const found: Found[] = [];
  const rest = [...words];
  while (rest[0] !== undefined && /^-./.test(rest[0])) {
    const word = rest.shift() ?? '';
    if (word === '--') break;
    if (word.startsWith('--')) found.push(longOption(word.slice(2), rest));
    else found.push(...shortOptions(word.slice(1), rest));
  }
  return { found, files: rest };
}

function longOption(word: string, rest: string[]): Found {
  const [name = '', given] = word.split(/=(.*)/s);
  const option = long.get(name) ?? abbreviated(name);
  if (option === undefined) return { name: `--${name}`, effect: 'other' };
  if (option.takesValue !== true) return { ...option, name };
  return { ...option, name, value: given ?? rest.shift() ?? '' };
}

/** gpg takes the beginning of an option that is the beginning of no other; here of those that have one effect. */
function abbreviated(name: string): Option | undefined {
  const fitting = [...long].filter(([known]) => name.length > 2 && known.startsWith(name)).map(([, option]) => option);
  const [first] = fitting;
  return fitting.every((option) => option.effect === first?.effect && option.takesValue === first.takesValue) ? first : undefined;
}

/** `-bsau KEY`, `-uKEY`. */
function shortOptions(letters: string, rest: string[]): readonly Found[] {
  const found: Found[] = [];
  for (let at = 0; at < letters.length; at += 1) {
    const letter = letters[at] ?? '';
    const option = short.get(letter);
    if (option?.takesValue === true) {
      const value = letters.slice(at + 1);
      found.push({ ...option, name: letter, value: value === '' ? (rest.shift() ?? '') : value });
      break;
    }
    found.push({ effect: 'other', ...option, name: `-${letter}` });
  }
  return found;
}

function unknown(name: string): CommandFailed {
  return refusal(`what gpg's option ${name} means for a signature is not known here, so nothing is signed`);
}

function refusal(message: string): CommandFailed {
  return new CommandFailed(exitCodes.usage, message);
}
