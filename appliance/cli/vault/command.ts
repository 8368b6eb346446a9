// import vault, import vault-values: transit keys of an OpenBao or Vault, and the values under keys that do not leave it.
import { randomBytes } from 'node:crypto';
import { Option } from 'commander';
import { Client } from '../client.ts';
import { originsOf, resolveConnection } from '../connection.ts';
import { type ConnectionOptions, connectionOptions } from '../connection-options.ts';
import { commandFor } from '../terminal/command-output.ts';
import { CommandFailed, exitCodes, usageError } from '../terminal/failure.ts';
import { beginFile } from '../terminal/files.ts';
import { type Io, readText } from '../terminal/io.ts';
import { type Format, formats, printValue } from '../terminal/output.ts';
import { openProgress } from '../terminal/progress.ts';
import { readBackup } from './backup.ts';
import { type Moved, moveBackup, moveKey } from './move-key.ts';
import { Source } from './source.ts';

type SourceOptions = ConnectionOptions & {
  readonly from?: string;
  readonly fromCa?: string;
  readonly fromTokenFile?: string;
  readonly fromNamespace?: string;
  readonly mount: string;
};
type KeyOptions = SourceOptions & {
  readonly inClear?: true;
  readonly backup?: true;
  readonly backupFile?: string;
  readonly keepExportable?: true;
  readonly output?: Format;
};
type ValueOptions = SourceOptions & {
  readonly to?: string;
  readonly in: string;
  readonly out: string;
  readonly derivationContext?: string;
  readonly prefix: 'vault' | 'store';
};

/** `import vault [KEY[=NAME]…]`, `import vault-values KEY --in FILE --out FILE`. */
export async function runImport(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const command = commandFor(io, 'keystorectl import').description('Take keys of other services.').helpOption('-h, --help', 'show this');
  const add = (usage: string, description: string) => {
    const added = command.command(usage).description(description).exitOverride();
    for (const option of [...sourceOptions(), ...connectionOptions()]) added.addOption(option);
    return added;
  };
  add(
    'vault [keys...]',
    'Move transit keys of an OpenBao or Vault, as KEY or KEY=NAME; without names all of them. Every version keeps its number, so that values which were ' +
      'made there open here. Keys come wrapped under the wrapping key of the appliance (byok-export), and in clear over TLS only with --in-clear or --backup, which bring ' +
      'the keys of HMACs too. Exit code 7 if some keys were left.',
  )
    .option('--in-clear', 'take keys in clear (export): for a server without byok-export, and with the keys of their HMACs')
    .option('--backup', 'take keys in clear by backup, with the keys of their HMACs')
    .option('--backup-file <FILE>', 'take the one key of a backup that is in a file, - for standard input, without a server')
    .option('--keep-exportable', 'make the keys exportable here, too')
    .addOption(new Option('-o, --output <FORMAT>', 'default: yaml on a terminal, else json').choices(formats))
    .action((keys: readonly string[], options: KeyOptions) => moveKeys(keys, options, before, io));
  add(
    'vault-values <key>',
    'Move values of a key that does not leave an OpenBao or Vault: each line of a file is decrypted there and encrypted here, over TLS. The file of --out ' +
      'appears when every line was moved.',
  )
    .option('--to <KEY>', 'transit key here; default: of the same name')
    .option('--in <FILE>', 'values, one a line', '-')
    .option('--out <FILE>', 'where to', '-')
    .option('--derivation-context <BASE64>', 'context of a derived key there, for every line; a key here that is derived gets the same')
    .addOption(
      new Option('--prefix <NAME>', 'prefix of the values: that of the clients that will read them')
        .choices(['vault', 'store'])
        .default('vault'),
    )
    .action((key: string, options: ValueOptions) => moveValues(key, options, before, io));
  await command.parseAsync([...words], { from: 'user' });
}

function sourceOptions(): Option[] {
  return [
    new Option('--from <URL>', 'address of the OpenBao or Vault [VAULT_ADDR]'),
    new Option('--from-ca <FILE>', 'certificates to trust there, PEM [VAULT_CACERT]'),
    new Option('--from-token-file <FILE>', 'file with the token for it, - for standard input [VAULT_TOKEN has the token]'),
    new Option('--from-namespace <NAME>', 'namespace there [VAULT_NAMESPACE]'),
    new Option('--mount <PATH>', 'path of its transit keys').default('transit'),
  ].map((option) => option.helpGroup('Source:'));
}

async function openSource({ from, fromCa, fromTokenFile, fromNamespace, mount }: SourceOptions, io: Io): Promise<Source> {
  const environment = (name: string): string | undefined => io.environment[name] || undefined;
  const url = from ?? environment('VAULT_ADDR');
  if (url === undefined) throw usageError('from where? give --from https://HOST:PORT, or set VAULT_ADDR');
  const token = fromTokenFile === undefined ? environment('VAULT_TOKEN') : await readText(fromTokenFile, io);
  if (token === undefined) throw usageError('no token for the source: give --from-token-file FILE, or set VAULT_TOKEN');
  if (!/^[\w-]+(?:\/[\w-]+)*$/.test(mount)) throw usageError(`--mount ${mount} is not a path such as transit or team/transit`);
  const ca = fromCa ?? environment('VAULT_CACERT');
  return new Source({
    ...{ url: originsOf(url), ca: ca === undefined ? undefined : await readText(ca, io), token: token.trim(), mount },
    namespace: fromNamespace ?? environment('VAULT_NAMESPACE'),
  });
}

async function moveKeys(words: readonly string[], options: KeyOptions, before: ConnectionOptions, io: Io): Promise<void> {
  const { inClear = false, backup = false, backupFile } = options;
  if ([inClear, backup, backupFile !== undefined].filter(Boolean).length > 1)
    throw usageError('--in-clear, --backup and --backup-file are three ways: give one');
  const target = new Client(await resolveConnection({ ...before, ...options }, io));
  try {
    const report =
      backupFile === undefined ? await keysOf(words, options, target, io) : [await keyIn(backupFile, words, options, target, io)];
    await printValue(report, options.output, io);
    const left = report.filter(({ outcome }) => outcome === 'left').length;
    if (left > 0) throw new CommandFailed(exitCodes.no, `${left} of ${report.length} keys were left; the report says why`);
  } finally {
    target.close();
  }
}

async function keysOf(words: readonly string[], options: KeyOptions, target: Client, io: Io): Promise<readonly Moved[]> {
  const source = await openSource(options, io);
  const progress = openProgress(io, 'keys');
  try {
    const names = words.length > 0 ? words : await source.names();
    const clear = options.backup === true ? 'backup' : options.inClear === true ? 'export' : undefined;
    const way = clear ?? { lent: await lend(source, target) };
    const report: Moved[] = [];
    try {
      for (const word of names) {
        const [name = '', as = name] = word.split('=');
        report.push(await moveKey(source, target, name, as, { way, keepsExportable: options.keepExportable === true }));
        progress.show(report.length, report.length / names.length);
      }
    } finally {
      progress.clear();
      if (typeof way !== 'string') await takeBack(source, way.lent, io);
    }
    return report;
  } finally {
    source.close();
  }
}

async function keyIn(file: string, words: readonly string[], options: KeyOptions, target: Client, io: Io): Promise<Moved> {
  const backedUp = readBackup(await readText(file, io));
  const [word = backedUp.name, more] = words;
  const [name = '', as = name] = word.split('=');
  if (more !== undefined || name !== backedUp.name)
    throw usageError(`the backup has the key ${backedUp.name} alone: give it a name as ${backedUp.name}=NAME, or none`);
  return moveBackup(target, backedUp, as, { keepsExportable: options.keepExportable === true });
}

/** Lends the wrapping key of the appliance to the source, under a name that nothing has; answers the name. */
async function lend(source: Source, target: Client): Promise<string> {
  const path = '/v1/state/keystore/wrapping-key';
  const { 'wrapping-key': publicKey = '' } = (await target.json({ method: 'GET', path })) as { readonly 'wrapping-key'?: string };
  const name = `keystored-import-${randomBytes(6).toString('hex')}`;
  await source.lend(name, publicKey).catch((error: unknown) => {
    if (!(error instanceof CommandFailed)) throw error;
    throw new CommandFailed(
      error.exitCode,
      `${error.message}\nthe source did not take the wrapping key, under which keys leave it (keys/${name}/import, byok-export); with --in-clear or --backup they come in clear`,
    );
  });
  return name;
}

/** Takes the lent key back. It is a public key: where that fails, the report is worth more than an end of the command. */
async function takeBack(source: Source, lent: string, io: Io): Promise<void> {
  await source.forget(lent).catch((error: unknown) => {
    if (!(error instanceof CommandFailed)) throw error;
    io.stderr.write(`keystorectl: the public key "${lent}" is still there, and may be deleted: ${error.message}\n`);
  });
}

/** OpenBao takes a thousand texts in a request, of which a line with a context is four. */
const linesAtOnce = 200;

/** Context of every value here, if the key is derived. */
type Bound = { readonly 'context-base64'?: string };

type Line = { readonly text: string; readonly number: number };

async function moveValues(key: string, options: ValueOptions, before: ConnectionOptions, io: Io): Promise<void> {
  const target = new Client(await resolveConnection({ ...before, ...options }, io));
  const source = await openSource(options, io);
  const progress = openProgress(io, 'values');
  const lines = (await readText(options.in, io)).split(/\r?\n/).map((text, index) => ({ text: text.trim(), number: index + 1 }));
  const out = beginFile(options.out, io, false);
  try {
    const bound = await contextHere(target, options.to ?? key, options.derivationContext);
    for (let at = 0; at < lines.length; at += linesAtOnce) {
      const some = lines.slice(at, at + linesAtOnce);
      const values = some.filter(({ text }) => text !== '');
      const moved = values.length === 0 ? [] : await movedValues(source, target, key, values, options, bound);
      const byLine = new Map(values.map(({ number }, index) => [number, moved[index]]));
      await out.write(some.map(({ number }) => `${byLine.get(number) ?? ''}\n`).join(''));
      progress.show(at + some.length, (at + some.length) / lines.length);
    }
    out.finish();
  } finally {
    out.abandon();
    progress.clear();
    source.close();
    target.close();
  }
  io.stderr.write(`${lines.filter(({ text }) => text !== '').length} values were moved\n`);
}

/** The values under the key here. Fails with the first that does not open there. */
async function movedValues(
  source: Source,
  target: Client,
  key: string,
  values: readonly Line[],
  { to = key, derivationContext, prefix }: ValueOptions,
  bound: Bound,
): Promise<readonly string[]> {
  const opened = await source.decrypt(
    key,
    values.map(({ text }) => text),
    derivationContext,
  );
  const items = opened.map((plaintext, index) => {
    if (typeof plaintext === 'string') return { plaintext, ...bound };
    throw new CommandFailed(exitCodes.no, `line ${values[index]?.number} does not open there: ${plaintext.message}`);
  });
  const path = `/v1/state/keystore/transit-keys/${encodeURIComponent(to)}/encrypt-batch`;
  const { 'batch-results': results } = (await target.json({ method: 'POST', path, body: { 'batch-input': items } })) as {
    readonly 'batch-results': readonly { readonly ciphertext?: string; readonly error?: string }[];
  };
  return results.map(({ ciphertext, error }, index) => {
    if (ciphertext === undefined)
      throw new CommandFailed(exitCodes.no, `line ${values[index]?.number} is not encrypted here: ${error ?? 'refused'}`);
    return ciphertext.replace(/^store:/, `${prefix}:`);
  });
}

/** The context for a key here: that of there where it is derived, nothing where it is not. */
async function contextHere(target: Client, to: string, context: string | undefined): Promise<Bound> {
  if (context === undefined) return {};
  const path = `/v1/config/keystore/transit-keys/${encodeURIComponent(to)}`;
  const { derived } = (await target.json({ method: 'GET', path })) as { readonly derived?: boolean };
  return derived === true ? { 'context-base64': context } : {};
}
