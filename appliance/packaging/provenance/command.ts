// npm run build provenance: states the sources of each artefact, and has that signed by an OpenPGP key of a running keystored.
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { defined } from '../../../core/base/defined.ts';
import { artefacts } from '../artefacts.ts';
import { sha256Of } from '../bill/write.ts';
import { commitEpochSeconds } from '../debian-archive.ts';
import { billedResources, committedTree, toolResources } from './materials.ts';
import { signStatement } from './sign.ts';
import { formatStatement } from './statement.ts';

const root = resolve(import.meta.dirname, '../../..');
const defaultStatement = join(root, 'dist/provenance.json');

const usage = `Usage: npm run build provenance -- state --builder URI --build NAME [--build NAME] [--source URI] [--output FILE] FILE…
       npm run build provenance -- sign --key NAME [STATEMENT]

state  writes a statement of the files, bills of materials among them, to dist/provenance.json or another file
sign   has it signed by the transit key NAME of the appliance that keystorectl finds by its environment or profile`;

/** A command line that is not understood. */
class Misused extends Error {}

const commands = new Map([
  ['state', state],
  ['sign', sign],
]);

try {
  const [word = '', ...words] = process.argv.slice(2);
  const command = commands.get(word);
  if (command === undefined) throw new Misused(word === '' ? 'state or sign?' : `there is no command ${word}`);
  for (const path of await command(readArguments(words))) console.log(path);
} catch (error) {
  if (!(error instanceof Error)) throw error;
  console.error(error instanceof Misused ? `${error.message}\n${usage}` : error.message);
  process.exitCode = error instanceof Misused ? 2 : 1;
}

type Arguments = {
  readonly files: readonly string[];
  readonly builder?: string | undefined;
  readonly source?: string | undefined;
  readonly build?: readonly string[] | undefined;
  readonly output?: string | undefined;
  readonly key?: string | undefined;
};

function readArguments(args: string[]): Arguments {
  const one = { type: 'string' } as const;
  try {
    const options = { builder: one, source: one, output: one, key: one, build: { type: 'string', multiple: true } } as const;
    const { values, positionals: files } = parseArgs({ args, allowPositionals: true, options });
    return { files, ...values };
  } catch (error) {
    throw new Misused((error as Error).message, { cause: error });
  }
}

async function state({ files, builder, source, build, output = defaultStatement }: Arguments): Promise<readonly string[]> {
  if (builder === undefined || build === undefined || files.length === 0)
    throw new Misused('a statement names its builder, the words that `npm run build` was given, and files');
  const unknown = build.find((name) => !artefacts.has(name));
  if (unknown !== undefined) throw new Misused(`npm run build makes no ${unknown}, but ${[...artefacts.keys()].join(', ')}`);
  const statement = formatStatement({
    ...{ builder, ...defined({ source }), builds: build, commit: committedTree() },
    subjects: files.map((file) => ({ name: basename(file), digest: { sha256: sha256Of(file) } })),
    environment: { SOURCE_DATE_EPOCH: String(commitEpochSeconds()) },
    dependencies: [...toolResources(), ...billedResources(files)],
  });
  mkdirSync(dirname(output), { recursive: true });
  writeFileSync(output, statement);
  return [output];
}

async function sign({ files, key }: Arguments): Promise<readonly string[]> {
  const [file = defaultStatement, ...others] = files;
  if (key === undefined || others.length > 0) throw new Misused('one statement is signed by one key');
  const { signature, envelope } = await signStatement(file, key, keystorectl);
  return [signature, envelope];
}

/** Provenance of this tree, with the environment of this process. Throws with the messages of the program. */
async function keystorectl(...words: readonly string[]): Promise<string> {
  const program = join(root, 'appliance/cli/keystorectl.ts');
  try {
    return (await promisify(execFile)(process.execPath, [program, ...words], { maxBuffer: 1 << 26 })).stdout;
  } catch (error) {
    const { stderr = '', message } = error as Error & { readonly stderr?: string };
    throw new Error(stderr.trim() || message, { cause: error });
  }
}
