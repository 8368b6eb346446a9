// Writes the generated parts of the client libraries (npm run clients); with --check it only says which of them are out of date.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describeAppliance } from '../composition/describe.ts';
import { emitGo } from './emitters/go.ts';
import { emitJava } from './emitters/java.ts';
import { emitPython } from './emitters/python.ts';
import { emitTypeScript } from './emitters/typescript.ts';
import { type Model, readModel } from './model.ts';

type Emitter = {
  /** below appliance/clients; holds generated files only, unless `owns` tells them from others */
  readonly folder: string;
  readonly owns?: (file: string) => boolean;
  readonly emit: (model: Model) => Readonly<Record<string, string>>;
};

/** What writes the generated files of each language. In Go a package is a folder. */
const emitters: readonly Emitter[] = [
  { folder: 'typescript/src/generated', emit: emitTypeScript },
  { folder: 'python/src/keystored_client/generated', emit: emitPython },
  { folder: 'go', owns: (file) => file.endsWith('_generated.go'), emit: emitGo },
  { folder: 'java/src/main/java/keystored/client/api', emit: emitJava },
];

/** Text of every generated file, by its path below appliance/clients. */
export async function generatedClients(): Promise<ReadonlyMap<string, string>> {
  const model = readModel(await describeAppliance());
  const files = emitters.flatMap(({ folder, emit }) =>
    Object.entries(emit(model)).map(([name, text]) => [join(folder, name), text] as const),
  );
  return new Map(files);
}

/** Paths of the files that are missing, different, or there without an emitter that writes them. */
export function outdatedClients(generated: ReadonlyMap<string, string>): readonly string[] {
  const different = [...generated].filter(([path, text]) => readIfThere(path) !== text).map(([path]) => path);
  return [...different, ...presentFiles().filter((path) => !generated.has(path))];
}

function presentFiles(): string[] {
  return emitters.flatMap(({ folder, owns = () => true }) => {
    const at = join(import.meta.dirname, folder);
    if (!existsSync(at)) return [];
    const entries = readdirSync(at, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile() && owns(entry.name));
    return entries.map((entry) => join(folder, join(entry.parentPath, entry.name).slice(at.length + 1)));
  });
}

function readIfThere(path: string): string | undefined {
  const at = join(import.meta.dirname, path);
  return existsSync(at) ? readFileSync(at, 'utf8') : undefined;
}

function write(generated: ReadonlyMap<string, string>): void {
  for (const path of presentFiles()) if (!generated.has(path)) rmSync(join(import.meta.dirname, path));
  for (const [path, text] of generated) {
    mkdirSync(dirname(join(import.meta.dirname, path)), { recursive: true });
    writeFileSync(join(import.meta.dirname, path), text);
  }
}

if (import.meta.main) {
  const generated = await generatedClients();
  const outdated = outdatedClients(generated);
  if (!process.argv.includes('--check')) write(generated);
  else if (outdated.length > 0) {
    console.error(`out of date, run npm run clients:\n${outdated.join('\n')}`);
    process.exitCode = 1;
  }
}
