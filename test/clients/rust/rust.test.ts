// A client that openapi-generator makes of the description for Rust, against a running appliance.
// progenitor, the other generator for Rust, reads OpenAPI 3.0 only: of 3.1 it says "invalid version".
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { measure, must, printMeasures, requireToolchain, run, toolDirectory } from '../commands.ts';
import { generate } from '../openapi-generator.ts';
import { expectStory, setStage, startSubject, type Subject } from '../story.ts';

const at = temporaryDirectory();
const project = at('project');
/** Kept: what the client depends on takes minutes to compile. */
const target = toolDirectory('cargo-target');
const where = { cwd: project, environment: { CARGO_TARGET_DIR: target } };
printMeasures();
let subject: Subject;

beforeAll(async () => {
  for (const toolchain of ['cargo', 'java', 'mvn'] as const) await requireToolchain(toolchain);
  subject = await startSubject(at());
  for (const part of ['Cargo.toml', 'Cargo.lock', 'src']) cpSync(join(import.meta.dirname, part), join(project, part), { recursive: true });
  const options = ['--library', 'reqwest', '--package-name', 'keystored-generated'];
  const generated = await generate('rust', subject.descriptionFile, join(project, 'generated'), options);
  measure('openapi-generator rust', generated, join(project, 'generated/src'), '.rs');
  measure('cargo build', await must('cargo', ['build', '--quiet', '--locked', '--bin', 'story'], where));
});

test('does what the story asks', async () => {
  const stage = await setStage(subject, 'rust');
  const { stdout } = await must(join(target, 'debug/story'), [], { environment: stage.environment });
  await expectStory(stage, stdout);
});

test('a misspelt field does not compile', async () => {
  const { code, output } = await run('cargo', ['check', '--quiet', '--locked', '--bin', 'refused'], where);
  expect(code).not.toBe(0);
  expect(output.match(/^error\[/gm), output).toHaveLength(1);
  expect(output).toContain('error[E0560]: struct `EncryptRequest` has no field named `plaintxt`');
});
