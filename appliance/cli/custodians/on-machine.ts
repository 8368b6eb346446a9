// custodians make and end: on the machine of the appliance, with its token. A keystorectl of other machines is without them.
import type { Secret } from '../../../core/base/secret.ts';
import { HsmError, type TokenConfig } from '../../../hsm/api.ts';
import { readPin } from '../../../hsm/setup/setup.ts';
import { loadConfiguration } from '../../configuration.ts';
import { namesOf, openByAgreed, openByShares, wordsOfAct } from '../../custodians/agreed.ts';
import { isInForce, readCeremonies, readCeremony } from '../../custodians/ceremony.ts';
import { pinFilesOf } from '../../custodians/custody.ts';
import { deliver, readRecipient } from '../../custodians/delivering.ts';
import { type Ceremonial, endCustody, joinCeremony, type PresentPin, sharePin } from '../../custodians/setting.ts';
import { holdDataDirectory } from '../../data-directory/data-directory.ts';
import { isPinRefused, StartRefused, wrongPin } from '../../start-refused.ts';
import { hasSealedIdentity } from '../../tls/sealed-identity.ts';
import { hsmConfigOf } from '../../tokens/hsm-config.ts';
import { canAsk } from '../terminal/confirm.ts';
import { usageError } from '../terminal/failure.ts';
import { writeAll } from '../terminal/files.ts';
import type { Io } from '../terminal/io.ts';
import { showOnPaper } from './paper.ts';

type Place = {
  readonly config?: string;
  readonly dataDir?: string;
  readonly share?: readonly string[];
  readonly pinFile?: string;
};
export type Making = Place & {
  readonly shares: string;
  readonly needed: string;
  readonly recipient?: readonly string[];
  readonly out?: string;
  readonly paper?: true;
};
export type Joining = Place & { readonly ceremony: string };
export type Ending = Place & { readonly newPinFile: string };

/** `custodians make`. */
export function makeShares(options: Making, io: Io): Promise<void> {
  return translated(options, () => make(options, io));
}

/** `custodians join`. */
export function joinShares(options: Joining, io: Io): Promise<void> {
  return translated(options, () => join(options, io));
}

/** `custodians end`. */
export function endShares(options: Ending, io: Io): Promise<void> {
  return translated(options, () => end(options, io));
}

async function translated({ pinFile }: Place, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (pinFile !== undefined && isPinRefused(error)) throw usageError(`${wrongPin} in ${pinFile}`);
    if (error instanceof StartRefused) throw usageError(error.message);
    const { path, code, syscall } = error as NodeJS.ErrnoException;
    throw path !== undefined && syscall !== undefined ? usageError(`${path} cannot be read or written (${code})`) : error;
  }
}

type Found = { readonly data: string; readonly token: TokenConfig; readonly attended: boolean; readonly pinFiles: readonly string[] };

async function placeOf({ config, dataDir, share, pinFile }: Place): Promise<Found> {
  if (config === undefined && dataDir === undefined) throw usageError('give --config FILE or --data-dir DIR');
  const configuration = loadConfiguration([
    ...(config === undefined ? [] : ['--config', config]),
    ...(dataDir === undefined ? [] : ['--data', dataDir]),
  ]);
  // A running one would try the former PIN, which it has in memory. To see the words of an act, it need not be stopped.
  if (share !== undefined || pinFile !== undefined) await holdDataDirectory(configuration.data, configuration.sources['data']);
  const { tokens } = await hsmConfigOf(configuration, () => undefined);
  const [token, ...others] = tokens;
  if (token === undefined || others.length > 0) throw usageError('custodians are for an appliance with one token');
  return { data: configuration.data, token, attended: configuration.attended, pinFiles: pinFilesOf(configuration) };
}

async function make(options: Making, io: Io): Promise<void> {
  const { data, token, attended, pinFiles } = await placeOf(options);
  const [shares, needed] = [Number(options.shares), Number(options.needed)];
  if (!Number.isInteger(shares) || !Number.isInteger(needed) || needed < 2 || shares < needed || shares > 16)
    throw usageError('--needed must be 2 to --shares, and --shares at most 16');
  requireFit(data, attended, pinFiles);
  const { recipients, deliver } = await deliveryOf(options, shares, io);
  const ceremonies = readCeremonies(data);
  const act = { act: 'make', of: namesOf(ceremonies), shares, needed, recipients };
  await writeAll(
    io,
    `${needed} of ${shares} shares, for\n${act.recipients.map((one) => `  ${one}\n`).join('')}words: ${wordsOfAct(act)}\n`,
  );
  const present = await presentPin({ data, token, act, options, hasCustodians: ceremonies.length > 0 });
  if (options.paper === true && !canAsk(io)) throw usageError('--paper shows shares to people: give it at a terminal');
  const delivered = await sharePin({ data, token, ...present, needed, recipients, deliver });
  if (needed === shares) io.stderr.write('keystorectl: every share is needed: one that is lost leaves the appliance sealed for good\n');
  await writeAll(io, `the PIN is another one, and earlier shares open nothing. ${delivered}\n`);
}

type Delivery = { readonly recipients: readonly string[] } & Pick<Ceremonial<string>, 'deliver'>;

/** The ways to the custodians, which say in the end where the shares are: in encrypted files, or on paper. */
async function deliveryOf({ recipient, out, paper }: Making, shares: number, io: Io): Promise<Delivery> {
  if (paper === true) {
    if (recipient !== undefined || out !== undefined) throw usageError('--paper is in place of --recipient and --out');
    const recipients = Array.from({ length: shares }, (_, at) => `paper ${at + 1}`);
    return { recipients, deliver: (_, texts) => showOnPaper(texts, io) };
  }
  if (recipient?.length !== shares || out === undefined)
    throw usageError(`give ${shares} times --recipient, for each custodian one, and --out; or --paper`);
  const given = await Promise.all(recipient.map(readRecipient));
  const recipients = given.map(({ shown }) => shown);
  if (new Set(recipients).size < shares) throw usageError('a recipient is named twice');
  return {
    recipients,
    async deliver(ceremony, texts) {
      const files = await deliver(out, ceremony, given, texts);
      return `Give each custodian one file:\n${files.map((file) => `  ${file}`).join('\n')}`;
    },
  };
}

function requireFit(data: string, attended: boolean, pinFiles: readonly string[]): void {
  if (!attended) throw usageError('custodians are for an appliance with an attended start: set hsm.start to attended in the configuration');
  // Its identity while it waits for shares is made at such a start, which needs the PIN.
  if (!hasSealedIdentity(data)) throw usageError('start the appliance attended once with its PIN, and stop it, before the PIN is shared');
  if (pinFiles.length > 0) throw usageError(`${pinFiles.join(' and ')}: keep what is in it elsewhere, and remove it first`);
}

async function join(options: Joining, io: Io): Promise<void> {
  const { data, token, attended, pinFiles } = await placeOf(options);
  requireFit(data, attended, pinFiles);
  if (isInForce(data)) throw usageError(`${data} has custodians already: end their custody first`);
  const of = readCeremony(options.ceremony);
  const act = { act: 'join', of: of.ceremony, data, token: token.name };
  await writeAll(io, `the shares of ceremony ${of.ceremony}, for the token ${token.name} of ${data}\nwords: ${wordsOfAct(act)}\n`);
  const { pinFile, share } = options;
  if (pinFile === undefined || share === undefined)
    throw usageError(
      'give --pin-file FILE with the present PIN, and of enough custodians --share FILE with the six words above in the second line',
    );
  await joinCeremony({ data, token, pin: pinIn(pinFile) }, await openByAgreed([of], share, act));
  await writeAll(io, `the PIN is another one: ${of.needed} of the same shares unseal this appliance, too\n`);
}

type Present = {
  readonly data: string;
  readonly token: TokenConfig;
  readonly act: object;
  readonly options: Place;
  readonly hasCustodians: boolean;
};

/** Of custodians, each of whom has agreed to this act; or of a person, before the first ceremony or after one that was cut off. */
async function presentPin({ data, token, act, options: { share, pinFile }, hasCustodians }: Present): Promise<PresentPin> {
  if (share === undefined && pinFile !== undefined && !isInForce(data)) return { pin: pinIn(pinFile), opened: undefined };
  if (share === undefined && !hasCustodians) throw usageError('give --pin-file FILE with the present PIN');
  if (share === undefined)
    throw usageError(
      'custodians have the PIN: have enough of them write their share into a file, with the six words above in the line below, and give each as --share',
    );
  const { ceremony, pins } = await openByShares(data, share, act);
  const pin = pins[token.name];
  if (pin === undefined) throw usageError(`the shares have no PIN of token ${token.name}`);
  return { pin, opened: ceremony };
}

function pinIn(file: string): Secret<string> {
  try {
    return readPin({ file });
  } catch (error) {
    throw error instanceof HsmError ? usageError(error.message) : error;
  }
}

async function end({ newPinFile, ...options }: Ending, io: Io): Promise<void> {
  const { data, token } = await placeOf(options);
  const ceremonies = readCeremonies(data);
  if (ceremonies.length === 0) throw usageError(`${data} has no custodians`);
  const newPin = pinIn(newPinFile);
  const act = { act: 'end', of: namesOf(ceremonies) };
  await writeAll(io, `words: ${wordsOfAct(act)}\n`);
  const present = await presentPin({ data, token, act, options, hasCustodians: true });
  await endCustody({ data, token, ...present }, newPin);
  await writeAll(io, 'the token has the new PIN, and the shares open nothing\n');
}
