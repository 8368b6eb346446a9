// Clients that openapi-generator and openapi-python-client make of the description for Python, against a running appliance.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { measure, must, printMeasures, requireToolchain, run } from '../commands.ts';
import { generate } from '../openapi-generator.ts';
import { expectStory, setStage, startSubject, type Subject } from '../story.ts';
import { virtualEnvironment } from '../virtual-environment.ts';

const programs = ['openapi_generator', 'openapi_python_client'];

const at = temporaryDirectory();
printMeasures();
let subject: Subject;
let bin: string;

beforeAll(async () => {
  for (const toolchain of ['python3', 'java', 'mvn'] as const) await requireToolchain(toolchain);
  const requirements = ['openapi-python-client', 'mypy'] as const;
  // What the clients themselves need comes at the versions of the lock file.
  bin = await virtualEnvironment(
    'python-clients',
    requirements,
    ['urllib3', 'python-dateutil', 'types-python-dateutil'],
    import.meta.dirname,
  );
  subject = await startSubject(at());
  await generateBoth();
  writeFileSync(at('mypy.ini'), mypyConfiguration());
});

test.each(programs)('%s: has the types that its program uses', async (program) => {
  const checked = await run(join(bin, 'mypy'), [...mypy(), join(import.meta.dirname, `${program}.py`)]);
  measure(`mypy, ${program}`, checked);
  expect(checked.code, checked.output).toBe(0);
});

test.each(programs)('%s: does what the story asks', async (program) => {
  const stage = await setStage(subject, program.replaceAll('_', '-'));
  const path = { PYTHONPATH: clients().join(':'), PYTHONDONTWRITEBYTECODE: '1' };
  const { stdout } = await must(join(bin, 'python3'), [join(import.meta.dirname, `${program}.py`)], {
    environment: { ...stage.environment, ...path },
  });
  await expectStory(stage, stdout);
});

test.each(programs)('%s: a misspelt field has no type', async (program) => {
  const { code, output } = await run(join(bin, 'mypy'), [...mypy(), join(import.meta.dirname, 'refused', `${program}.py`)]);
  expect(code).toBe(1);
  expect(output).toContain('Unexpected keyword argument "plaintxt" for "EncryptRequest"');
  expect(output).toContain('Found 1 error in 1 file');
});

async function generateBoth(): Promise<void> {
  const { descriptionFile } = subject;
  const [generator, pythonClient] = clients() as [string, string];
  const options = ['--library', 'urllib3', '--package-name', 'keystored_generator'];
  measure(
    'openapi-generator python',
    await generate('python', descriptionFile, generator, options),
    join(generator, 'keystored_generator'),
    '.py',
  );
  writeFileSync(at('python-client.json'), JSON.stringify(pythonClientConfiguration));
  const args = ['generate', '--path', descriptionFile, '--output-path', pythonClient, '--config', at('python-client.json')];
  // Without it, an operation that the generator does not understand is left out, and the generator ends well.
  const generated = await must(join(bin, 'openapi-python-client'), [...args, '--fail-on-warning']);
  measure('openapi-python-client', generated, join(pythonClient, 'keystored_python_client'), '.py');
}

/** Where the packages of the two generators are. */
function clients(): readonly string[] {
  return [at('openapi-generator'), at('openapi-python-client')];
}

/** Binary and line formats, which the generator knows under other names. */
const pythonClientConfiguration = {
  package_name_override: 'keystored_python_client',
  post_hooks: [],
  content_type_overrides: {
    'application/pkix-crl': 'application/octet-stream',
    'application/ocsp-request': 'application/octet-stream',
    'application/ocsp-response': 'application/octet-stream',
    'application/x-pem-file': 'text/plain',
    'application/pgp-keys': 'text/plain',
    'application/x-ndjson': 'text/plain',
    'application/merge-patch+json': 'application/json',
  },
};

function mypy(): readonly string[] {
  return ['--config-file', at('mypy.ini'), '--cache-dir', at('mypy')];
}

/** The programs are judged, not the code of the generators; the models of openapi-generator are those of pydantic. */
function mypyConfiguration(): string {
  return `
[mypy]
strict = true
implicit_reexport = true
plugins = pydantic.mypy
mypy_path = ${clients().join(':')}
[pydantic-mypy]
init_forbid_extra = true
init_typed = true
[mypy-keystored_generator.*]
ignore_errors = true
[mypy-keystored_python_client.*]
ignore_errors = true
`;
}
