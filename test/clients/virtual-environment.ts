// Python tools in a virtual environment of their own, at the versions of the table and of a lock file (`constraints.txt`).
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { measure, must, toolDirectory } from './commands.ts';
import { versions } from './versions.ts';

/**
 * Makes the environment when it is missing, or when versions have changed since; answers its `bin` directory.
 * `others` are packages whose versions only the lock file says.
 */
export async function virtualEnvironment(
  name: string,
  tools: readonly (keyof typeof versions)[],
  others: readonly string[],
  lockDirectory: string,
): Promise<string> {
  const lock = join(lockDirectory, 'constraints.txt');
  const packages = [...tools.map((tool) => `${tool}==${versions[tool]}`), ...others];
  const stamp = createHash('sha256').update(packages.join()).update(readFileSync(lock)).digest('hex');
  const directory = toolDirectory(name);
  const stampFile = join(directory, 'stamp');
  const bin = join(directory, 'bin');
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return bin;
  rmSync(directory, { recursive: true });
  await must('python3', ['-m', 'venv', directory]);
  const installed = await must(join(bin, 'python3'), ['-m', 'pip', 'install', '--quiet', '--constraint', lock, ...packages]);
  measure(`pip install ${packages.join(' ')}`, installed);
  writeFileSync(stampFile, stamp);
  return bin;
}
