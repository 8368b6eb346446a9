// A client that oapi-codegen makes of the description, against a running appliance.
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { measure, must, printMeasures, requireToolchain, run, toolDirectory } from '../commands.ts';
import { expectStory, setStage, startSubject, type Subject } from '../story.ts';
import { versions } from '../versions.ts';
import { obtainGo, onlyThisGo } from './toolchain.ts';

const at = temporaryDirectory();
const project = at('project');
printMeasures();
let subject: Subject;
let go: string;

beforeAll(async () => {
  await requireToolchain('go');
  go = await obtainGo(versions.go);
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
  const { code, output } = await run(go, ['build', '-o', '/dev/null', './refused'], { cwd: project, environment: onlyThisGo });
  expect(code).toBe(1);
  expect(output).toMatch(
    /^# keystored-clients\/refused\n\S+ unknown field plaintxt in struct literal of type api\.EncryptRequest[^\n]*\n$/,
  );
});

function inGo(args: readonly string[]) {
  return must(go, args, { cwd: project, environment: onlyThisGo });
}

async function obtainGenerator(): Promise<string> {
  const version = versions['oapi-codegen'];
  const directory = toolDirectory(`oapi-codegen-${version}`);
  const generator = join(directory, 'oapi-codegen');
  if (existsSync(generator)) return generator;
  const installed = await must(go, ['install', `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v${version}`], {
    cwd: at(),
    environment: { ...onlyThisGo, GOBIN: directory },
  });
  measure('go install oapi-codegen', installed);
  return generator;
}
