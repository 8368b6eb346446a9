// Clients that openapi-typescript with openapi-fetch and @hey-api/openapi-ts make of the description, against a running appliance.
import { copyFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { measure, must, printMeasures, requireToolchain, run } from '../commands.ts';
import { expectStory, setStage, startSubject, type Subject } from '../story.ts';
import { versions } from '../versions.ts';

const at = temporaryDirectory();
const project = at('project');
printMeasures();
let subject: Subject;

/** Compiles as Node.js loads modules; unknown index signatures stay unknown. */
const compilerOptions = {
  ...{ target: 'es2024', module: 'nodenext', lib: ['es2024', 'dom', 'dom.iterable'], types: ['node'] },
  ...{ strict: true, noUncheckedIndexedAccess: true, rootDir: '.', outDir: 'dist' },
};

beforeAll(async () => {
  await requireToolchain('npm');
  mkdirSync(project);
  writeJson('package.json', manifest());
  copyFileSync(`${import.meta.dirname}/package-lock.json`, at('project/package-lock.json'));
  for (const folder of ['programs', 'refused']) cpSync(`${import.meta.dirname}/${folder}`, at('project', folder), { recursive: true });
  writeJson('tsconfig.json', { compilerOptions, include: ['programs', 'generated'] });
  measure('npm ci', await must('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: project }));
  subject = await startSubject(at());
  const { descriptionFile } = subject;
  const types = await tool('openapi-typescript', [descriptionFile, '-o', 'generated/openapi-typescript/description.ts']);
  measure('openapi-typescript', types, at('project/generated/openapi-typescript'));
  const heyApi = await tool('openapi-ts', ['-i', descriptionFile, '-o', 'generated/hey-api', '-c', '@hey-api/client-fetch']);
  measure('@hey-api/openapi-ts', heyApi, at('project/generated/hey-api'));
  measure('tsc, both clients and their programs', await tool('tsc', ['-p', '.']));
});

test.each(['openapi-fetch', 'hey-api'])('%s: does what the story asks', async (name) => {
  const stage = await setStage(subject, name);
  const { stdout } = await must(process.execPath, [`dist/programs/${name}.js`], { cwd: project, environment: stage.environment });
  await expectStory(stage, stdout);
});

test.each(['openapi-fetch', 'hey-api'])('%s: a misspelt field does not compile', async (name) => {
  writeJson(`tsconfig.${name}.json`, { extends: './tsconfig.json', compilerOptions: { noEmit: true }, include: [`refused/${name}.ts`] });
  const { code, output } = await run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', `tsconfig.${name}.json`], {
    cwd: project,
  });
  expect(code).not.toBe(0);
  expect(output.match(/error TS/g), output).toHaveLength(1);
  expect(output).toContain(`'plaintxt' does not exist in type`);
});

function tool(name: string, args: readonly string[]) {
  return must(process.execPath, [`node_modules/.bin/${name}`, ...args], { cwd: project });
}

function writeJson(name: string, value: unknown): void {
  writeFileSync(at('project', name), JSON.stringify(value));
}

/** The lock file beside this test was made from it; npm refuses to install when they disagree. */
function manifest() {
  const { typescript, 'openapi-fetch': fetch, 'openapi-typescript': types, '@hey-api/openapi-ts': heyApi } = versions;
  return {
    name: 'clients',
    private: true,
    type: 'module',
    dependencies: { 'openapi-fetch': fetch },
    devDependencies: { 'openapi-typescript': types, '@hey-api/openapi-ts': heyApi, typescript, '@types/node': versions['@types/node'] },
  };
}
