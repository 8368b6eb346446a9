// support-bundle: data for finding out why an appliance does not work, in one archive, without secrets.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { arch, platform, release, totalmem } from 'node:os';
import { gzipSync } from 'node:zlib';
import { Option } from 'commander';
import { formatTarEnd, formatTarEntry } from '../../backup/format/tar.ts';
import { Catalog, type CatalogEntry } from '../catalog.ts';
import { Client, Refused } from '../client.ts';
import { connectionOptions, type ConnectionOptions } from '../connection-options.ts';
import { resolveConnection } from '../connection.ts';
import { exportAll } from '../declared/export.ts';
import { loadDescription } from '../description.ts';
import { commandFor } from '../terminal/command-output.ts';
import { CommandFailed, exitCodes, usageError } from '../terminal/failure.ts';
import { beginFile, isFile, type OutputFile } from '../terminal/files.ts';
import type { Io } from '../terminal/io.ts';
import { programVersion } from '../version.ts';
import { withoutSecrets } from './without-secrets.ts';

type Options = ConnectionOptions & { out: string; logs: string; force?: true };
/** A file of the bundle: its text, or why it is not there. */
type Part = { readonly name: string; read(): Promise<string> };

/** `support-bundle --out FILE`: also of an appliance that does not start, from its data directory. */
export async function runSupportBundle(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const command = commandFor(io)
    .usage('support-bundle --out FILE [options]')
    .description(
      'Collect versions, configuration, health, metrics, the state of the HSM and of the audit trail, and the newest log lines in one archive ' +
        '(tar.gz). Secrets are not in it. Names, addresses and policies are: look at it before you give it away. With --data-dir it also ' +
        'works for an appliance that does not start, and has the result of its check.',
    )
    .addOption(new Option('--out <FILE>', 'the archive to write').makeOptionMandatory())
    .addOption(new Option('--logs <N>', 'newest log lines to take along').default('2000'))
    .addOption(new Option('--force', 'replace the file of --out if there is one'));
  for (const option of connectionOptions()) command.addOption(option);
  command.parse([...words], { from: 'user' });
  const options = { ...before, ...command.opts<Options>() };
  if (!/^[1-9]\d{0,5}$/.test(options.logs)) throw usageError('--logs must be a whole number from 1 to 999999');
  if (options.force !== true && isFile(options.out)) throw usageError(`${options.out} exists: give another name, or --force to replace it`);
  const connection = await resolveConnection(options, io);
  const dataDirectory = options.dataDir ?? (io.environment['KEYSTORED_DATA'] || undefined);
  const file = beginFile(options.out, io, true);
  const client = new Client(connection);
  try {
    const parts = await partsOf(client, Number(options.logs), dataDirectory, io);
    await writeBundle(parts, withoutSecrets(connection.token, dataDirectory), { path: options.out, file }, io);
  } finally {
    file.abandon();
    client.close();
  }
}

async function partsOf(client: Client, logLines: number, dataDirectory: string | undefined, io: Io): Promise<readonly Part[]> {
  const local = {
    keystorectl: programVersion,
    node: process.version,
    system: `${platform()} ${release()} ${arch()}`,
    memoryBytes: totalmem(),
  };
  const versions = (more: object): Part => ({ name: 'versions.json', read: async () => json({ ...local, ...more }) });
  try {
    const description = await loadDescription(new Client({ ...client.connection, token: undefined }), io);
    const catalog = new Catalog(description);
    const read = (name: string, resource: string, ...names: readonly string[]): Part => ({
      name,
      read: () => readState(catalog, resource, names, client, logLines),
    });
    return [
      versions({ appliance: description.info.version, url: client.connection.url }),
      read('health.json', 'health'),
      read('metrics.txt', 'metrics'),
      read('hsm.json', 'hsm'),
      read('audit-trail.json', 'audit'),
      { name: 'configuration.yaml', read: () => exportAll(catalog, client, io) },
      read('logs.jsonl', 'topics', 'system:logs'),
      {
        name: 'check.txt',
        read: async () => 'not run: the check needs the appliance stopped (support-bundle --data-dir DIR does it then)\n',
      },
    ];
  } catch (error) {
    if (!(error instanceof CommandFailed) || error.exitCode !== exitCodes.unavailable || dataDirectory === undefined) throw error;
    return [
      versions({ url: client.connection.url, answer: error.message }),
      { name: 'logs.jsonl', read: async () => logsIn(join(dataDirectory, 'logs'), logLines) },
      { name: 'check.txt', read: async () => checkOf(dataDirectory) },
    ];
  }
}

async function readState({ entries }: Catalog, resource: string, names: readonly string[], client: Client, limit: number): Promise<string> {
  const entry = entries.find(
    ({ command, names: wanted }: CatalogEntry) =>
      command.verb === 'show' && command.tree === 'state' && command.resource === resource && wanted.length === names.length,
  );
  if (entry === undefined) throw new CommandFailed(exitCodes.notFound, `this appliance has no ${resource}`);
  const path = entry.names.reduce((whole, name, index) => whole.replace(`{${name}}`, encodeURIComponent(names[index] ?? '')), entry.path);
  const takesLimit = entry.operation.parameters.some(({ name }) => name === 'limit');
  const query = new URLSearchParams(takesLimit ? { limit: String(limit) } : {});
  const answer = await client.exchange({ method: entry.method, path, query }).catch((error: unknown) => {
    // The bundle is for an appliance that is down, whose health is answered as a refusal.
    if (error instanceof Refused && error.answer.mediaType === 'application/json') return error.answer;
    throw error;
  });
  const text = answer.body.toString();
  return answer.mediaType === 'application/json' ? json(JSON.parse(text)) : text;
}

/** The newest lines of each process. */
function logsIn(directory: string, lines: number): string {
  if (!existsSync(directory)) return '';
  const files = readdirSync(directory)
    .filter((name) => name.endsWith('.jsonl'))
    .sort();
  const all = files.flatMap((name) =>
    readFileSync(join(directory, name), 'utf8')
      .split('\n')
      .filter((line) => line !== ''),
  );
  return all
    .sort()
    .slice(-lines)
    .map((line) => `${line}\n`)
    .join('');
}

function checkOf(dataDirectory: string): string {
  const script = join(import.meta.dirname, '../../check.ts');
  if (!existsSync(script)) return 'not run: this keystorectl comes without the appliance\n';
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, '--data', dataDirectory], { encoding: 'utf8', timeout: 300_000 });
  return `${stdout}${stderr}exit code ${status}\n`;
}

/** A part that cannot be read is named in the manifest with the reason; the others are there. */
async function writeBundle(
  parts: readonly Part[],
  clean: (text: string) => string,
  { path, file }: { readonly path: string; readonly file: OutputFile },
  io: Io,
): Promise<void> {
  const files: { readonly name: string; readonly octets: Buffer }[] = [];
  const missing: { name: string; why: string }[] = [];
  for (const part of parts) {
    try {
      files.push({ name: part.name, octets: Buffer.from(clean(await part.read())) });
    } catch (error) {
      if (!(error instanceof CommandFailed)) throw error;
      missing.push({ name: part.name, why: clean(error.message) });
    }
  }
  const contents = files.map(({ name, octets }) => ({
    name,
    octets: octets.length,
    sha256: createHash('sha256').update(octets).digest('hex'),
  }));
  const made = new Date().toISOString();
  const all = [{ name: 'manifest.json', octets: Buffer.from(json({ made, files: contents, missing })) }, ...files];
  const chunks: Uint8Array[] = [];
  for (const { name, octets } of all) for await (const chunk of formatTarEntry(name, octets.length, [octets])) chunks.push(chunk);
  await file.write(gzipSync(Buffer.concat([...chunks, formatTarEnd()])));
  file.finish();
  if (path !== '-') io.stderr.write(`keystorectl: ${path} has ${all.map(({ name }) => name).join(', ')}\n`);
  for (const { name, why } of missing) io.stderr.write(`keystorectl: ${name} is left out: ${why.split('\n')[0]}\n`);
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
