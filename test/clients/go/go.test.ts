// A client that oapi-codegen makes of the description, against a running appliance.
import { chmodSync, cpSync, existsSync, globSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { measure, must, printMeasures, requireToolchain, run, toolDirectory } from '../commands.ts';
import { expectStory, setStage, startSubject, type Subject } from '../story.ts';
import { versions } from '../versions.ts';

const at = temporaryDirectory();
const project = at('project');
printMeasures();
let subject: Subject;
let go: string;

beforeAll(async () => {
  await requireToolchain('go');
  go = await obtainGo();
  subject = await startSubject(at());
  const generator = await obtainGenerator();
  for (const part of ['main.go', 'refused']) cpSync(join(import.meta.dirname, part), join(project, part), { recursive: true });
  mkdirSync(join(project, 'api'));
  const runtime = `github.com/oapi-codegen/runtime v${versions['oapi-codegen/runtime']}`;
  writeFileSync(join(project, 'go.mod'), `module keystored-clients\n\ngo ${versions.go}\n\nrequire ${runtime}\n`);
  const options = ['-generate', 'types,client', '-package', 'api', '-o', 'api/api.go'];
  const generated = await must(generator, [...options, subject.descriptionFile], { cwd: project });
  measure('oapi-codegen', generated, join(project, 'api'), '.go');
  await inGo(['mod', 'tidy']);
  measure('go build', await inGo(['build', '-o', 'story', '.']));
});

test('does what the story asks', async () => {
  const stage = await setStage(subject, 'oapi-codegen');
  const { stdout } = await must(join(project, 'story'), [], { environment: stage.environment });
  await expectStory(stage, stdout);
});

test('a misspelt field does not compile', async () => {
  const { code, output } = await run(go, ['build', '-o', '/dev/null', './refused'], { cwd: project, environment });
  expect(code).toBe(1);
  expect(output).toMatch(
    /^# keystored-clients\/refused\n\S+ unknown field plaintxt in struct literal of type api\.EncryptRequest[^\n]*\n$/,
  );
});

/** This release and no other, and not what the shell of the user says about it. */
const environment = { GOTOOLCHAIN: 'local', GOROOT: '', GOFLAGS: '-modcacherw' };

function inGo(args: readonly string[]) {
  return must(go, args, { cwd: project, environment });
}

/**
 * The release of the table. Go downloads it as a module, which Go before 1.21 unpacks but does not run:
 * modules hold no execute permissions, and the `go.mod` files of a toolchain are renamed in them.
 */
async function obtainGo(): Promise<string> {
  const directory = toolDirectory(`go-${versions.go}`);
  const command = join(directory, 'bin/go');
  if (existsSync(command)) return command;
  const platform = `linux-${process.arch === 'arm64' ? 'arm64' : 'amd64'}`;
  const toolchain = `golang.org/toolchain@v0.0.1-go${versions.go}.${platform}`;
  // Outside of a module: a `go.mod` above would choose another release.
  const { stdout } = await must('go', ['mod', 'download', '-json', toolchain], { cwd: at(), environment: { GOTOOLCHAIN: 'local' } });
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

async function obtainGenerator(): Promise<string> {
  const version = versions['oapi-codegen'];
  const directory = toolDirectory(`oapi-codegen-${version}`);
  const generator = join(directory, 'oapi-codegen');
  if (existsSync(generator)) return generator;
  const installed = await must(go, ['install', `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v${version}`], {
    cwd: at(),
    environment: { ...environment, GOBIN: directory },
  });
  measure('go install oapi-codegen', installed);
  return generator;
}
