// Clients that openapi-generator makes of the description for Java, over okhttp and over java.net.http, against a running appliance.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { measure, must, printMeasures, requireToolchain, run } from '../commands.ts';
import { generate } from '../openapi-generator.ts';
import { expectStory, setStage, startSubject, type Subject } from '../story.ts';

const at = temporaryDirectory();
printMeasures();
let subject: Subject;

beforeAll(async () => {
  await requireToolchain('java');
  await requireToolchain('mvn');
  subject = await startSubject(at());
});

describe.each([
  ['okhttp', 'okhttp-gson'],
  ['native', 'native'],
])('%s', (name, library) => {
  const project = at(name);
  let classpath = '';

  beforeAll(async () => {
    const packages = [
      '--api-package',
      'com.keystored.api',
      '--model-package',
      'com.keystored.model',
      '--invoker-package',
      'com.keystored.client',
    ];
    // Parameters by name: the description gains optional ones, and each would move the others.
    const properties = 'enumUnknownDefaultCase=true,useSingleRequestParameter=true';
    const options = ['--additional-properties', properties, '--library', library, ...packages];
    const generated = await generate('java', subject.descriptionFile, project, options);
    measure(`openapi-generator java ${library}`, generated, join(project, 'src/main'), '.java');
    const maven = ['-q', '-B', '-ntp', 'compile', 'dependency:build-classpath', '-Dmdep.outputFile=classpath'];
    measure(`mvn compile, ${library}`, await must('mvn', maven, { cwd: project }));
    classpath = `${join(project, 'target/classes')}:${readFileSync(join(project, 'classpath'), 'utf8').trim()}`;
  });

  test('does what the story asks', async () => {
    const classes = join(project, 'program');
    mkdirSync(classes);
    await must('javac', ['-cp', classpath, '-d', classes, join(import.meta.dirname, name, 'Program.java')]);
    const stage = await setStage(subject, name);
    const { stdout } = await must('java', ['-cp', `${classes}:${classpath}`, 'Program'], { environment: stage.environment });
    await expectStory(stage, stdout);
  });

  test('a misspelt field does not compile', async () => {
    const { code, output } = await run('javac', ['-cp', classpath, '-d', at(), join(import.meta.dirname, name, 'refused/Refused.java')]);
    expect(code).toBe(1);
    expect(output).toMatch(/error: cannot find symbol[^]*symbol: +method plaintxt\(int\)[^]*\n1 error\n$/);
  });
});
