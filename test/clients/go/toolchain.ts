// Releases of Go beside the one of the machine, from the Go proxy.
import { chmodSync, cpSync, existsSync, globSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { must, toolDirectory } from '../commands.ts';

/** For commands of such a release: this one and no other, and not what the shell of the user says about it. */
export const onlyThisGo = { GOTOOLCHAIN: 'local', GOROOT: '', GOFLAGS: '-modcacherw' };

/**
 * The command `go` of a release such as 1.26.0. Go downloads it as a module, which Go before 1.21 unpacks but does not run:
 * modules hold no execute permissions, and the `go.mod` files of a toolchain are renamed in them.
 */
export async function obtainGo(release: string): Promise<string> {
  const directory = toolDirectory(`go-${release}`);
  const command = join(directory, 'bin/go');
  if (existsSync(command)) return command;
  const platform = `linux-${process.arch === 'arm64' ? 'arm64' : 'amd64'}`;
  const toolchain = `golang.org/toolchain@v0.0.1-go${release}.${platform}`;
  // Outside of a module: a `go.mod` above would choose another release.
  const { stdout } = await must('go', ['mod', 'download', '-json', toolchain], { cwd: tmpdir(), environment: { GOTOOLCHAIN: 'local' } });
  const unfinished = `${directory}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  cpSync((JSON.parse(stdout) as { Dir: string }).Dir, unfinished, { recursive: true });
  await must('chmod', ['-R', 'u+w', unfinished]);
  for (const file of globSync('**/_go.mod', { cwd: unfinished }))
    renameSync(join(unfinished, file), join(unfinished, dirname(file), 'go.mod'));
  for (const program of globSync(['bin/*', 'pkg/tool/*/*'], { cwd: unfinished })) chmodSync(join(unfinished, program), 0o755);
  rmSync(directory, { recursive: true });
  renameSync(unfinished, directory);
  return command;
}
