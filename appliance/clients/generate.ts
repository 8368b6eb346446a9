// The sources of the client libraries: the hand-written parts beside this file, and the parts generated from the description of the API.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { describeAppliance } from '../composition/describe.ts';
import { emitGo } from './emitters/go.ts';
import { emitJava } from './emitters/java.ts';
import { emitPython } from './emitters/python.ts';
import { emitTypeScript } from './emitters/typescript.ts';
import { type Model, readModel } from './model.ts';
import type { languages } from './languages.ts';

const root = resolve(import.meta.dirname, '../..');

type Client = {
  /** folder of the generated files below that of the language; in Go a package is a folder */
  readonly generated: string;
  readonly emit: (model: Model) => Readonly<Record<string, string>>;
};

/** By the folder of the language, here and where the sources are written. */
const clients: Readonly<Record<(typeof languages)[number], Client>> = {
  typescript: { generated: 'src/generated', emit: emitTypeScript },
  python: { generated: 'src/keystored_client/generated', emit: emitPython },
  go: { generated: '', emit: emitGo },
  java: { generated: 'src/main/java/keystored/client/api', emit: emitJava },
};

/** Text of every file of every client, by its path below the folder of the clients. Asks no token and needs no appliance. */
export async function clientSources(): Promise<ReadonlyMap<string, string>> {
  const model = readModel(await describeAppliance());
  const licence = readFileSync(join(root, 'LICENSE'), 'utf8');
  return new Map(
    Object.entries(clients).flatMap(([language, { generated, emit }]) => [
      ...writtenByHand(language),
      ...Object.entries(emit(model)).map(([name, text]) => [join(language, generated, name), text] as const),
      [join(language, 'LICENSE'), licence] as const,
    ]),
  );
}

function writtenByHand(language: string): (readonly [path: string, text: string])[] {
  return readdirSync(join(import.meta.dirname, language), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [relative(import.meta.dirname, path), readFileSync(path, 'utf8')] as const);
}
